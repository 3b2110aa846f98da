package deadlock

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"go.uber.org/goleak"
)

// What a dead program leaves waiting on a real lock or channel cannot be unwound; such goroutines pass through hopeless.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/millrace-dev/millrace/deadlock.hopeless"))
}

//go:noinline
func hopeless(f func()) { f() }

// program is one that is wrong on purpose, and what is found in it; with fixed it is right.
type program struct {
	name string
	want string // what must be found in every execution; others may be found beside it
	run  func(w *Run, fixed bool)
}

var programs = []program{
	{"two locks in two orders, one after the other", "deadlock order a,b", abba},
	{"two locks in two orders, at once", "deadlock cycle a,b", embrace},
	{"three locks in a ring, one after the other", "deadlock order a,b,c", ring},
	{"a lock twice", "deadlock double a", twice},
	{"a read lock twice, with a writer between", "deadlock recursive a", readTwice},
	{"a read lock made a write lock", "deadlock double a", upgrade},
	{"a lock and a channel", "deadlock held a", lockAndChannel},
	{"a channel that nobody fills", "deadlock stuck c", noSender},
	{"a condition without its lock", "deadlock unlock c", condWithoutLock},
	{"a condition under the lock of another task", "deadlock unlock a", condUnderOthersLock},
	{"a condition with another lock held", "deadlock held b", condWithAnotherLock},
	{"a condition that nobody signals", "deadlock stuck c", noSignal},
	{"a wait group that waits for itself", "deadlock stuck g", waitGroupItself},
	{"a scope that joins itself", "deadlock cycle scope", scopeItself},
	{"two semaphores of one in two orders", "deadlock order x,y", semaphores},
	{"a semaphore of two, all of it taken by those who want more", "deadlock stuck x", semaphoreOfTwo},
	{"a once within itself", "deadlock cycle o", onceItself},
	{"a notify read before it is registered", "deadlock stuck n", readThenRegister},
	{"a watch that nobody sets", "deadlock stuck v", noSet},
	{"a value that nobody writes, within hours", "deadlock stuck v", hours},
	{"a lock that is freed by another task", "deadlock unlock a", freedByOther},
	{"a mutex held over a semaphore", "deadlock held a", heldOverSemaphore},
	{"a panic", "panic thrower", throws},
	{"a lock and the wait for a task that wants it", "deadlock cycle a,scope", lockAndJoin},
}

// Every planted program is found, whatever the timing; put right it is silent, and stays so.
func TestPlantedPrograms(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			for seed := range uint64(5) {
				var found []string
				for _, f := range execute(seed, func(w *Run) { hopeless(func() { p.run(w, false) }) }) {
					found = append(found, f.String())
					if f.Message == "" {
						t.Errorf("%v says nothing", f)
					}
				}
				if !slices.Contains(found, p.want) {
					t.Errorf("seed %d: found %q, want %s", seed, found, p.want)
				}
			}
			for seed := range uint64(10) {
				for _, f := range execute(seed, func(w *Run) { p.run(w, true) }) {
					t.Errorf("put right, seed %d: %v: %s", seed, f, f.Message)
				}
			}
		})
	}
}

// locks returns mutexes with these names.
func locks(w *Run, names string) (all []*sched.Mutex) {
	for _, name := range strings.Fields(names) {
		m := sched.NewMutex(w.Scheduler(), name)
		all = append(all, &m)
	}
	return all
}

func under(f func(), locks ...*sched.Mutex) {
	for _, m := range locks {
		m.Lock()
		defer m.Unlock()
	}
	f()
}

func nothing() {}

func abba(w *Run, fixed bool) {
	m := locks(w, "a b gate")
	for i := range 2 {
		w.Go("taker", func() {
			switch {
			case i == 0:
				under(nothing, m[2], m[0], m[1])
			case fixed: // the gate keeps the two orders apart
				under(nothing, m[2], m[1], m[0])
			default:
				under(nothing, m[1], m[0])
			}
		})
		w.Join()
	}
}

func embrace(w *Run, fixed bool) {
	m := locks(w, "a b")
	both := sched.NewWaitGroup(w.Scheduler(), "both")
	both.Add(2)
	for i := range 2 {
		w.Go("taker", func() {
			hopeless(func() {
				if fixed {
					under(nothing, m[0], m[1])
					return
				}
				under(func() {
					both.Done()
					both.Wait() // so that it happens in every execution; a finding of its own
					under(nothing, m[1-i])
				}, m[i])
			})
		})
	}
	w.Join()
}

