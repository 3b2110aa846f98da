package sched

import "sync/atomic"

// Int32 is an atomic int32.
type Int32 struct {
	h *Hook
	v atomic.Int32
}

// NewInt32 returns an atomic with value init.
func NewInt32(s Scheduler, name string, init int32) (x Int32) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(init)
	return
}

// Load returns the value.
func (x *Int32) Load() int32 {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load()
}

// Store sets the value.
func (x *Int32) Store(v int32) {
	if x.h != nil {
		x.store(v)
		return
	}
	x.v.Store(v)
}

// Add adds d and returns the new value.
func (x *Int32) Add(d int32) int32 {
	if x.h != nil {
		return x.add(d)
	}
	return x.v.Add(d)
}

// Swap sets the value and returns the previous one.
func (x *Int32) Swap(v int32) int32 {
	if x.h != nil {
		return x.swap(v)
	}
	return x.v.Swap(v)
}

// CompareAndSwap sets the value to v if it is old, and reports whether it did.
func (x *Int32) CompareAndSwap(old, v int32) bool {
	if x.h != nil {
		return x.cas(old, v)
	}
	return x.v.CompareAndSwap(old, v)
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Int32) Peek() int32 { return x.v.Load() }

func (x *Int32) load() int32 {
	x.h.B.Point(x.h, OpLoad)
	v := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, uint64(v))
	return v
}

func (x *Int32) store(v int32) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, v, x.v.Swap)
	} else {
		x.v.Store(v)
	}
	x.h.B.Outcome(x.h, OpStore, uint64(v))
}

func (x *Int32) add(d int32) int32 {
	x.h.B.Point(x.h, OpAdd)
	v := x.v.Add(d)
	x.h.B.Outcome(x.h, OpAdd, uint64(v))
	return v
}

func (x *Int32) swap(v int32) int32 {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(v)
	x.h.B.Outcome(x.h, OpSwap, uint64(old))
	return old
}

func (x *Int32) cas(old, v int32) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(old, v)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}

// Uint32 is an atomic uint32.
type Uint32 struct {
	h *Hook
	v atomic.Uint32
}

// NewUint32 returns an atomic with value init.
func NewUint32(s Scheduler, name string, init uint32) (x Uint32) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(init)
	return
}

// Load returns the value.
func (x *Uint32) Load() uint32 {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load()
}

// Store sets the value.
func (x *Uint32) Store(v uint32) {
	if x.h != nil {
		x.store(v)
		return
	}
	x.v.Store(v)
}

// Add adds d and returns the new value.
func (x *Uint32) Add(d uint32) uint32 {
	if x.h != nil {
		return x.add(d)
	}
	return x.v.Add(d)
}

// Swap sets the value and returns the previous one.
func (x *Uint32) Swap(v uint32) uint32 {
	if x.h != nil {
		return x.swap(v)
	}
	return x.v.Swap(v)
}

// CompareAndSwap sets the value to v if it is old, and reports whether it did.
func (x *Uint32) CompareAndSwap(old, v uint32) bool {
	if x.h != nil {
		return x.cas(old, v)
	}
	return x.v.CompareAndSwap(old, v)
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Uint32) Peek() uint32 { return x.v.Load() }

func (x *Uint32) load() uint32 {
	x.h.B.Point(x.h, OpLoad)
	v := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, uint64(v))
	return v
}

func (x *Uint32) store(v uint32) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, v, x.v.Swap)
	} else {
		x.v.Store(v)
	}
	x.h.B.Outcome(x.h, OpStore, uint64(v))
}

func (x *Uint32) add(d uint32) uint32 {
	x.h.B.Point(x.h, OpAdd)
	v := x.v.Add(d)
	x.h.B.Outcome(x.h, OpAdd, uint64(v))
	return v
}

func (x *Uint32) swap(v uint32) uint32 {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(v)
	x.h.B.Outcome(x.h, OpSwap, uint64(old))
	return old
}

func (x *Uint32) cas(old, v uint32) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(old, v)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}
