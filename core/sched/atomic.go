package sched

import "sync/atomic"

// Every method of an atomic is split in two: the inlinable part checks for a hook, the outlined part
// announces the operation, executes it and reports its result. Splitting keeps the real path at the cost of the
// bare atomic and one predictable branch.

// Bool is an atomic flag.
type Bool struct {
	h *Hook
	v atomic.Uint32 // 0 or 1: inlines better than atomic.Bool
}

// NewBool returns a flag with value init.
func NewBool(s Scheduler, name string, init bool) (x Bool) {
	x.h = s.object(KindAtomic, name, 0)
	x.v.Store(bit32(init))
	return
}

// Load returns the value.
func (x *Bool) Load() bool {
	if x.h != nil {
		return x.load()
	}
	return x.v.Load() != 0
}

// Store sets the value.
func (x *Bool) Store(v bool) {
	if x.h != nil {
		x.store(v)
		return
	}
	x.v.Store(bit32(v))
}

// Swap sets the value and returns the previous one.
func (x *Bool) Swap(v bool) bool {
	if x.h != nil {
		return x.swap(v)
	}
	return x.v.Swap(bit32(v)) != 0
}

// CompareAndSwap sets the value to v if it is old, and reports whether it did.
func (x *Bool) CompareAndSwap(old, v bool) bool {
	if x.h != nil {
		return x.cas(old, v)
	}
	return x.v.CompareAndSwap(bit32(old), bit32(v))
}

// Peek returns the value without announcing a read. For invariants only.
func (x *Bool) Peek() bool { return x.v.Load() != 0 }

func (x *Bool) load() bool {
	x.h.B.Point(x.h, OpLoad)
	v := x.v.Load()
	x.h.B.Outcome(x.h, OpLoad, uint64(v))
	return v != 0
}

func (x *Bool) store(v bool) {
	x.h.B.Point(x.h, OpStore)
	if x.h.Delayed {
		delay(x.h, bit32(v), x.v.Swap)
	} else {
		x.v.Store(bit32(v))
	}
	x.h.B.Outcome(x.h, OpStore, bit(v))
}

func (x *Bool) swap(v bool) bool {
	x.h.B.Point(x.h, OpSwap)
	old := x.v.Swap(bit32(v))
	x.h.B.Outcome(x.h, OpSwap, uint64(old))
	return old != 0
}

func (x *Bool) cas(old, v bool) bool {
	x.h.B.Point(x.h, OpCAS)
	ok := x.v.CompareAndSwap(bit32(old), bit32(v))
	x.h.B.Outcome(x.h, OpCAS, bit(ok))
	return ok
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func bit32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
