package sim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// Which sender meets which receiver is explored; nothing is lost or doubled.
func TestRendezvousMeetsEveryPair(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		c := sched.NewChan[int](w.Scheduler(), "c", 0)
		for i := range 2 {
			w.Go("sender", func() { c.Send(i + 1) })
		}
		var values [2]int
		for i := range 2 {
			w.Go("receiver", func() { values[i], _ = c.Receive() })
		}
		w.Join()
		report("%v", values)
	})
	wantOutcomes(t, got, "[1 2]", "[2 1]")
}

// Who waits to send when the channel closes panics, with a buffer and without.
func TestCloseReachesTheSenderThatWaits(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
			c := sched.NewChan[int](w.Scheduler(), "c", capacity)
			for range capacity {
				c.Send(0)
			}
			w.Go("send", func() {
				defer func() { report("%v", recover()) }()
				c.Send(1)
			})
			w.Go("close", c.Close)
		})
		wantOutcomes(t, got, "send on closed channel")
	}
}

// Of several ready arms each is taken in some execution.
func TestSelectExploresEveryReadyArm(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		a, b, full := sched.NewChan[int](s, "a", 1), sched.NewChan[string](s, "b", 1), sched.NewChan[int](s, "full", 1)
		a.Send(1)
		full.Send(9)
		b.Close()
		r := sched.Select4(a.OnReceive(), b.OnReceive(), full.OnSend(2), w.Scope().Done())
		report("%d %d %q %t", r.Index, r.A, r.B, r.OK)
	})
	wantOutcomes(t, got, `0 1 "" true`, `1 0 "" false`)
}

// A select that offers on two rendezvous channels is met on one of them only.
func TestSelectIsMetOnce(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		a, b := sched.NewChan[int](s, "a", 0), sched.NewChan[int](s, "b", 0)
		w.Go("offer", func() { report("sent on %d", sched.Select3(a.OnSend(1), b.OnSend(2), w.Scope().Done()).Index) })
		try := func(name string, c *sched.Chan[int]) {
			w.Go(name, func() {
				r := sched.Select2(c.OnReceive(), w.Scope().Done())
				report("%s got %d %t", name, r.A, r.OK)
			})
		}
		w.Go("end", func() { w.Scope().Cancel(nil) })
		try("a", a)
		try("b", b)
	}, sim.Executions(200_000))
	for _, o := range []string{"sent on 0", "sent on 1", "a got 1 true", "b got 2 true", "a got 0 false", "b got 0 false"} {
		if !got[o] {
			t.Errorf("never saw %q", o)
		}
	}
	if got["a got 2 true"] || got["b got 1 true"] {
		t.Errorf("a value went to the wrong channel: %v", got)
	}
}
