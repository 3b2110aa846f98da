package main

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// program shares plain memory. One whose name begins with "planted" does so without order.
type program struct {
	name string
	body func(w *sim.World)
}

// both starts two tasks and reports a sum of plain memory at the end.
func both(w *sim.World, first, second func()) {
	w.Go("first", first)
	w.Go("second", second)
	w.Join()
}

// least is an invariant: n has not fallen below.
func least(n, below int) error {
	if n < below {
		return sched.Broken("n.least", "%d, at least %d", n, below)
	}
	return nil
}

var all = []program{
	{"planted increment", func(w *sim.World) {
		n := 0
		increment := func() {
			w.Scheduler().Yield()
			n++
		}
		both(w, increment, increment)
	}},
	{"planted read beside a lock", func(w *sim.World) {
		m, n := sched.NewMutex(w.Scheduler(), "m"), 0
		both(w, func() {
			m.Lock()
			n++
			m.Unlock()
		}, func() { w.Logf("%d", n) })
	}},
	{"planted write after a hand-over", func(w *sim.World) {
		c, n := sched.NewChan[*int](w.Scheduler(), "c", 0), 0
		both(w, func() {
			c.Send(&n)
			n++
		}, func() {
			p, _ := c.Receive()
			*p++
		})
	}},
	{"planted map", func(w *sim.World) {
		seen := map[string]int{}
		both(w, func() { seen["a"]++ }, func() { seen["b"]++ })
	}},
	{"planted write that an invariant reads too", func(w *sim.World) {
		m, n := sched.NewMutex(w.Scheduler(), "m"), 0
		w.Invariant("n", func() error { return least(n, 0) })
		both(w, func() {
			m.Lock()
			n++
			m.Unlock()
		}, func() {
			w.Scheduler().Yield()
			n++
		})
	}},
	{"guarded, read by an invariant", func(w *sim.World) {
		m, n, done := sched.NewMutex(w.Scheduler(), "m"), 0, sched.NewInt64(w.Scheduler(), "done", 0)
		w.Invariant("n", func() error { return least(n, int(done.Peek())) })
		increment := func() {
			for range 3 {
				m.Lock()
				n++
				m.Unlock()
				done.Add(1)
			}
		}
		both(w, increment, increment)
	}},
	{"events that a listener counts", func(w *sim.World) {
		s := w.Scheduler()
		x, events := sched.NewInt64(s, "x", 0), 0
		if w.Traced() {
			w.OnEvent(func(any, string, []any) error {
				events++
				return nil
			})
		}
		add := func() {
			for range 3 {
				x.Add(1)
				s.Emit(&x, "Add")
			}
		}
		both(w, add, add)
	}},
	{"mutex", func(w *sim.World) {
		m, n := sched.NewMutex(w.Scheduler(), "m"), 0
		increment := func() {
			for range 3 {
				m.Lock()
				n++
				m.Unlock()
			}
		}
		both(w, increment, increment)
		w.Require(n == 6, "n", "n is %d", n)
	}},
	{"read-write mutex", func(w *sim.World) {
		m, n := sched.NewRWMutex(w.Scheduler(), "m"), 0
		both(w, func() {
			m.Lock()
			n++
			m.Unlock()
		}, func() {
			m.RLock()
			w.Logf("%d", n)
			m.RUnlock()
		})
	}},
	{"atomic flag", func(w *sim.World) {
		ready, n := sched.NewBool(w.Scheduler(), "ready", false), 0
		both(w, func() {
			n = 1
			ready.Store(true)
		}, func() {
			if ready.Load() {
				n++
			}
		})
	}},
	{"publication", func(w *sim.World) {
		zero := [1]int{}
		p := sched.NewPublication(w.Scheduler(), "p", &zero)
		both(w, func() {
			next := [1]int{7}
			p.Publish(&next)
		}, func() { w.Require(p.Observe()[0]%7 == 0, "p", "torn") })
	}},
	{"rendezvous", func(w *sim.World) {
		c, n := sched.NewChan[int](w.Scheduler(), "c", 0), 0
		both(w, func() {
			n++
			c.Send(5)
		}, func() {
			v, _ := c.Receive()
			n += v
		})
	}},
	{"rendezvous the other way", func(w *sim.World) {
		c, n := sched.NewChan[int](w.Scheduler(), "c", 0), 0
		both(w, func() {
			n++
			c.Receive()
		}, func() {
			c.Send(1)
			n++
		})
	}},
	{"buffered channel and select", func(w *sim.World) {
		c, n := sched.NewChan[int](w.Scheduler(), "c", 2), 0
		both(w, func() {
			n++
			c.Send(1)
			c.Close()
		}, func() {
			sched.Select2(c.OnReceive(), w.Scope().Done())
			n++
		})
	}},
	{"notify", func(w *sim.World) {
		note, n := sched.NewNotify(w.Scheduler(), "note"), 0
		both(w, func() {
			n++
			note.One()
		}, func() {
			w.NoError(note.Wait(nil))
			n++
		})
	}},
	{"condition", func(w *sim.World) {
		m := sched.NewMutex(w.Scheduler(), "m")
		c, n := sched.NewCond(w.Scheduler(), "c", &m), 0
		both(w, func() {
			m.Lock()
			n = 1
			m.Unlock()
			c.Broadcast()
		}, func() {
			m.Lock()
			for n == 0 {
				c.Wait()
			}
			n++
			m.Unlock()
		})
	}},
	{"semaphore", func(w *sim.World) {
		units, n := sched.NewSemaphore(w.Scheduler(), "units", 1), 0
		use := func() {
			w.NoError(units.Acquire(nil, 1))
			n++
			units.Release(1)
		}
		both(w, use, use)
	}},
	{"once", func(w *sim.World) {
		once, n := sched.NewOnce(w.Scheduler(), "once"), 0
		use := func() {
			once.Do(func() { n++ })
			w.Logf("%d", n)
		}
		both(w, use, use)
	}},
	{"wait group and scope", func(w *sim.World) {
		s := w.Scheduler()
		scope, n := s.NewScope("own"), 0
		s.Go(scope, "worker", func() { n++ })
		scope.Close()
		n++
	}},
	{"timer", func(w *sim.World) {
		n := 0
		both(w, func() {
			w.NoError(w.Scheduler().Sleep(nil, "pause", time.Second))
		}, func() { w.NoError(w.Scheduler().Sleep(nil, "other", time.Second)) })
		n++
		w.Finally(func() { n++ })
	}},
	{"crash and restart", func(w *sim.World) {
		s, n := w.Scheduler(), w.Node("n")
		m, disk := sched.NewMutex(s, "m"), 0
		write := func() {
			m.Lock()
			disk++
			m.Unlock()
		}
		n.Go("writer", write)
		w.Go("operator", func() {
			n.Crash()
			w.Node("n").Go("reader", func() {})
		})
		w.Finally(func() { w.Logf("%d", disk) })
	}},
}
