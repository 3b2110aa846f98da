package sim_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// A crashed task is not waited for: not by Join, and not by the end of the check, at which the world's scope ends.
func TestNobodyWaitsForACrashedTask(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		n := w.Node("n")
		s.Go(w.Scope(), "owner", func() {
			sched.Select2(w.Scope().Done(), sched.Case[int]{})
			report("ended")
		})
		n.Go("stuck", func() { sched.NewChan[int](s, "never", 0).Receive() })
		w.Go("operator", n.Crash)
		w.Join()
		report("joined")
	})
	wantOutcomes(t, got, "joined", "ended")
}

// A crashed task meets nobody any more, whether it waited to receive or to send, and whoever counted on it waits again.
func TestNobodyMeetsACrashedTask(t *testing.T) {
	for _, sends := range []bool{false, true} {
		got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
			s := w.Scheduler()
			n := w.Node("n")
			c := sched.NewChan[int](s, "c", 0)
			crashed, done := false, s.NewScope("done")
			meet := func(send bool) int {
				arm := c.OnReceive()
				if send {
					arm = c.OnSend(1)
				}
				return sched.Select2(arm, done.Done()).Index
			}
			n.Go("partner", func() { meet(sends) })
			w.Go("other", func() {
				if meet(!sends) == 0 {
					report("met, crashed before %t", crashed)
					return
				}
				report("alone")
			})
			w.Go("operator", func() {
				n.Crash()
				crashed = true
				s.Yield()
				done.Close()
			})
		})
		// That they met may be seen after the crash; that they met after it may not.
		if !got["alone"] || !got["met, crashed before false"] {
			t.Errorf("sends %t: saw %v", sends, got)
		}
	}
}

// After a crash a value in a channel and a free semaphore are for those who live.
func TestCrashedTasksTakeNothing(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		n := w.Node("n")
		c := sched.NewChan[int](s, "c", 1)
		n.Go("waits", func() { c.Receive() })
		w.Go("operator", func() {
			n.Crash()
			c.Send(1)
			s.Yield()
			_, _, ready := c.TryReceive()
			report("left %t", ready)
		})
	})
	wantOutcomes(t, got, "left true")
}

// A crashed node's tickers tick no more, wherever they stood among those of others: what waits for nothing else is a deadlock, and not
// an execution without an end.
func TestCrashedTickersEnd(t *testing.T) {
	r, err := sim.Explore("x", "random", func(w *sim.World) {
		s := w.Scheduler()
		nodes := []*sim.Node{w.Node("a"), w.Node("b")}
		for i := range 10 {
			n := nodes[i%2]
			period := time.Duration(1+w.Choose("period", 50)) * time.Second
			n.Go("ticks", func() {
				sched.NewTicker(s, "tick", period)
				sched.NewChan[int](s, "never", 0).Receive()
			})
		}
		w.Go("operator", func() {
			w.NoError(s.Sleep(nil, "while", time.Minute))
			for _, n := range nodes {
				n.Crash()
			}
			nobody := sched.NewNotify(s, "nobody")
			w.NoError(nobody.Wait(nil))
		})
	}, sim.Runs(200))
	if err != nil || r.Failure == nil || r.Failure.Verdict() != "deadlock nobody" {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}
