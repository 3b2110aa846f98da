// Package programs holds the small programs that the simulator is measured with: speed, bug finding, and the
// number of executions that an exhaustive search needs. Each returns the body of a check.
package programs

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// Body is the body of a check.
type Body = func(w *sim.World)

// Empty is one task that returns.
func Empty(*sim.World) {}

// SpawnJoin spawns n empty tasks and joins them.
func SpawnJoin(n int) Body {
	return func(w *sim.World) {
		for range n {
			w.Go("empty", func() {})
		}
		w.Join()
	}
}

// Yield is n tasks that each yield k times.
func Yield(n, k int) Body {
	return tasks(n, func(w *sim.World) func() {
		s := w.Scheduler()
		return func() {
			for range k {
				s.Yield()
			}
		}
	})
}

// tasks starts n tasks that run what prepare returned, and joins them.
func tasks(n int, prepare func(w *sim.World) func()) Body {
	return func(w *sim.World) {
		f := prepare(w)
		for range n {
			w.Go("task", f)
		}
		w.Join()
	}
}

// Atomic is n tasks that each add k times to one counter.
func Atomic(n, k int) Body {
	return tasks(n, func(w *sim.World) func() {
		x := sched.NewUint64(w.Scheduler(), "counter", 0)
		return func() {
			for range k {
				x.Add(1)
			}
		}
	})
}

// Lock is n tasks that each k times lock a mutex, increment and unlock.
func Lock(n, k int) Body {
	return tasks(n, func(w *sim.World) func() {
		m := sched.NewMutex(w.Scheduler(), "mutex")
		count := 0
		return func() {
			for range k {
				m.Lock()
				count++
				m.Unlock()
			}
		}
	})
}

// StoreBuffering is x=1; read y beside y=1; read x. Under sequential consistency one of them reads 1.
func StoreBuffering(w *sim.World) {
	s := w.Scheduler()
	x, y := sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)
	var a, b uint64
	w.Go("left", func() {
		x.Store(1)
		a = y.Load()
	})
	w.Go("right", func() {
		y.Store(1)
		b = x.Load()
	})
	w.Join()
	w.Require(a+b > 0, "SB", "both tasks read 0")
}

// LostUpdate is two tasks that load a counter and store it plus one.
func LostUpdate(w *sim.World) {
	x := sched.NewUint64(w.Scheduler(), "counter", 0)
	for range 2 {
		w.Go("increment", func() { x.Store(x.Load() + 1) })
	}
	w.Join()
	w.Require(x.Peek() == 2, "lost-update", "counter is %d after two increments", x.Peek())
}

// BoundedBuffer is a buffer of capacity one with one mutex and ONE condition for both "not empty" and "not full", signalled
// one at a time. Two consumers take per items each, a producer puts twice as many: a signal can reach the wrong side.
func BoundedBuffer(per int) Body {
	return func(w *sim.World) {
		s := w.Scheduler()
		m := sched.NewMutex(s, "mutex")
		changed := sched.NewCond(s, "changed", &m)
		items := 0
		for range 2 {
			w.Go("consumer", func() {
				for range per {
					m.Lock()
					for items == 0 {
						changed.Wait()
					}
					items--
					changed.Signal()
					m.Unlock()
				}
			})
		}
		w.Go("producer", func() {
			for range 2 * per {
				m.Lock()
				for items == 1 {
					changed.Wait()
				}
				items++
				changed.Signal()
				m.Unlock()
			}
		})
		w.Join()
	}
}

// Deep stores 1 to 10 while another task loads ten times and counts how many of 1, 3, 5, … it sees in order: that stays
// below d.
func Deep(d int) Body {
	return func(w *sim.World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		w.Go("store", func() {
			for i := range uint64(10) {
				x.Store(i + 1)
			}
		})
		w.Go("load", func() {
			seen := 0
			for range 10 {
				if x.Load() == uint64(2*seen+1) {
					seen++
				}
			}
			w.Require(seen < d, "deep", "saw %d odd numbers in order", seen)
		})
		w.Join()
	}
}

// Buried is three tasks with n unrelated adds; a fourth does n adds, then reads p twice expecting it still non-zero; a fifth
// does n adds, then sets p to 0.
func Buried(n int) Body {
	return func(w *sim.World) {
		s := w.Scheduler()
		p := sched.NewUint64(s, "p", 1)
		noise := func(name string) *sched.Uint64 {
			x := sched.NewUint64(s, name, 0)
			return &x
		}
		work := func(x *sched.Uint64) {
			for range n {
				x.Add(1)
			}
		}
		for i := range 3 {
			x := noise(fmt.Sprint("noise", i))
			w.Go("noise", func() { work(x) })
		}
		own := noise("reader's")
		w.Go("reader", func() {
			work(own)
			if p.Load() != 0 {
				w.Require(p.Load() != 0, "buried", "p became zero between two reads")
			}
		})
		other := noise("writer's")
		w.Go("writer", func() {
			work(other)
			p.Store(0)
		})
		w.Join()
	}
}
