package bench

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// runtimeSched is the scheduler of every right-hand side.
var runtimeSched sched.Scheduler

// loadExtra is the bar of a lone atomic load, in nanoseconds.
const loadExtra = 0.3

func atomics() []Pair {
	return []Pair{
		{Name: "uint64 load", MaxExtra: loadExtra, Bare: bareLoad, Ours: ourLoad},
		{Name: "uint64 store", Bare: bareStore, Ours: ourStore},
		{Name: "uint64 add", Bare: bareAdd, Ours: ourAdd},
		{Name: "uint64 compare-and-swap", Bare: bareCAS, Ours: ourCAS},
		{Name: "int64 load", MaxExtra: loadExtra, Bare: bareInt64, Ours: ourInt64},
		{Name: "int32 load", MaxExtra: loadExtra, Bare: bareInt32, Ours: ourInt32},
		{Name: "uint32 load", MaxExtra: loadExtra, Bare: bareLoad32, Ours: ourLoad32},
		{Name: "uint32 add", Bare: bareUint32, Ours: ourUint32},
		{Name: "bool load", MaxExtra: loadExtra, Bare: bareBool, Ours: ourBool},
		{Name: "pointer load", MaxExtra: loadExtra, Bare: barePointer, Ours: ourPointer},
		{Name: "publication observe", Bare: barePointer, Ours: ourObserve},
		{Name: "publication update / load, new value, compare-and-swap", Bare: bareUpdate, Ours: ourUpdate},
		{Name: "write-once get", Bare: barePointer, Ours: ourWriteOnce},
		{Name: "cell view and edit", Bare: bareCell, Ours: ourCell},
		{Name: "random", Bare: bareRand, Ours: ourRand},
		{Name: "now", Bare: bareNow, Ours: ourNow},
	}
}

func bareLoad() Loop {
	x := new(atomic.Uint64)
	return func(n int) (s uint64) {
		for range n {
			s += x.Load()
		}
		return s
	}
}

func ourLoad() Loop {
	v := sched.NewUint64(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += x.Load()
		}
		return s
	}
}

func bareStore() Loop {
	x := new(atomic.Uint64)
	return func(n int) uint64 {
		for i := range n {
			x.Store(uint64(i))
		}
		return x.Load()
	}
}

func ourStore() Loop {
	v := sched.NewUint64(runtimeSched, "x", 0)
	x := &v
	return func(n int) uint64 {
		for i := range n {
			x.Store(uint64(i))
		}
		return x.Load()
	}
}

func bareAdd() Loop {
	x := new(atomic.Uint64)
	return func(n int) (s uint64) {
		for range n {
			s += x.Add(1)
		}
		return s
	}
}

func ourAdd() Loop {
	v := sched.NewUint64(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += x.Add(1)
		}
		return s
	}
}

func bareCAS() Loop {
	x := new(atomic.Uint64)
	return func(n int) uint64 {
		for i := range n {
			x.CompareAndSwap(uint64(i), uint64(i)+1)
		}
		return x.Load()
	}
}

func ourCAS() Loop {
	v := sched.NewUint64(runtimeSched, "x", 0)
	x := &v
	return func(n int) uint64 {
		for i := range n {
			x.CompareAndSwap(uint64(i), uint64(i)+1)
		}
		return x.Load()
	}
}

func bareInt64() Loop {
	x := new(atomic.Int64)
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func ourInt64() Loop {
	v := sched.NewInt64(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func bareUint32() Loop {
	x := new(atomic.Uint32)
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Add(1))
		}
		return s
	}
}

func ourUint32() Loop {
	v := sched.NewUint32(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Add(1))
		}
		return s
	}
}

func bareBool() Loop {
	x := new(atomic.Bool)
	return func(n int) (s uint64) {
		for range n {
			if !x.Load() {
				s++
			}
		}
		return s
	}
}

func ourBool() Loop {
	v := sched.NewBool(runtimeSched, "x", false)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			if !x.Load() {
				s++
			}
		}
		return s
	}
}

func barePointer() Loop {
	x := new(atomic.Pointer[uint64])
	x.Store(new(uint64))
	return func(n int) (s uint64) {
		for range n {
			s += *x.Load()
		}
		return s
	}
}

func ourPointer() Loop {
	v := sched.NewPointer(runtimeSched, "x", new(uint64))
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += *x.Load()
		}
		return s
	}
}

func ourObserve() Loop {
	v := sched.NewPublication(runtimeSched, "x", new(uint64))
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += *x.Observe()
		}
		return s
	}
}

func ourWriteOnce() Loop {
	v := sched.NewWriteOnce[uint64](runtimeSched, "x")
	x := &v
	x.Set(1)
	return func(n int) (s uint64) {
		for range n {
			one, _ := x.Get()
			s += one
		}
		return s
	}
}

func bareCell() Loop {
	x := new(uint64)
	return func(n int) uint64 {
		for i := range n {
			*x += uint64(i) & 1
		}
		return *x
	}
}

func ourCell() Loop {
	v := sched.NewCell(runtimeSched, "x", uint64(0))
	x := &v
	return func(n int) uint64 {
		for i := range n {
			*x.Edit() += uint64(i) & 1
		}
		return *x.View()
	}
}

func bareRand() Loop {
	return func(n int) (s uint64) {
		for range n {
			s += rand.Uint64()
		}
		return s
	}
}

func ourRand() Loop {
	v := sched.NewRand(runtimeSched, "x")
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += x.Uint64()
		}
		return s
	}
}

func bareNow() Loop {
	return func(n int) (s uint64) {
		for range n {
			s += uint64(time.Now().Nanosecond())
		}
		return s
	}
}

func ourNow() Loop {
	return func(n int) (s uint64) {
		for range n {
			s += uint64(runtimeSched.Now().Nanosecond())
		}
		return s
	}
}

func bareInt32() Loop {
	x := new(atomic.Int32)
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func ourInt32() Loop {
	v := sched.NewInt32(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func bareLoad32() Loop {
	x := new(atomic.Uint32)
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func ourLoad32() Loop {
	v := sched.NewUint32(runtimeSched, "x", 0)
	x := &v
	return func(n int) (s uint64) {
		for range n {
			s += uint64(x.Load())
		}
		return s
	}
}

func next(v *uint64) *uint64 {
	w := *v + 1
	return &w
}

func bareUpdate() Loop {
	x := new(atomic.Pointer[uint64])
	x.Store(new(uint64))
	return func(n int) uint64 {
		for range n {
			for {
				old := x.Load()
				if x.CompareAndSwap(old, next(old)) {
					break
				}
			}
		}
		return *x.Load()
	}
}

func ourUpdate() Loop {
	v := sched.NewPublication(runtimeSched, "x", new(uint64))
	x := &v
	return func(n int) uint64 {
		for range n {
			x.Update(next)
		}
		return *x.Observe()
	}
}
