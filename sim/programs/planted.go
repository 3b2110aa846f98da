package programs

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// AcrossLocks takes two locks in both orders.
func AcrossLocks(w *sim.World) {
	s := w.Scheduler()
	a, b := sched.NewMutex(s, "a"), sched.NewMutex(s, "b")
	both := func(first, second *sched.Mutex) func() {
		return func() {
			first.Lock()
			defer first.Unlock()
			second.Lock()
			defer second.Unlock()
		}
	}
	w.Go("a then b", both(&a, &b))
	w.Go("b then a", both(&b, &a))
}

// LostWakeUp reads the condition before it registers: a change in between wakes nobody.
func LostWakeUp(w *sim.World) {
	s := w.Scheduler()
	ready, changed := sched.NewBool(s, "ready", false), sched.NewNotify(s, "changed")
	w.Go("waiter", func() {
		if !ready.Load() {
			w.NoError(changed.Wait(nil))
		}
	})
	w.Go("setter", func() {
		ready.Store(true)
		changed.All()
	})
}

// UnguardedCell writes plain memory under a lock and reads it without.
func UnguardedCell(w *sim.World) {
	s := w.Scheduler()
	m, total := sched.NewMutex(s, "m"), sched.NewCell(s, "total", 0)
	w.Go("writer", func() {
		m.Lock()
		*total.Edit()++
		m.Unlock()
	})
	w.Go("reader", func() { w.Logf("total %d", *total.View()) })
}
