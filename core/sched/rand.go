package sched

import "math/rand/v2"

// Rand is a source of random numbers. In a simulation its draws are choices: they are recorded, replayed
// and shrunk. It is not for secrets.
type Rand struct{ h *Hook }

// NewRand returns a source.
func NewRand(s Scheduler, name string) (r Rand) {
	r.h = s.object(KindRand, name, 0)
	return
}

// Uint64 returns any 64-bit value.
func (r *Rand) Uint64() uint64 {
	if r.h != nil {
		return r.h.B.Choose(r.h, 0)
	}
	return rand.Uint64()
}

// IntN returns a number in [0,n). It panics if n is not positive.
func (r *Rand) IntN(n int) int {
	if n <= 0 {
		panic("sched: IntN of a number that is not positive")
	}
	if r.h != nil {
		return int(r.h.B.Choose(r.h, uint64(n)))
	}
	return rand.IntN(n)
}
