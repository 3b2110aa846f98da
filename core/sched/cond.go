package sched

import (
	"sync"
	"sync/atomic"
)

// Cond is a condition variable over a Mutex. Waiters are signalled in the order in which they began to wait,
// as the standard library does. There are no spurious wake-ups, but somebody else may take the mutex first, so Wait
// belongs in a loop that tests the condition.
type Cond struct {
	h *Hook
	// waiting counts the waiters of the real runtime that nobody has signalled. A waiter counts itself before it frees the mutex, so
	// whoever changed the condition after that sees it; a signal for nobody is one load, of the memory beside h. The signal, not the
	// waiter, takes the count back: until a signalled waiter runs, further signals are for nobody.
	waiting atomic.Int32
	m       *Mutex
	// mu guards q.
	mu sync.Mutex
	q  waitQueue
	// free are waiters of the real runtime to use again, guarded by m: as many as ever waited at once.
	free *Waiter
}

// NewCond returns a condition whose waiters hold m.
func NewCond(s Scheduler, name string, m *Mutex) (c Cond) {
	c.h = s.object(KindCond, name, 0)
	c.m = m
	return
}

// Wait frees the mutex, waits for a signal and takes the mutex again. Its wait has no bound of its own.
func (c *Cond) Wait() {
	if c.h != nil {
		c.wait()
		return
	}
	w := c.free
	if w == nil {
		w = newWaiter()
	} else {
		c.free = w.next
	}
	c.mu.Lock()
	c.q.push(w)
	c.waiting.Add(1)
	c.mu.Unlock()
	c.m.mu.Unlock()
	<-w.C
	c.m.mu.Lock()
	w.next, c.free = c.free, w
}

// Signal wakes the longest waiter, if there is one.
func (c *Cond) Signal() {
	if c.h != nil || c.waiting.Load() != 0 {
		c.signal()
	}
}

// Broadcast wakes every waiter.
func (c *Cond) Broadcast() {
	if c.h != nil || c.waiting.Load() != 0 {
		c.broadcast()
	}
}

// wait queues the caller and frees the mutex in one step, as the standard library's ticket does: a signal
// given after the mutex was freed cannot be missed.
func (c *Cond) wait() {
	w := newWaiter()
	c.h.B.Point(c.h, OpRegister)
	c.mu.Lock()
	c.q.push(w)
	c.mu.Unlock()
	c.h.B.Outcome(c.h, OpRegister, 1)
	c.m.mu.Unlock()
	c.m.h.B.Outcome(c.m.h, OpUnlock, 1)
	c.h.B.Block(Arm{H: c.h, Op: OpWait, W: w})
	c.h.B.Outcome(c.h, OpWait, 1)
	c.m.lock()
}

func (c *Cond) signal() {
	if c.h == nil {
		c.mu.Lock()
		if c.q.wakeFirst(nil) {
			c.waiting.Add(-1)
		}
		c.mu.Unlock()
		return
	}
	c.h.B.Point(c.h, OpSignal)
	c.mu.Lock()
	woken := c.q.wakeFirst(c.h)
	c.mu.Unlock()
	c.h.B.Outcome(c.h, OpSignal, bit(woken))
}

func (c *Cond) broadcast() {
	if c.h == nil {
		c.mu.Lock()
		c.waiting.Add(-int32(c.q.wakeAll(nil))) //nolint:gosec // waiters are tasks
		c.mu.Unlock()
		return
	}
	c.h.B.Point(c.h, OpBroadcast)
	c.mu.Lock()
	n := c.q.wakeAll(c.h)
	c.mu.Unlock()
	c.h.B.Outcome(c.h, OpBroadcast, uint64(n))
}
