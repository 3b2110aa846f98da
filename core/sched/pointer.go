package sched

import "sync/atomic"

// Pointer is an atomic pointer. Traces show only whether it is nil, never an address.
type Pointer[T any] struct {
	h *Hook
	v atomic.Pointer[T]
}

// NewPointer returns a pointer with value init.
func NewPointer[T any](s Scheduler, name string, init *T) (x Pointer[T]) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(init)
	return
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load()
}

// Store sets the pointer.
func (x *Pointer[T]) Store(p *T) {
	if x.h != nil {
		x.store(p)
		return
	}
	x.v.Store(p)
}

// Swap sets the pointer and returns the previous one.
func (x *Pointer[T]) Swap(p *T) *T {
	if x.h != nil {
		return x.swap(p)
	}
	return x.v.Swap(p)
}

// CompareAndSwap sets the pointer to p if it is old, and reports whether it did.
func (x *Pointer[T]) CompareAndSwap(old, p *T) bool {
	if x.h != nil {
		return x.cas(old, p)
	}
	return x.v.CompareAndSwap(old, p)
}

// Peek returns the pointer without announcing a read. For invariants only.
func (x *Pointer[T]) Peek() *T { return x.v.Load() }

func (x *Pointer[T]) load() *T {
	x.h.B.Point(x.h, OpLoad)
	p := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, bit(p != nil))
	return p
}

func (x *Pointer[T]) store(p *T) {
	x.h.B.Point(x.h, OpStore)
	x.v.Store(p)
	x.h.B.Outcome(x.h, OpStore, bit(p != nil))
}

func (x *Pointer[T]) swap(p *T) *T {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(p)
	x.h.B.Outcome(x.h, OpSwap, bit(old != nil))
	return old
}

func (x *Pointer[T]) cas(old, p *T) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(old, p)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}

// Publication holds an immutable value that is replaced whole. Readers keep what they loaded for as long as
// they like; nobody changes a published value.
type Publication[T any] struct{ p Pointer[T] }

// NewPublication returns a publication of v, which must not be changed afterwards.
func NewPublication[T any](s Scheduler, name string, v *T) (x Publication[T]) {
	x.p.h = s.object(KindPublication, name, 0)
	x.p.v.Store(v)
	return
}

// Observe returns the current value. It is one atomic load.
func (x *Publication[T]) Observe() *T { return x.p.Load() }

// Publish replaces the value: it becomes visible at this store.
func (x *Publication[T]) Publish(v *T) { x.p.Store(v) }

// Update replaces the value by f of it, again when somebody else published in between, and returns what it
// published. f must not change its argument; when f returns its argument nothing is published. A retry
// means that another update succeeded, so updates as a whole always progress.
func (x *Publication[T]) Update(f func(*T) *T) *T {
	for {
		old := x.p.Load()
		v := f(old)
		if v == old || x.p.CompareAndSwap(old, v) {
			return v
		}
	}
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Publication[T]) Peek() *T { return x.p.Peek() }
