package sched_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// ended returns a scope in which no wait waits.
func ended(w *sim.World) *sched.Scope {
	c := w.Scheduler().NewScope("ended")
	c.Cancel(nil)
	return c
}

// register → read → wait loses no wake-up, and whoever was woken is ordered after the change.
func TestExhaustI3RegisterReadWait(t *testing.T) {
	sim.Exhaust(t, "I3/register-read-wait", func(w *sim.World) {
		s := w.Scheduler()
		ready, changed := sched.NewBool(s, "ready", false), sched.NewNotify(s, "changed")
		what := sched.NewCell(s, "what", 0)
		for range 2 {
			w.Go("waiter", func() {
				n := changed.Register()
				if !ready.Load() {
					w.NoError(n.Wait(nil))
				} else {
					n.Drop()
				}
				w.Require(*what.View() == 1, "I3.wake", "woken before the change")
			})
		}
		w.Go("setter", func() {
			*what.Edit() = 1
			ready.Store(true)
			changed.All()
		})
	})
}

// One stores one permit, also two of them; All stores none.
func TestExhaustI3OneStoresOnePermit(t *testing.T) {
	sim.Exhaust(t, "I3/one-stores-one-permit", func(w *sim.World) {
		note := sched.NewNotify(w.Scheduler(), "note")
		w.Go("waiter", func() { w.NoError(note.Wait(nil)) })
		for range 2 {
			w.Go("signaller", note.One)
		}
		w.Finally(func() {
			_ = note.Wait(ended(w)) // there may be one permit left
			w.Require(note.Wait(ended(w)) != nil, "I3.permit", "a second permit was stored")
		})
	})
	sim.Exhaust(t, "I3/all-stores-nothing", func(w *sim.World) {
		note := sched.NewNotify(w.Scheduler(), "note")
		w.Go("first", note.All)
		w.Go("second", note.All)
		w.Finally(func() { w.Require(note.Wait(ended(w)) != nil, "I3.permit", "All stored a permit") })
	})
}

// A waiter that was chosen and does not wait, or stops waiting, passes its permit on.
func TestExhaustI3PermitsArePassedOn(t *testing.T) {
	sim.Exhaust(t, "I3/dropped-waiter-passes-on", func(w *sim.World) {
		s := w.Scheduler()
		note, what := sched.NewNotify(s, "note"), sched.NewCell(s, "what", 0)
		w.Go("dropper", func() { note.Register().Drop() })
		w.Go("waiter", func() {
			w.NoError(note.Wait(nil))
			w.Require(*what.View() == 1, "I3.wake", "woken before the signal")
		})
		w.Go("signaller", func() {
			*what.Edit() = 1
			note.One()
		})
	})
	sim.Exhaust(t, "I3/ended-waiter-passes-on", func(w *sim.World) {
		s := w.Scheduler()
		note, scope := sched.NewNotify(s, "note"), s.NewScope("scope")
		w.Go("ending", func() {
			if note.Wait(scope) == nil {
				note.One() // it was woken, and is not the one who needed it
			}
		})
		w.Go("waiter", func() { w.NoError(note.Wait(nil)) })
		w.Go("signaller", func() {
			note.One()
			scope.Cancel(nil)
		})
	})
}

// A watcher never misses the last version, whatever it skips, and has seen the version at which it subscribed.
func TestExhaustI3Watch(t *testing.T) {
	sim.Exhaust(t, "I3/watch-shows-the-last-version", func(w *sim.World) {
		s := w.Scheduler()
		x, what := sched.NewWatch(s, "x", 0), sched.NewCell(s, "what", 0)
		for range 2 {
			r := x.Subscribe()
			w.Go("watcher", func() {
				for r.Get() != 2 {
					w.NoError(r.Changed(nil))
				}
				w.Require(*what.View() == 2, "I3.watch", "a version before its value")
			})
		}
		w.Go("setter", func() {
			x.Set(1)
			*what.Edit() = 2
			x.Set(2)
		})
	})
	sim.Exhaust(t, "I3/subscribe-marks-the-current-version", func(w *sim.World) {
		x := sched.NewWatch(w.Scheduler(), "x", 0)
		w.Go("setter", func() { x.Set(1) })
		w.Go("watcher", func() {
			r := x.Subscribe()
			first := x.Get()
			if r.Changed(ended(w)) == nil {
				w.Require(first == 1 || x.Get() == 1, "I3.subscribe", "change without a new version")
				w.Require(r.Changed(ended(w)) != nil, "I3.subscribe", "one change seen twice")
			}
		})
		w.Finally(func() {
			r := x.Subscribe()
			w.Require(r.Changed(ended(w)) != nil, "I3.subscribe", "the version at the subscription counts as unseen")
		})
	})
}

