package sim

import "math/bits"

// randomWalk chooses uniformly: the control that every other strategy is measured against.
type randomWalk struct{ rng ahead }

func (s *randomWalk) begin(w *World, seed uint64) {
	s.rng.start(seed)
	w.random = &s.rng
}

func (s *randomWalk) pick(_ *World, n int) int { return s.rng.below(n) }

func (s *randomWalk) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }

// ahead is an rng that has drawn its next two values already. Whether a task goes on is a branch that no processor foresees; with the
// value at hand it is decided a few cycles into the point, and not after the multiplications of a draw. See also World.foresee.
type ahead struct {
	rng         rng
	next, after uint64
}

func (r *ahead) start(seed uint64) {
	r.rng = rng{seed}
	r.next = r.rng.next()
	r.after = r.rng.next()
}

func (r *ahead) take() uint64 {
	v := r.next
	r.next, r.after = r.after, r.rng.next()
	return v
}

func (r *ahead) below(n int) int {
	hi, _ := bits.Mul64(r.take(), uint64(n))
	return int(hi)
}

func (r *ahead) draw(n uint64) uint64 {
	if n == 0 {
		return r.take()
	}
	hi, _ := bits.Mul64(r.take(), n)
	return hi
}