func ring(w *Run, fixed bool) {
	m := locks(w, "a b c")
	for i := range 3 {
		first, second := m[i], m[(i+1)%3]
		if fixed && i == 2 {
			first, second = second, first
		}
		w.Go("taker", func() { under(nothing, first, second) })
		w.Join()
	}
}

func twice(w *Run, fixed bool) {
	m := locks(w, "a")
	under(func() {
		if !fixed {
			under(nothing, m[0])
		}
	}, m[0])
}

func readTwice(w *Run, fixed bool) {
	m := sched.NewRWMutex(w.Scheduler(), "a")
	w.Go("writer", func() {
		hopeless(func() {
			m.Lock()
			defer m.Unlock()
		})
	})
	w.Go("reader", func() {
		hopeless(func() {
			m.RLock()
			defer m.RUnlock()
			if !fixed {
				m.RLock()
				defer m.RUnlock()
			}
		})
	})
	w.Join()
}

func upgrade(w *Run, fixed bool) {
	m := sched.NewRWMutex(w.Scheduler(), "a")
	m.RLock()
	if fixed {
		m.RUnlock()
	} else {
		defer m.RUnlock()
	}
	m.Lock()
	defer m.Unlock()
}

func lockAndChannel(w *Run, fixed bool) {
	m, c := locks(w, "a")[0], sched.NewChan[int](w.Scheduler(), "c", 0)
	w.Go("receiver", func() {
		hopeless(func() {
			m.Lock()
			if fixed {
				m.Unlock()
				c.Receive()
				return
			}
			defer m.Unlock()
			c.Receive()
		})
	})
	w.Go("sender", func() {
		hopeless(func() {
			under(nothing, m)
			c.Send(1)
		})
	})
	w.Join()
}

func noSender(w *Run, fixed bool) {
	c := sched.NewChan[int](w.Scheduler(), "c", 1)
	w.Go("receiver", func() {
		hopeless(func() {
			if fixed {
				c.Send(1)
			}
			c.Receive()
		})
	})
	w.Join()
}

func condWithoutLock(w *Run, fixed bool) {
	m := locks(w, "a")[0]
	c := sched.NewCond(w.Scheduler(), "c", m)
	waitFor(w, &c, m, func() {
		if fixed {
			m.Lock()
			defer m.Unlock()
		}
		c.Wait()
	})
}

// waitFor runs wait as a task and signals until it has ended.
func waitFor(w *Run, c *sched.Cond, m *sched.Mutex, wait func()) {
	over := sched.NewBool(w.Scheduler(), "over", false)
	w.Go("waiter", func() {
		wait()
		over.Store(true)
	})
	w.Go("signaller", func() {
		for !over.Load() {
			under(c.Signal, m)
			w.NoError(w.Scheduler().Sleep(nil, "between signals", time.Microsecond))
		}
	})
	w.Join()
}

func condUnderOthersLock(w *Run, fixed bool) {
	m := locks(w, "a b")
	c := sched.NewCond(w.Scheduler(), "c", m[0])
	if fixed {
		waitFor(w, &c, m[0], func() { under(c.Wait, m[0]) })
		return
	}
	held, done := sched.NewNotify(w.Scheduler(), "held"), sched.NewChan[int](w.Scheduler(), "done", 0)
	w.Go("holder", func() {
		hopeless(func() {
			m[0].Lock()
			held.One()
			done.Receive()
		})
	})
	w.NoError(held.Wait(nil))
	m[1].Lock()
	c.Wait()
}

func condWithAnotherLock(w *Run, fixed bool) {
	m := locks(w, "b a")
	c := sched.NewCond(w.Scheduler(), "c", m[1])
	waitFor(w, &c, m[1], func() {
		if fixed {
			under(c.Wait, m[1])
			return
		}
		under(c.Wait, m...)
	})
}

func noSignal(w *Run, fixed bool) {
	m := locks(w, "a")[0]
	c, ready := sched.NewCond(w.Scheduler(), "c", m), false
	w.Go("waiter", func() {
		under(func() {
			for !ready {
				c.Wait()
			}
		}, m)
	})
	w.Go("changer", func() {
		under(func() {
			ready = fixed
			if fixed {
				c.Signal()
			}
		}, m)
	})
	w.Join()
}

