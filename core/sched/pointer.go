package sched

import (
	"sync/atomic"
	"unsafe"
)

// Pointer is an atomic pointer. Traces show only whether it is nil, never an address.
type Pointer[T any] struct {
	_ [0]*T // no conversion between pointers to different types
	c pointerCell
}

// pointerCell is a Pointer without its type: a call of a generic function costs more than inlining allows for, so
// the outlined parts are not generic.
type pointerCell struct {
	h *Hook
	v unsafe.Pointer
}

// NewPointer returns a pointer with value init.
func NewPointer[T any](s Scheduler, name string, init *T) (x Pointer[T]) {
	x.c.h = s.object(KindAtomic, name, 0)
	x.c.v = unsafe.Pointer(init)
	return
}

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	if x.c.h != nil {
		return (*T)(x.c.load())
	}
	return (*T)(atomic.LoadPointer(&x.c.v))
}

// Store sets the pointer.
func (x *Pointer[T]) Store(p *T) {
	if x.c.h != nil {
		x.c.store(unsafe.Pointer(p))
		return
	}
	atomic.StorePointer(&x.c.v, unsafe.Pointer(p))
}

// Swap sets the pointer and returns the previous one.
func (x *Pointer[T]) Swap(p *T) *T {
	if x.c.h != nil {
		return (*T)(x.c.swap(unsafe.Pointer(p)))
	}
	return (*T)(atomic.SwapPointer(&x.c.v, unsafe.Pointer(p)))
}

// CompareAndSwap sets the pointer to p if it is old, and reports whether it did.
func (x *Pointer[T]) CompareAndSwap(old, p *T) bool {
	if atomic.LoadUint32(&hooked.any) != 0 {
		return x.c.cas(unsafe.Pointer(old), unsafe.Pointer(p))
	}
	return atomic.CompareAndSwapPointer(&x.c.v, unsafe.Pointer(old), unsafe.Pointer(p))
}

// Peek returns the pointer without announcing a read. For invariants only.
func (x *Pointer[T]) Peek() *T { return (*T)(atomic.LoadPointer(&x.c.v)) }

func (x *pointerCell) load() unsafe.Pointer {
	x.h.B.Point(x.h, OpLoad)
	p := atomic.LoadPointer(&x.v)
	x.h.B.Outcome(x.h, OpLoad, bit(p != nil))
	return p
}

func (x *pointerCell) store(p unsafe.Pointer) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, p, func(p unsafe.Pointer) unsafe.Pointer { return atomic.SwapPointer(&x.v, p) })
	} else {
		atomic.StorePointer(&x.v, p)
	}
	x.h.B.Outcome(x.h, OpStore, bit(p != nil))
}

func (x *pointerCell) swap(p unsafe.Pointer) unsafe.Pointer {
	x.h.B.Point(x.h, OpSwap)
	old := atomic.SwapPointer(&x.v, p)
	x.h.B.Outcome(x.h, OpSwap, bit(old != nil))
	return old
}

func (x *pointerCell) cas(old, p unsafe.Pointer) bool {
	if x.h == nil {
		return atomic.CompareAndSwapPointer(&x.v, old, p)
	}
	x.h.B.Point(x.h, OpCAS)
	ok := atomic.CompareAndSwapPointer(&x.v, old, p)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}

// Publication holds an immutable value that is replaced whole. Readers keep what they loaded for as long as
// they like; nobody changes a published value.
type Publication[T any] struct{ p Pointer[T] }

// NewPublication returns a publication of v, which must not be changed afterwards.
func NewPublication[T any](s Scheduler, name string, v *T) (x Publication[T]) {
	x.p.c.h = s.object(KindPublication, name, 0)
	x.p.c.v = unsafe.Pointer(v)
	return
}

// Observe returns the current value. It is one atomic load.
func (x *Publication[T]) Observe() *T {
	if x.p.c.h != nil {
		return (*T)(x.p.c.load())
	}
	return (*T)(atomic.LoadPointer(&x.p.c.v))
}

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
