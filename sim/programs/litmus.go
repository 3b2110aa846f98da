package programs

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// MessagePassing stores data, then a flag; the other task reads the flag, then the data.
func MessagePassing(w *sim.World) {
	s := w.Scheduler()
	data, flag := sched.NewUint64(s, "data", 0), sched.NewUint64(s, "flag", 0)
	w.Go("writer", func() {
		data.Store(1)
		flag.Store(1)
	})
	w.Go("reader", func() {
		f := flag.Load()
		d := data.Load()
		w.Require(f == 0 || d == 1, "MP", "flag without data")
	})
}

// LoadBuffering is read y; x=1 beside read x; y=1: both cannot read 1.
func LoadBuffering(w *sim.World) {
	s := w.Scheduler()
	x, y := sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)
	var a, b uint64
	w.Go("left", func() {
		a = y.Load()
		x.Store(1)
	})
	w.Go("right", func() {
		b = x.Load()
		y.Store(1)
	})
	w.Join()
	w.Require(a+b < 2, "LB", "both tasks read the other's later store")
}

// CoherentReads is one store and two reads by another task, which never go backwards.
func CoherentReads(w *sim.World) {
	x := sched.NewUint64(w.Scheduler(), "x", 0)
	w.Go("writer", func() { x.Store(1) })
	w.Go("reader", func() {
		first := x.Load()
		second := x.Load()
		w.Require(second >= first, "CoRR", "read 1, then 0")
	})
}

// FetchAdd is n tasks that each add k times to one counter.
func FetchAdd(n, k int) Body { return Atomic(n, k) }

// Increment is n tasks that each k times load a counter and store it plus one.
func Increment(n, k int) Body {
	return tasks(n, func(w *sim.World) func() {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		return func() {
			for range k {
				x.Store(x.Load() + 1)
			}
		}
	})
}

// LoadOnly is n tasks that each load a value k times.
func LoadOnly(n, k int) Body {
	return tasks(n, func(w *sim.World) func() {
		x := sched.NewUint64(w.Scheduler(), "x", 7)
		return func() {
			for range k {
				w.Require(x.Load() == 7, "load", "the value changed")
			}
		}
	})
}