func waitGroupItself(w *Run, fixed bool) {
	g := sched.NewWaitGroup(w.Scheduler(), "g")
	g.Add(1)
	w.Go("member", func() {
		hopeless(func() {
			if fixed {
				g.Done()
			} else {
				defer g.Done()
			}
			g.Wait()
		})
	})
	w.Join()
}

func scopeItself(w *Run, fixed bool) {
	scope := w.Scheduler().NewScope("scope")
	w.Scheduler().Go(scope, "member", func() {
		if !fixed {
			scope.Join()
		}
	})
	scope.Close()
}

func semaphores(w *Run, fixed bool) {
	x, y := sched.NewSemaphore(w.Scheduler(), "x", 1), sched.NewSemaphore(w.Scheduler(), "y", 1)
	take := func(first, second *sched.Semaphore) {
		w.NoError(first.Acquire(nil, 1))
		defer first.Release(1)
		if fixed {
			if second.TryAcquire(1) {
				second.Release(1)
			}
			return
		}
		w.NoError(second.Acquire(nil, 1))
		defer second.Release(1)
	}
	take(&x, &y)
	take(&y, &x)
}

func semaphoreOfTwo(w *Run, fixed bool) {
	x := sched.NewSemaphore(w.Scheduler(), "x", 2)
	both := sched.NewWaitGroup(w.Scheduler(), "both")
	both.Add(2)
	for range 2 {
		w.Go("taker", func() {
			w.NoError(x.Acquire(nil, 1))
			both.Done()
			both.Wait()
			if fixed {
				x.Release(1)
			} else {
				defer x.Release(1)
			}
			w.NoError(x.Acquire(nil, 1))
			x.Release(1)
		})
	}
	w.Join()
}

func onceItself(w *Run, fixed bool) {
	o := sched.NewOnce(w.Scheduler(), "o")
	o.Do(func() {
		if !fixed {
			o.Do(nothing)
		}
	})
}

func readThenRegister(w *Run, fixed bool) {
	n, ready := sched.NewNotify(w.Scheduler(), "n"), sched.NewBool(w.Scheduler(), "ready", false)
	tell := func() {
		ready.Store(true)
		n.All()
	}
	if fixed {
		w.Go("teller", tell)
		r := n.Register()
		if ready.Load() {
			r.Drop()
		} else {
			w.NoError(r.Wait(nil))
		}
		return
	}
	if !ready.Load() {
		tell()
		w.NoError(n.Wait(nil))
	}
}

func noSet(w *Run, fixed bool) {
	v := sched.NewWatch(w.Scheduler(), "v", 0)
	watcher := v.Subscribe()
	w.Go("setter", func() {
		if fixed {
			v.Set(1)
		}
	})
	w.NoError(watcher.Changed(nil))
}

func hours(w *Run, fixed bool) {
	v := sched.NewWriteOnce[int](w.Scheduler(), "v")
	timed := w.Scope().ChildTimeout("hours", 24*time.Hour)
	defer timed.Close()
	scope := w.Scheduler().NewScope("scope")
	w.Scheduler().Go(scope, "reader", func() {
		if _, err := v.Wait(timed); err == nil {
			return
		}
	})
	if fixed {
		v.Set(1)
	}
	scope.Join()
}

func freedByOther(w *Run, fixed bool) {
	m := locks(w, "a")[0]
	m.Lock()
	free := m.Unlock
	if fixed {
		free()
		return
	}
	w.Go("other", free)
	w.Join()
}

func heldOverSemaphore(w *Run, fixed bool) {
	m, x := locks(w, "a")[0], sched.NewSemaphore(w.Scheduler(), "x", 1)
	w.NoError(x.Acquire(nil, 1))
	w.Go("waiter", func() {
		take := func() {
			w.NoError(x.Acquire(nil, 1))
			x.Release(1)
		}
		if fixed {
			take()
			return
		}
		under(take, m)
	})
	w.NoError(w.Scheduler().Sleep(nil, "a moment", time.Millisecond))
	if fixed {
		x.Release(1)
	}
	w.Join()
}

func throws(w *Run, fixed bool) {
	w.Go("thrower", func() {
		if !fixed {
			panic("planted")
		}
	})
	w.Join()
}

func lockAndJoin(w *Run, fixed bool) {
	m, scope := locks(w, "a")[0], w.Scheduler().NewScope("scope")
	m.Lock()
	w.Scheduler().Go(scope, "taker", func() { hopeless(func() { under(nothing, m) }) })
	if fixed {
		m.Unlock()
	} else {
		defer m.Unlock()
	}
	scope.Join()
}
