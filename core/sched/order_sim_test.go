package sched_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// handsOver writes a Cell, passes it on through a primitive and edits it there: an edge that the primitive does not draw is a
// race.
func handsOver(w *sim.World, give, take func()) {
	what := sched.NewCell(w.Scheduler(), "what", 0)
	w.Go("giver", func() {
		*what.Edit() = 1
		give()
	})
	w.Go("taker", func() {
		take()
		*what.Edit() = 2
	})
}

// Every primitive that hands something over orders what came before after what follows.
func TestExhaustI3PrimitivesOrderMemory(t *testing.T) {
	sim.Exhaust(t, "I3/channels-order-memory", func(w *sim.World) {
		s := w.Scheduler()
		c, d, e := sched.NewChan[int](s, "c", 1), sched.NewChan[int](s, "d", 0), sched.NewChan[int](s, "e", 0)
		handsOver(w, func() { c.Send(1) }, func() { c.Receive() })
		handsOver(w, func() { d.Receive() }, func() { d.Send(1) })
		handsOver(w, e.Close, func() { e.Receive() })
	})
	sim.Exhaust(t, "I3/room-orders-memory", func(w *sim.World) {
		c := sched.NewChan[int](w.Scheduler(), "c", 1)
		c.Send(0)
		handsOver(w, func() { c.Receive() }, func() { c.Send(1) }) // the first receive is before the second send
	})
	sim.Exhaust(t, "I3/locks-order-memory", func(w *sim.World) {
		s := w.Scheduler()
		m, rw := sched.NewMutex(s, "m"), sched.NewRWMutex(s, "rw")
		a, b := sched.NewCell(s, "a", 0), sched.NewCell(s, "b", 0)
		for range 2 {
			w.Go("task", func() {
				m.Lock()
				*a.Edit()++
				m.Unlock()
				rw.RLock()
				seen := *b.View()
				rw.RUnlock()
				rw.Lock()
				*b.Edit() = seen + 1
				rw.Unlock()
			})
		}
	}, sim.Executions(1_000_000))
	sim.Exhaust(t, "I3/groups-and-scopes-order-memory", func(w *sim.World) {
		s := w.Scheduler()
		g, scope := sched.NewWaitGroup(s, "g"), s.NewScope("scope")
		g.Add(1)
		handsOver(w, g.Done, g.Wait)
		handsOver(w, func() { scope.Cancel(nil) }, func() { sched.Select2(scope.Done(), sched.Case[int]{}) })
	})
	sim.Exhaust(t, "I3/an-ended-wait-orders-memory", func(w *sim.World) {
		s := w.Scheduler()
		note, scope := sched.NewNotify(s, "note"), s.NewScope("scope")
		handsOver(w, func() { scope.Cancel(nil) }, func() {
			w.Require(note.Wait(scope) != nil, "I3.ended", "woken by nobody")
		})
	})
	sim.Exhaust(t, "I3/atomics-order-memory", func(w *sim.World) {
		flag := sched.NewInt32(w.Scheduler(), "flag", 0)
		handsOver(w, func() { flag.Store(1) }, func() {
			if !flag.CompareAndSwap(1, 2) {
				w.Scheduler().NewScope("rest").Join()
				for !flag.CompareAndSwap(1, 2) {
					w.NoError(w.Scheduler().Sleep(nil, "again", time.Second))
				}
			}
		})
	})
}

// A stopped or reset timer leaves no value of the time before; a ticker goes on.
func TestExhaustI3Timers(t *testing.T) {
	sim.Exhaust(t, "I3/stopped-timer-leaves-nothing", func(w *sim.World) {
		s := w.Scheduler()
		timer := sched.NewTimer(s, "t", time.Second)
		w.Go("stopper", func() {
			timer.Stop()
			got := sched.Select2(timer.Fired(), ended(w).Done())
			w.Require(got.Index == 1, "I3.timer", "a value from before the stop")
			timer.Reset(time.Second)
			sched.Select2(timer.Fired(), sched.Case[int]{})
		})
		w.Go("other", func() { w.Fire("t") })
	}, sim.EarlyTimeouts())
	sim.Exhaust(t, "I3/ticker-goes-on", func(w *sim.World) {
		ticker := sched.NewTicker(w.Scheduler(), "t", time.Second)
		for range 3 {
			sched.Select2(ticker.Fired(), w.Scope().Done())
		}
		ticker.Stop()
	})
}