// A signal given after the mutex was freed by Wait is not missed.
func TestExhaustI3Cond(t *testing.T) {
	sim.Exhaust(t, "I3/cond-waits-before-it-unlocks", func(w *sim.World) {
		s := w.Scheduler()
		m := sched.NewMutex(s, "m")
		c := sched.NewCond(s, "c", &m)
		ready := sched.NewCell(s, "ready", false)
		w.Go("waiter", func() {
			m.Lock()
			for !*ready.View() {
				c.Wait()
			}
			m.Unlock()
		})
		w.Go("setter", func() {
			m.Lock()
			*ready.Edit() = true
			m.Unlock()
			c.Signal()
		})
	})
	sim.Exhaust(t, "I3/broadcast-wakes-all", func(w *sim.World) {
		s := w.Scheduler()
		m := sched.NewMutex(s, "m")
		c := sched.NewCond(s, "c", &m)
		ready := false
		for range 2 {
			w.Go("waiter", func() {
				m.Lock()
				for !ready {
					c.Wait()
				}
				m.Unlock()
			})
		}
		w.Go("setter", func() {
			m.Lock()
			ready = true
			c.Broadcast()
			m.Unlock()
		})
	})
}

// Whoever returns from Do, Get or Wait finds what was done before.
func TestExhaustI3OnceAndWriteOnce(t *testing.T) {
	sim.Exhaust(t, "I3/once-returns-after-it-ran", func(w *sim.World) {
		s := w.Scheduler()
		o, what := sched.NewOnce(s, "once"), sched.NewCell(s, "what", 0)
		for range 3 {
			w.Go("caller", func() {
				o.Do(func() { *what.Edit()++ })
				w.Require(*what.View() == 1, "I3.once", "ran %d times", *what.View())
			})
		}
	})
	sim.Exhaust(t, "I3/write-once-wakes-every-waiter", func(w *sim.World) {
		s := w.Scheduler()
		o, what := sched.NewWriteOnce[int](s, "value"), sched.NewCell(s, "what", 0)
		for range 2 {
			w.Go("waiter", func() {
				v, err := o.Wait(nil)
				w.NoError(err)
				w.Require(v == 7 && *what.View() == 7, "I3.write-once", "got %d", v)
			})
		}
		w.Go("setter", func() {
			*what.Edit() = 7
			w.Require(o.Set(7), "I3.write-once", "refused the first value")
			w.Require(!o.Set(8), "I3.write-once", "took a second value")
		})
	})
}

// Units are neither lost nor invented, also when a wait ends while it is granted, and a large request is not overtaken.
func TestExhaustI3Semaphore(t *testing.T) {
	sim.Exhaust(t, "I3/semaphore-keeps-its-units", func(w *sim.World) {
		s := w.Scheduler()
		x, scope := sched.NewSemaphore(s, "units", 1), s.NewScope("scope")
		w.Go("ending", func() {
			if x.Acquire(scope, 1) == nil {
				x.Release(1)
			}
		})
		w.Go("holder", func() {
			w.NoError(x.Acquire(nil, 1))
			scope.Cancel(nil)
			x.Release(1)
		})
		w.Finally(func() { w.Require(x.Free() == 1, "I3.units", "%d of 1 free", x.Free()) })
	})
	sim.Exhaust(t, "I3/semaphore-is-not-overtaken", func(w *sim.World) {
		s := w.Scheduler()
		x := sched.NewSemaphore(s, "units", 2)
		w.NoError(x.Acquire(nil, 1))
		w.Go("large", func() {
			w.NoError(x.Acquire(nil, 2))
			x.Release(2)
		})
		w.Go("small", func() {
			w.NoError(s.Sleep(nil, "later", time.Second)) // time passes when the large one waits
			w.Require(!x.TryAcquire(1), "I3.fifo", "a small request overtook")
			x.Release(1)
		})
		w.Finally(func() { w.Require(x.Free() == 2, "I3.units", "%d of 2 free", x.Free()) })
	})
}

