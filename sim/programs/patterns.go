package programs

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// Pattern is one way in which Go programs share state wrongly, and the same program as it should be. The families are those of
// the published studies of concurrency bugs in Go: blocking on locks, on channels, on both, on groups and conditions; and not
// blocking: races of captured variables, of the order of initialization, of select.
type Pattern struct {
	Name       string
	Verdict    string // of the wrong program
	Bug, Fixed Body
}

// Patterns returns all of them.
func Patterns() []Pattern {
	both := func(name, verdict string, body func(w *sim.World, fixed bool)) Pattern {
		return Pattern{name, verdict, func(w *sim.World) { body(w, false) }, func(w *sim.World) { body(w, true) }}
	}
	return []Pattern{
		both("double lock", "deadlock m", doubleLock),
		both("AB-BA", "deadlock b", crossing),
		both("read-write-read lock", "deadlock rw", readWriteRead),
		both("write under a read lock", "race table", writeUnderReadLock),
		both("channel with lock", "deadlock results", channelWithLock),
		both("send after the receiver left", "leak result", abandonedSend),
		both("context and channel", "leak out", contextAndChannel),
		both("receive from a channel that nobody closes", "deadlock jobs", missingClose),
		both("send on a closed channel", "panic send", sendOnClosed),
		both("close twice", "panic close", closeTwice),
		both("select prefers nothing", "assertion after-stop", selectAfterStop),
		both("condition read before it is guarded", "deadlock changed", missedSignal),
		both("signal for many", "deadlock changed", signalForMany),
		both("if instead of for", "assertion taken", ifInsteadOfFor),
		both("group counted inside the task", "assertion early", groupAddInside),
		both("group waited for in the loop", "deadlock group", groupWaitInLoop),
		both("captured loop variable", "race i", capturedVariable),
		both("flag before value", "race value", flagBeforeValue),
		both("task before its state", "assertion unset", taskBeforeState),
		both("slot kept on an error", "deadlock slots", slotKept),
	}
}

func doubleLock(w *sim.World, fixed bool) {
	m, n := sched.NewMutex(w.Scheduler(), "m"), 0
	length := func() int {
		if !fixed {
			m.Lock()
			defer m.Unlock()
		}
		return n
	}
	w.Go("add", func() {
		m.Lock()
		defer m.Unlock()
		n = length() + 1
	})
}

func crossing(w *sim.World, fixed bool) {
	if !fixed {
		AcrossLocks(w)
		return
	}
	s := w.Scheduler()
	a, b := sched.NewMutex(s, "a"), sched.NewMutex(s, "b")
	for range 2 {
		w.Go("a then b", func() {
			a.Lock()
			defer a.Unlock()
			b.Lock()
			defer b.Unlock()
		})
	}
}

// readWriteRead takes a read lock again: a writer that announced itself in between keeps it out.
func readWriteRead(w *sim.World, fixed bool) {
	rw, v := sched.NewRWMutex(w.Scheduler(), "rw"), 0
	get := func() int {
		if !fixed {
			rw.RLock()
			defer rw.RUnlock()
		}
		return v
	}
	w.Go("read", func() {
		rw.RLock()
		defer rw.RUnlock()
		w.Require(get() >= 0, "value", "a negative value")
	})
	w.Go("write", func() {
		rw.Lock()
		v++
		rw.Unlock()
	})
}

func writeUnderReadLock(w *sim.World, fixed bool) {
	s := w.Scheduler()
	rw, table := sched.NewRWMutex(s, "rw"), sched.NewCell(s, "table", map[string]int{})
	for i := range 2 {
		w.Go("cache", func() {
			if fixed {
				rw.Lock()
				defer rw.Unlock()
			} else {
				rw.RLock()
				defer rw.RUnlock()
			}
			(*table.Edit())[fmt.Sprint(i)] = i
		})
	}
}

func channelWithLock(w *sim.World, fixed bool) {
	s := w.Scheduler()
	m, results := sched.NewMutex(s, "m"), sched.NewChan[int](s, "results", 0)
	w.Go("send", func() {
		m.Lock()
		if fixed {
			m.Unlock()
			results.Send(1)
			return
		}
		results.Send(1)
		m.Unlock()
	})
	w.Go("receive", func() {
		m.Lock()
		m.Unlock() //nolint:staticcheck // the lock is what the program is about
		results.Receive()
	})
}

// abandonedSend: a request that gives up leaves its worker with a result that nobody takes.
func abandonedSend(w *sim.World, fixed bool) {
	s := w.Scheduler()
	scope := w.Scope()
	room := 0
	if fixed {
		room = 1
	}
	result := sched.NewChan[int](s, "result", room)
	limit := scope.Child("limit")
	s.Go(scope, "result", func() { result.Send(1) })
	w.Go("give up", func() { limit.Cancel(sched.ErrCanceled) })
	w.Go("wait", func() { sched.Select2(result.OnReceive(), limit.Done()) })
}

// contextAndChannel: a stage ends with its context, and the one before it does not know.
func contextAndChannel(w *sim.World, fixed bool) {
	s := w.Scheduler()
	scope := w.Scope()
	out := sched.NewChan[int](s, "out", 0)
	s.Go(scope, "out", func() {
		for i := range 2 {
			if !fixed {
				out.Send(i)
			} else if out.SendWithin(scope, i) != nil {
				return
			}
		}
	})
	w.Go("stage", func() {
		for range 2 {
			if v, _, err := out.ReceiveWithin(scope); err != nil || v == 0 {
				return // the first value was enough
			}
		}
	})
}

func missingClose(w *sim.World, fixed bool) {
	s := w.Scheduler()
	jobs, done := sched.NewChan[int](s, "jobs", 1), sched.NewWaitGroup(s, "done")
	done.Add(2)
	for range 2 {
		w.Go("produce", func() {
			jobs.Send(1)
			done.Done()
		})
	}
	w.Go("consume", func() {
		for ok := true; ok; {
			_, ok = jobs.Receive()
		}
	})
	if fixed {
		done.Wait()
		jobs.Close()
	}
}

func sendOnClosed(w *sim.World, fixed bool) {
	s := w.Scheduler()
	c, closed, sent := sched.NewChan[int](s, "c", 2), sched.NewBool(s, "closed", false), sched.NewWaitGroup(s, "sent")
	sent.Add(1)
	w.Go("send", func() {
		defer sent.Done()
		if !closed.Load() {
			c.Send(1)
		}
	})
	w.Go("end", func() {
		closed.Store(true)
		if fixed {
			sent.Wait()
		}
		c.Close()
	})
}

func closeTwice(w *sim.World, fixed bool) {
	s := w.Scheduler()
	c, closed, once := sched.NewChan[int](s, "c", 0), sched.NewBool(s, "closed", false), sched.NewOnce(s, "once")
	for range 2 {
		w.Go("close", func() {
			if fixed {
				once.Do(c.Close)
				return
			}
			if !closed.Load() {
				closed.Store(true)
				c.Close()
			}
		})
	}
}