// Many waiters, permits, drops and ends at once: every permit wakes somebody or is left over, exactly one at most.
func TestSimI3NotifyAccountsForPermits(t *testing.T) {
	sim.Check(t, "I3/notify-accounts-for-permits", func(w *sim.World) {
		s := w.Scheduler()
		note, scope := sched.NewNotify(s, "note"), s.NewScope("scope")
		woken := sched.NewInt64(s, "woken", 0)
		for i := range 4 {
			w.Go("waiter", func() {
				r := note.Register()
				if w.Choose("drop", 3) == 0 && i > 0 {
					r.Drop()
					return
				}
				if r.Wait(scope) == nil {
					woken.Add(1)
				}
			})
		}
		for range 2 {
			w.Go("signaller", note.One)
		}
		w.Go("end", func() { scope.Cancel(nil) })
		w.Finally(func() {
			left := int64(0)
			for note.Wait(ended(w)) == nil {
				left++
			}
			// Two signals may fall together into one stored permit, never into none.
			got := woken.Load() + left
			w.Require(left <= 1 && got >= 1 && got <= 2, "I3.account", "two signals: %d woken, %d left", woken.Load(), left)
		})
	}, sim.Runs(500))
}

// Weighted requests of many tasks: never more units out than there are, all back at the end.
func TestSimI3SemaphoreAccountsForUnits(t *testing.T) {
	sim.Check(t, "I3/semaphore-accounts-for-units", func(w *sim.World) {
		s := w.Scheduler()
		x, scope := sched.NewSemaphore(s, "units", 3), s.NewScope("scope")
		out := sched.NewInt64(s, "out", 0)
		w.Invariant("I3.out", func() error {
			if n := out.Peek(); n > 3 {
				return sched.Broken("I3.out", "%d of 3 units are out", n)
			}
			return nil
		})
		for i := range 4 {
			n := int64(1 + i%3)
			w.Go("task", func() {
				if x.Acquire(scope, n) != nil {
					return
				}
				out.Add(n)
				out.Add(-n)
				x.Release(n)
			})
		}
		w.Go("end", func() { scope.Cancel(nil) })
		w.Finally(func() { w.Require(x.Free() == 3, "I3.units", "%d of 3 free", x.Free()) })
	}, sim.Runs(500))
}

// Orders that lose a wake-up must be found: a check that cannot fail proves nothing about the right order.
func TestSimI3BrokenOrders(t *testing.T) {
	sim.Planted(t, "planted/i3-read-then-register", "deadlock changed", func(w *sim.World) {
		s := w.Scheduler()
		ready, changed := sched.NewBool(s, "ready", false), sched.NewNotify(s, "changed")
		w.Go("waiter", func() {
			if !ready.Load() {
				w.NoError(changed.Register().Wait(nil))
			}
		})
		w.Go("setter", func() {
			ready.Store(true)
			changed.All()
		})
	})
	sim.Planted(t, "planted/i3-read-then-subscribe", "deadlock x", func(w *sim.World) {
		x := sched.NewWatch(w.Scheduler(), "x", 0)
		w.Go("watcher", func() {
			if x.Get() == 0 {
				w.NoError(x.Subscribe().Changed(nil))
			}
		})
		w.Go("setter", func() { x.Set(1) })
	})
	sim.Planted(t, "planted/i3-read-then-lock", "deadlock c", func(w *sim.World) {
		s := w.Scheduler()
		m := sched.NewMutex(s, "m")
		c, ready := sched.NewCond(s, "c", &m), sched.NewBool(s, "ready", false)
		w.Go("waiter", func() {
			if !ready.Load() {
				m.Lock()
				c.Wait()
				m.Unlock()
			}
		})
		w.Go("setter", func() {
			ready.Store(true)
			c.Broadcast()
		})
	})
	sim.Planted(t, "planted/i3-one-for-two", "deadlock changed", func(w *sim.World) {
		s := w.Scheduler()
		changed := sched.NewNotify(s, "changed")
		for range 2 {
			w.Go("waiter", func() { w.NoError(changed.Wait(nil)) })
		}
		w.Go("setter", changed.One)
	})
}
