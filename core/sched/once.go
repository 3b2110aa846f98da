package sched

import (
	"sync"
	"sync/atomic"
)

// Once runs a function exactly once.
type Once struct {
	h    *Hook
	ran  atomic.Bool // on the real runtime: the fast path
	once sync.Once
	mu   sync.Mutex // guards the rest; only backends use it
	busy bool
	done atomic.Bool
	q    waitQueue
}

// NewOnce returns a Once that has not run.
func NewOnce(s Scheduler, name string) (o Once) {
	o.h = s.object(KindOnce, name, 0)
	return
}

// Do calls f if no call of Do has done so, and returns after that call of f returned. f must not call Do.
func (o *Once) Do(f func()) {
	if !o.ran.Load() {
		o.first(f)
	}
}

// first is outlined, so that Do costs one atomic load where f has run.
func (o *Once) first(f func()) {
	if o.h != nil {
		o.do(f)
		return
	}
	o.once.Do(f)
	o.ran.Store(true)
}

func (o *Once) do(f func()) {
	o.h.B.Point(o.h, OpOnce)
	o.mu.Lock()
	if o.done.Load() {
		o.mu.Unlock()
		o.h.B.Outcome(o.h, OpOnce, 0)
		return
	}
	if o.busy {
		w := newWaiter()
		o.q.push(w)
		o.mu.Unlock()
		o.h.B.Outcome(o.h, OpRegister, 1)
		o.h.B.Block(Arm{H: o.h, Op: OpWait, W: w})
		o.h.B.Outcome(o.h, OpWait, 1)
		return
	}
	o.busy = true
	o.mu.Unlock()
	o.h.B.Outcome(o.h, OpOnce, 1)
	defer o.finish()
	f()
}

// finish runs also when f panics: like the standard library, that counts as done.
func (o *Once) finish() {
	o.h.B.Point(o.h, OpRelease)
	o.mu.Lock()
	o.done.Store(true)
	n := o.q.wakeAll(o.h)
	o.mu.Unlock()
	o.h.B.Outcome(o.h, OpRelease, uint64(n))
}

// WriteOnce is a value that is set at most once.
type WriteOnce[T any] struct {
	h  *Hook
	mu sync.Mutex // guards q and the write
	v  atomic.Pointer[T]
	q  waitQueue
}

// NewWriteOnce returns an empty value.
func NewWriteOnce[T any](s Scheduler, name string) (o WriteOnce[T]) {
	o.h = s.object(KindWriteOnce, name, 0)
	return
}

// Set stores v and reports true if nothing was stored before.
func (o *WriteOnce[T]) Set(v T) bool {
	if o.h != nil {
		o.h.B.Point(o.h, OpSet)
	}
	o.mu.Lock()
	first := o.v.Load() == nil
	if first {
		o.v.Store(&v)
		o.q.wakeAll(o.h)
	}
	o.mu.Unlock()
	if o.h != nil {
		o.h.B.Outcome(o.h, OpSet, bit(first))
	}
	return first
}

// Get returns the value and whether it is set. It is one atomic load.
func (o *WriteOnce[T]) Get() (v T, ok bool) {
	p := o.load()
	if p == nil {
		return v, false
	}
	return *p, true
}

func (o *WriteOnce[T]) load() *T {
	if o.h == nil {
		return o.v.Load()
	}
	o.h.B.Point(o.h, OpGet)
	p := o.v.Load()
	o.h.B.Outcome(o.h, OpGet, bit(p != nil))
	return p
}

// Peek returns the value without announcing a read. For invariants only.
func (o *WriteOnce[T]) Peek() *T { return o.v.Load() }

// Wait returns the value when it is set, or the cause of scope's end.
func (o *WriteOnce[T]) Wait(scope *Scope) (v T, err error) {
	if o.h != nil {
		o.h.B.Point(o.h, OpRegister)
	}
	o.mu.Lock()
	p := o.v.Load()
	if p != nil {
		o.mu.Unlock()
		o.outcome(OpRegister, 0)
		return *p, nil
	}
	w := newWaiter()
	o.q.push(w)
	o.mu.Unlock()
	o.outcome(OpRegister, 1)
	woken := await(o.h, OpWait, w, scope)
	o.outcome(OpWait, bit(woken))
	if woken {
		return *o.v.Load(), nil
	}
	o.mu.Lock()
	o.q.remove(w)
	o.mu.Unlock()
	return v, scope.cause()
}

func (o *WriteOnce[T]) outcome(op Op, result uint64) {
	if o.h != nil {
		o.h.B.Outcome(o.h, op, result)
	}
}
