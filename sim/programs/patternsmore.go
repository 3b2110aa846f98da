package programs

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// selectAfterStop: when both cases are ready, select may take the work although the stop came first.
func selectAfterStop(w *sim.World, fixed bool) {
	s := w.Scheduler()
	work, stop := sched.NewChan[int](s, "work", 1), sched.NewChan[struct{}](s, "stop", 0)
	stopped := sched.NewBool(s, "stopped", false)
	w.Go("loop", func() {
		for {
			got := sched.Select2(stop.OnReceive(), work.OnReceive())
			if got.Index == 0 {
				return
			}
			if fixed {
				if _, _, ended := stop.TryReceive(); ended {
					return
				}
				continue
			}
			w.Require(!stopped.Load(), "after-stop", "work was done after the stop")
		}
	})
	w.Go("stop", func() {
		work.Send(1)
		stop.Close()
		stopped.Store(true)
	})
}

// missedSignal reads the condition before it takes the lock: the signal comes in between.
func missedSignal(w *sim.World, fixed bool) {
	s := w.Scheduler()
	m, ready := sched.NewMutex(s, "m"), sched.NewBool(s, "ready", false)
	changed := sched.NewCond(s, "changed", &m)
	w.Go("wait", func() {
		if !fixed {
			if !ready.Load() {
				m.Lock()
				changed.Wait()
				m.Unlock()
			}
			return
		}
		m.Lock()
		for !ready.Load() {
			changed.Wait()
		}
		m.Unlock()
	})
	w.Go("set", func() {
		m.Lock()
		ready.Store(true)
		changed.Signal()
		m.Unlock()
	})
}

func signalForMany(w *sim.World, fixed bool) {
	s := w.Scheduler()
	m, open := sched.NewMutex(s, "m"), false
	changed := sched.NewCond(s, "changed", &m)
	for range 2 {
		w.Go("wait", func() {
			m.Lock()
			for !open {
				changed.Wait()
			}
			m.Unlock()
		})
	}
	w.Go("open", func() {
		m.Lock()
		open = true
		if fixed {
			changed.Broadcast()
		} else {
			changed.Signal()
		}
		m.Unlock()
	})
}

// ifInsteadOfFor: between the signal and the lock, somebody else takes what was announced.
func ifInsteadOfFor(w *sim.World, fixed bool) {
	s := w.Scheduler()
	m, items := sched.NewMutex(s, "m"), 0
	changed := sched.NewCond(s, "changed", &m)
	for range 2 {
		w.Go("take", func() {
			m.Lock()
			defer m.Unlock()
			if items == 0 {
				changed.Wait()
			}
			for fixed && items == 0 {
				changed.Wait()
			}
			w.Require(items > 0, "taken", "nothing is there")
			items--
		})
	}
	w.Go("put", func() {
		for range 2 {
			m.Lock()
			items++
			changed.Signal()
			m.Unlock()
		}
	})
}

func groupAddInside(w *sim.World, fixed bool) {
	s := w.Scheduler()
	group, n := sched.NewWaitGroup(s, "group"), sched.NewInt64(s, "n", 0)
	for range 2 {
		if fixed {
			group.Add(1)
		}
		w.Go("work", func() {
			if !fixed {
				group.Add(1)
			}
			n.Add(1)
			group.Done()
		})
	}
	group.Wait()
	w.Require(n.Load() == 2, "early", "%d of 2 tasks had worked", n.Peek())
}

func groupWaitInLoop(w *sim.World, fixed bool) {
	group := sched.NewWaitGroup(w.Scheduler(), "group")
	group.Add(2)
	for range 2 {
		w.Go("work", group.Done)
		if !fixed {
			group.Wait()
		}
	}
	group.Wait()
}

// capturedVariable shares one loop variable among all tasks, as loops before Go 1.22 did and as a variable outside of the
// loop still does.
func capturedVariable(w *sim.World, fixed bool) {
	s := w.Scheduler()
	i := sched.NewCell(s, "i", 0)
	sum := sched.NewInt64(s, "sum", 0)
	for ; *i.View() < 3; *i.Edit()++ {
		own := *i.View()
		w.Go("work", func() {
			if fixed {
				sum.Add(int64(own))
				return
			}
			sum.Add(int64(*i.View()))
		})
	}
	w.Join()
	w.Require(sum.Load() == 3, "sum", "the sum is %d", sum.Peek())
}

func flagBeforeValue(w *sim.World, fixed bool) {
	s := w.Scheduler()
	ready, value := sched.NewBool(s, "ready", false), sched.NewCell(s, "value", 0)
	w.Go("init", func() {
		if fixed {
			*value.Edit() = 7
			ready.Store(true)
			return
		}
		ready.Store(true)
		*value.Edit() = 7
	})
	w.Go("use", func() {
		if ready.Load() {
			w.Require(*value.View() == 7, "value", "not set")
		}
	})
}

// taskBeforeState starts a task in a constructor and then sets what the task reads.
func taskBeforeState(w *sim.World, fixed bool) {
	s := w.Scheduler()
	timeout := sched.NewInt64(s, "timeout", 0)
	if fixed {
		timeout.Store(5)
	}
	w.Go("loop", func() { w.Require(timeout.Load() == 5, "unset", "the task runs without its timeout") })
	if !fixed {
		timeout.Store(5)
	}
}

// slotKept returns on an error without giving its slot back.
func slotKept(w *sim.World, fixed bool) {
	s := w.Scheduler()
	slots, fails := sched.NewSemaphore(s, "slots", 1), sched.NewRand(s, "fails")
	for range 3 {
		w.Go("request", func() {
			w.NoError(slots.Acquire(nil, 1))
			if fails.IntN(2) == 1 && !fixed {
				return
			}
			slots.Release(1)
		})
	}
}
