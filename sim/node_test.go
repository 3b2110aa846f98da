package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// A crash stops tasks wherever they are; what lives outside of the node stays, and the next incarnation begins afresh.
func TestCrashStopsTasksAnywhere(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		disk := sched.NewUint64(w.Scheduler(), "disk", 0)
		n := w.Node("n")
		n.Go("writer", func() {
			defer disk.Store(99) // a crash runs no deferred function
			disk.Store(1)
			disk.Store(2)
			w.Scheduler().NewScope("ever").Join()
			sched.NewChan[int](w.Scheduler(), "never", 0).Receive()
		})
		w.Go("operator", func() {
			n.Crash()
			n.Crash() // does nothing more
			second := w.Node("n")
			w.Require(second.Attempt == 2 && second.Name() == "n", "attempt", "attempt %d of %s", second.Attempt, second.Name())
			second.Go("reader", func() { report("disk %d", disk.Load()) })
		})
	})
	wantOutcomes(t, got, "disk 0", "disk 1", "disk 2")
}

// Timers of a crashed node vanish; its locks stay taken for ever.
func TestCrashTakesTimersAndLeavesLocks(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, start := w.Scheduler(), w.Scheduler().Now()
		n := w.Node("n")
		m := sched.NewMutex(s, "m")
		held := sched.NewNotify(s, "held")
		n.Go("holder", func() {
			m.Lock()
			held.One()
			w.NoError(s.Sleep(nil, "long", time.Hour))
			m.Unlock()
		})
		w.Go("operator", func() {
			w.NoError(held.Wait(nil))
			n.Crash()
			w.NoError(s.Sleep(nil, "short", 2*time.Hour))
			report("free %t after %s", m.TryLock(), s.Now().Sub(start))
		})
	})
	wantOutcomes(t, got, "free false after 2h0m0s")
}

func TestWaitingForACrashedTaskIsADeadlock(t *testing.T) {
	r, err := sim.Explore("x", "dfs", func(w *sim.World) {
		s := w.Scheduler()
		n := w.Node("n")
		m := sched.NewMutex(s, "m")
		n.Go("holder", m.Lock)
		w.Go("other", func() {
			n.Crash()
			m.Lock()
			m.Unlock()
		})
	})
	if err != nil || r.Failure == nil || r.Failure.Verdict() != "deadlock m" || !strings.Contains(r.Failure.Message, `held by task 1 "n/holder"`) {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}

func TestANodeCannotCrashItself(t *testing.T) {
	r, err := sim.Explore("x", "random", func(w *sim.World) {
		n := w.Node("n")
		n.Go("suicide", n.Crash)
	})
	if err != nil || r.Failure == nil || r.Failure.Kind != "panic" || !strings.Contains(r.Failure.Message, "cannot crash itself") {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}

// The invariants of a node's owners end with it.
func TestInvariantsEndWithTheirNode(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		n := w.Node("n")
		var c *counterOwner
		made := sched.NewNotify(w.Scheduler(), "made")
		n.Go("make", func() {
			c = newCounterOwner(n.Scheduler(), 0, true)
			made.One()
		})
		w.Go("operator", func() {
			w.NoError(made.Wait(nil))
			n.Crash()
			c.n.Add(5) // nobody's invariant any more
			report("%d", c.n.Load())
		})
	})
	wantOutcomes(t, got, "5")
}
