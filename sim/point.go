package sim

import (
	"math/bits"
	"runtime"
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// Point lets the strategy choose who goes on. When it returns, the caller is chosen.
func (b *backend) Point(h *sched.Hook, op sched.Op) {
	w := (*World)(b)
	if w.alert {
		w.attend(h, op)
	}
	t := w.current
	t.op, t.h = op, h
	if !w.quick || len(w.open) > 0 || w.steps >= w.limit {
		w.proceed(t)
		return
	}
	// The random walk among plain candidates, of which t is one: what pick would do, without the call.
	w.steps++
	if n := len(w.ready); n > 1 {
		next := w.ready[w.random.below(n)]
		if n > manyCandidates {
			w.foresee(n)
		}
		if len(w.schedule) == cap(w.schedule) {
			w.widen()
		}
		w.schedule = w.schedule[:len(w.schedule)+1]
		w.schedule[len(w.schedule)-1] = next.id
		if next != t {
			w.yieldTo(t, next)
		}
	}
}

// manyCandidates is from when on parked tasks do not stay in the caches next to the core.
const manyCandidates = 64

// foresee fetches what the two points to come will touch if they have as many candidates: the task of the one after the next, and
// the stack of the next, whose task was fetched a point ago. With a thousand tasks a point is half as long.
//
//go:noinline
func (w *World) foresee(n int) {
	i, _ := bits.Mul64(w.random.next, uint64(n))
	j, _ := bits.Mul64(w.random.after, uint64(n))
	prefetch(w.ready[j], w.ready[i].sp)
}

// widen makes room in the schedule. An append within Point would leave its arguments in the frame of every parked task.
//
//go:noinline
func (w *World) widen() { w.schedule = slices.Grow(w.schedule, len(w.schedule)+64) }

// attend is the part of a point that few executions need: unwinding, tracing, footprints, invariants.
func (w *World) attend(h *sched.Hook, op sched.Op) {
	if w.aborting {
		runtime.Goexit()
	}
	t := w.current
	t.op, t.h = op, h
	if w.slow {
		w.arrive(t)
	}
	if w.raceFound() || len(w.invariants) > 0 && !w.holdInvariants() {
		w.yieldTo(t, nil)
	}
}