// The end of a scope is one step: below an ended scope nothing is open, and a join counts tasks of every scope below.
func TestExhaustI3Scope(t *testing.T) {
	sim.Exhaust(t, "I3/scope-ends-with-everything-below", func(w *sim.World) {
		top := w.Scheduler().NewScope("top")
		low := top.Child("middle").Child("low")
		w.Go("canceller", func() { top.Cancel(nil) })
		w.Go("observer", func() {
			late := top.Child("late")
			if top.Err() != nil {
				w.Require(low.Err() != nil, "I3.scope", "an ended scope has an open one below")
				w.Require(late.Err() != nil, "I3.scope", "a late child of an ended scope is open")
			}
		})
	})
	sim.Exhaust(t, "I3/join-counts-every-scope-below", func(w *sim.World) {
		s := w.Scheduler()
		top, what := s.NewScope("top"), sched.NewCell(s, "what", 0)
		s.Go(top, "outer", func() {
			s.Go(top.Child("low"), "inner", func() { *what.Edit() = 1 })
		})
		top.Join()
		w.Require(*what.View() == 1, "I3.join", "joined before its task had ended")
	})
}

// A retry of Update loses nothing that was published in between.
func TestExhaustI3Publication(t *testing.T) {
	sim.Exhaust(t, "I3/update-loses-nothing", func(w *sim.World) {
		p := sched.NewPublication(w.Scheduler(), "p", new(int))
		for range 2 {
			w.Go("update", func() {
				p.Update(func(v *int) *int {
					next := *v + 1
					return &next
				})
			})
		}
		w.Finally(func() { w.Require(*p.Observe() == 2, "I3.update", "two updates made %d", *p.Observe()) })
	})
}

// A wait that its scope ended leaves nothing in the queue: else a loop of waits with a bound each would fill it for as long as nobody wakes
// it.
func TestExhaustI3EndedWaits(t *testing.T) {
	sim.Exhaust(t, "I3/ended-wait-leaves-nothing", func(w *sim.World) {
		s := w.Scheduler()
		watch, once := sched.NewWatch(s, "watch", 0), sched.NewWriteOnce[int](s, "once")
		note, units := sched.NewNotify(s, "note"), sched.NewSemaphore(s, "units", 1)
		w.NoError(units.Acquire(nil, 1))
		scope := s.NewScope("scope")
		watcher := watch.Subscribe()
		waits := []func() error{
			func() error { return watcher.Changed(scope) },
			func() error {
				_, err := once.Wait(scope)
				return err
			},
			func() error { return note.Wait(scope) },
			func() error { return units.Acquire(scope, 1) },
		}
		wait := waits[w.Choose("wait", len(waits))]
		for range 2 {
			w.Go("waiter", func() { w.Require(errors.Is(wait(), sched.ErrCanceled), "I3.ended", "nobody woke it") })
		}
		w.Go("canceller", func() { scope.Cancel(nil) })
		w.Finally(func() {
			for what, n := range []int{watch.Waiting(), once.Waiting(), note.Waiting(), units.Waiting()} {
				w.Require(n == 0, "I3.queue", "%d ended waits stand in queue %d", n, what)
			}
		})
	})
}

// What has ended leaves neither a timer nor a scope behind: time would stop at it, and the scope above would keep it.
func TestExhaustI3EndedScopes(t *testing.T) {
	sim.Exhaust(t, "I3/ended-scope-leaves-nothing", func(w *sim.World) {
		s := w.Scheduler()
		top := s.NewScope("top")
		scope := top.Child("scope")
		w.Go("sleeper", func() {
			w.Require(errors.Is(s.Sleep(scope, "nap", time.Hour), sched.ErrCanceled), "I3.ended", "slept on")
			w.Require(!w.Fire("nap"), "I3.timer", "the timer of a sleep that ended is armed")
		})
		w.Go("closer", func() {
			timed := top.ChildTimeout("timed", time.Hour)
			timed.Close()
			w.Require(!w.Fire("timed"), "I3.timer", "the clock of a closed scope is armed")
			scope.Close()
		})
		w.Finally(func() { w.Require(top.Children() == 0, "I3.children", "%d closed scopes are kept", top.Children()) })
	})
}
