package sched

import "sync/atomic"

// Int64 is an atomic int64.
type Int64 struct {
	h *Hook
	v atomic.Int64
}

// NewInt64 returns an atomic with value init.
func NewInt64(s Scheduler, name string, init int64) (x Int64) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(init)
	return
}

// Load returns the value.
func (x *Int64) Load() int64 {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load()
}

// Store sets the value.
func (x *Int64) Store(v int64) {
	if x.h != nil {
		x.store(v)
		return
	}
	x.v.Store(v)
}

// Add adds d and returns the new value.
func (x *Int64) Add(d int64) int64 {
	if x.h != nil {
		return x.add(d)
	}
	return x.v.Add(d)
}

// Swap sets the value and returns the previous one.
func (x *Int64) Swap(v int64) int64 {
	if x.h != nil {
		return x.swap(v)
	}
	return x.v.Swap(v)
}

// CompareAndSwap sets the value to v if it is old, and reports whether it did.
func (x *Int64) CompareAndSwap(old, v int64) bool {
	if x.h != nil {
		return x.cas(old, v)
	}
	return x.v.CompareAndSwap(old, v)
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Int64) Peek() int64 { return x.v.Load() }

func (x *Int64) load() int64 {
	x.h.B.Point(x.h, OpLoad)
	v := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, uint64(v))
	return v
}

func (x *Int64) store(v int64) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, v, x.v.Swap)
	} else {
		x.v.Store(v)
	}
	x.h.B.Outcome(x.h, OpStore, uint64(v))
}

func (x *Int64) add(d int64) int64 {
	x.h.B.Point(x.h, OpAdd)
	v := x.v.Add(d)
	x.h.B.Outcome(x.h, OpAdd, uint64(v))
	return v
}

func (x *Int64) swap(v int64) int64 {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(v)
	x.h.B.Outcome(x.h, OpSwap, uint64(old))
	return old
}

func (x *Int64) cas(old, v int64) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(old, v)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}

// Uint64 is an atomic uint64.
type Uint64 struct {
	h *Hook
	v atomic.Uint64
}

// NewUint64 returns an atomic with value init.
func NewUint64(s Scheduler, name string, init uint64) (x Uint64) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(init)
	return
}

// Load returns the value.
func (x *Uint64) Load() uint64 {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load()
}

// Store sets the value.
func (x *Uint64) Store(v uint64) {
	if x.h != nil {
		x.store(v)
		return
	}
	x.v.Store(v)
}

// Add adds d and returns the new value.
func (x *Uint64) Add(d uint64) uint64 {
	if x.h != nil {
		return x.add(d)
	}
	return x.v.Add(d)
}

// Swap sets the value and returns the previous one.
func (x *Uint64) Swap(v uint64) uint64 {
	if x.h != nil {
		return x.swap(v)
	}
	return x.v.Swap(v)
}

// CompareAndSwap sets the value to v if it is old, and reports whether it did.
func (x *Uint64) CompareAndSwap(old, v uint64) bool {
	if x.h != nil {
		return x.cas(old, v)
	}
	return x.v.CompareAndSwap(old, v)
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Uint64) Peek() uint64 { return x.v.Load() }

func (x *Uint64) load() uint64 {
	x.h.B.Point(x.h, OpLoad)
	v := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, uint64(v))
	return v
}

func (x *Uint64) store(v uint64) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, v, x.v.Swap)
	} else {
		x.v.Store(v)
	}
	x.h.B.Outcome(x.h, OpStore, uint64(v))
}

func (x *Uint64) add(d uint64) uint64 {
	x.h.B.Point(x.h, OpAdd)
	v := x.v.Add(d)
	x.h.B.Outcome(x.h, OpAdd, uint64(v))
	return v
}

func (x *Uint64) swap(v uint64) uint64 {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(v)
	x.h.B.Outcome(x.h, OpSwap, uint64(old))
	return old
}

func (x *Uint64) cas(old, v uint64) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(old, v)
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}
