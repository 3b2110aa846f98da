package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var (
	_ = inventory.Planted("fault/crash", "two writes that belong together, with a crash in between")
	_ = inventory.Planted("fault/pause", "a holder that trusts its lease after a pause")
	_ = inventory.Planted("fault/clock-jump", "a duration measured with a clock that somebody sets")
	_ = inventory.Planted("fault/drawn", "a fault that only one of several kinds shows")
	_ = inventory.Planted("fault/early-timeout", "a caller that takes the end of its patience for a failure")
	_ = inventory.Planted("fault/late-store", "two sides that read before what they wrote is seen")
)

func TestSimEveryNodeFaultIsFoundAndReplays(t *testing.T) {
	sim.Planted(t, "fault/crash", "assertion both-or-none", func(w *sim.World) {
		s, n := w.Scheduler(), w.Node("n")
		left, right := sched.NewInt64(s, "left", 0), sched.NewInt64(s, "right", 0)
		n.Go("writer", func() {
			left.Store(1)
			right.Store(1)
		})
		w.Go("operator", func() {
			n.Crash()
			w.Node("n").Go("reader", func() {
				w.Require(left.Load() == right.Load(), "both-or-none", "left %d, right %d", left.Load(), right.Load())
			})
		})
	})
	sim.Planted(t, "fault/pause", "assertion one-holder", func(w *sim.World) {
		s, n := w.Scheduler(), w.Node("n")
		holder := sched.NewInt64(s, "holder", 1) // until a second from now
		ends := s.Now().Add(time.Second)
		n.Go("holder", func() {
			if s.Now().Before(ends) {
				s.Yield()
				w.Require(holder.Load() == 1, "one-holder", "it writes as %d holds", holder.Load())
			}
		})
		w.Go("operator", func() {
			n.Pause()
			w.NoError(s.Sleep(nil, "lease", 2*time.Second))
			holder.Store(2)
			n.Resume()
		})
	})
	sim.Planted(t, "fault/clock-jump", "assertion positive", func(w *sim.World) {
		s, n := w.Scheduler(), w.Node("n")
		n.Go("measures", func() {
			start := s.Now()
			s.Yield()
			took := s.Now().Sub(start)
			w.Require(took >= 0, "positive", "it took %s", took)
		})
		w.Go("operator", func() { n.JumpClock(-time.Hour) })
	})
	sim.Planted(t, "fault/drawn", "assertion second", func(w *sim.World) {
		for range 3 {
			w.Require(w.Fault("here", "first", "second", "third") != 2, "second", "the second kind")
		}
	})
}

// Clocks that run fast and stores that are seen late are no faults that a world counts, and choices all the same.
func TestSimEarlyTimeoutsAndLateStoresAreFound(t *testing.T) {
	sim.Planted(t, "fault/early-timeout", "assertion in-time", func(w *sim.World) {
		s := w.Scheduler()
		done := sched.NewBool(s, "done", false)
		w.Go("works", func() {
			w.NoError(s.Sleep(nil, "work", time.Second))
			done.Store(true)
		})
		w.Go("waits", func() {
			w.NoError(s.Sleep(nil, "patience", time.Hour))
			w.Require(done.Load(), "in-time", "nothing was done within an hour")
		})
	}, sim.EarlyTimeouts())
	sim.Planted(t, "fault/late-store", "race inside", dekker, sim.TSO())
}

// While a node is paused none of its tasks goes on; its timers fire, others do, and everything goes on after it.
func TestAPausedNodeStandsStill(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, n := w.Scheduler(), w.Node("n")
		m := sched.NewMutex(s, "m")
		c, meet := sched.NewChan[int](s, "c", 1), sched.NewChan[int](s, "meet", 0)
		paused := false
		step := func(what string) { w.Require(!paused, "still", "%s while paused", what) }
		n.Go("locks", func() {
			m.Lock()
			step("locked")
			m.Unlock()
		})
		n.Go("waits for two", func() {
			sched.Select2(c.OnReceive(), meet.OnReceive())
			step("received")
		})
		n.Go("sleeps", func() {
			w.NoError(s.Sleep(nil, "nap", time.Second))
			step("woke")
		})
		w.Go("operator", func() {
			n.Pause()
			paused = true
			if m.TryLock() { // a paused task may hold it
				m.Unlock()
			}
			c.Send(1)
			w.NoError(s.Sleep(nil, "long", time.Minute))
			paused = false
			n.Resume()
		})
		w.Finally(func() { report("all ended, %d left", c.Len()) })
	})
	wantOutcomes(t, got, "all ended, 0 left")
}

func TestAPausedNodeCanCrash(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		n := w.Node("n")
		m := sched.NewMutex(w.Scheduler(), "m")
		m.Lock()
		n.Go("locks", func() {
			m.Lock()
			report("it went on")
		})
		n.Pause()
		n.Crash()
		n.Resume()
		m.Unlock()
		w.Finally(func() { report("free %t", m.TryLock()) })
	})
	wantOutcomes(t, got, "free true")
}

// A clock jump moves what the node reads, and nobody else's clock, and no timer.
func TestAClockJumpMovesOneClock(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, n := w.Scheduler(), w.Node("n")
		start := s.Now()
		n.JumpClock(time.Hour)
		n.JumpClock(time.Minute)
		n.Go("reads", func() {
			before := s.Now()
			w.NoError(s.Sleep(nil, "nap", time.Second))
			report("node %s, slept %s", before.Sub(start), s.Now().Sub(before))
		})
		report("outside %s", s.Now().Sub(start))
	})
	wantOutcomes(t, got, "node 1h1m0s, slept 1s", "outside 0s")
}

// An execution takes no more faults than it may, and none after they stopped; a search visits every combination.
func TestFaultsAreBounded(t *testing.T) {
	for _, c := range []struct {
		faults, stopAfter int
		want              []string
	}{
		{0, 9, []string{"[0 0 0]"}},
		{1, 9, []string{"[0 0 0]", "[1 0 0]", "[0 1 0]", "[0 0 1]"}},
		{2, 9, []string{"[0 0 0]", "[1 0 0]", "[0 1 0]", "[0 0 1]", "[1 1 0]", "[1 0 1]", "[0 1 1]"}},
		{3, 1, []string{"[0 0 0]", "[1 0 0]"}},
	} {
		got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
			var drawn []int
			for i := range 3 {
				if i == c.stopAfter {
					w.StopFaults()
				}
				drawn = append(drawn, w.Fault("here", "only"))
			}
			report("%v", drawn)
		}, sim.Faults(c.faults))
		wantOutcomes(t, got, slices.Clone(c.want)...)
	}
}

func TestANodeDoesNothingToItself(t *testing.T) {
	for _, what := range []func(*sim.Node){(*sim.Node).Pause, (*sim.Node).Resume, func(n *sim.Node) { n.JumpClock(1) }} {
		r, err := sim.Explore("x", "random", func(w *sim.World) {
			n := w.Node("n")
			n.Go("task", func() { what(n) })
		})
		if err != nil || r.Failure == nil || r.Failure.Kind != "panic" {
			t.Errorf("%+v, %v", r.Failure, err)
		}
	}
}
