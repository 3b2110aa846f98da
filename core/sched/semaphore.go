package sched

import (
	"fmt"
	"sync"
)

// Semaphore is a weighted semaphore. Waiters are served first in, first out; a large request is never
// overtaken by a small one that came later.
type Semaphore struct {
	h    *Hook
	mu   sync.Mutex // guards the rest
	size int64
	free int64
	q    waitQueue
}

// NewSemaphore returns a semaphore of the given size, all of it free.
func NewSemaphore(s Scheduler, name string, size int64) (x Semaphore) {
	x.h = s.object(KindSemaphore, name, int(size))
	x.size, x.free = size, size
	return
}

// Acquire takes n units, waiting for them until scope ends: then the error is its cause and nothing
// is taken. Asking for more than the size panics: it could never succeed.
func (x *Semaphore) Acquire(scope *Scope, n int64) error {
	if n > x.size {
		panic(fmt.Sprintf("sched: acquire %d of a semaphore of size %d", n, x.size))
	}
	x.point(OpAcquire)
	x.mu.Lock()
	if x.take(n) {
		x.mu.Unlock()
		x.outcome(OpAcquire, 1)
		return nil
	}
	w := newWaiter()
	w.weight = n
	x.q.push(w)
	x.mu.Unlock()
	x.outcome(OpRegister, 1)
	woken := await(x.h, OpWait, w, scope)
	if !woken {
		x.withdraw(w)
	}
	x.outcome(OpWait, bit(woken))
	if !woken {
		return scope.cause()
	}
	return nil
}

// withdraw gives up a waiter whose scope ended. When its units were granted in the same moment they go back.
func (x *Semaphore) withdraw(w *Waiter) {
	x.mu.Lock()
	if !x.q.remove(w) {
		x.free += w.weight
	}
	x.grant()
	x.mu.Unlock()
}

// TryAcquire takes n units if they are free and nobody waits, and reports whether it did.
func (x *Semaphore) TryAcquire(n int64) bool {
	x.point(OpAcquire)
	x.mu.Lock()
	ok := x.take(n)
	x.mu.Unlock()
	x.outcome(OpAcquire, bit(ok))
	return ok
}

// Release gives n units back. Giving back more than was taken panics.
func (x *Semaphore) Release(n int64) {
	x.point(OpRelease)
	x.mu.Lock()
	x.free += n
	over := x.free > x.size
	x.grant()
	x.mu.Unlock()
	if over {
		panic("sched: semaphore released more than was acquired")
	}
	x.outcome(OpRelease, uint64(n))
}

// Free returns the free units without announcing a read. For invariants only.
func (x *Semaphore) Free() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.free
}

func (x *Semaphore) take(n int64) bool {
	if x.q.head != nil || x.free < n {
		return false
	}
	x.free -= n
	return true
}

func (x *Semaphore) grant() {
	for w := x.q.head; w != nil && w.weight <= x.free; w = x.q.head {
		x.free -= w.weight
		x.q.wakeFirst(x.h)
	}
}

func (x *Semaphore) point(op Op) {
	if x.h != nil {
		x.h.B.Point(x.h, op)
	}
}

func (x *Semaphore) outcome(op Op, result uint64) {
	if x.h != nil {
		x.h.B.Outcome(x.h, op, result)
	}
}
