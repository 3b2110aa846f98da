package sim

// randomWalk chooses uniformly: the control that every other strategy is measured against.
type randomWalk struct{ rng rng }

func (s *randomWalk) begin(w *World, seed uint64) {
	s.rng = rng{seed}
	w.random = &s.rng
}

func (s *randomWalk) pick(_ *World, n int) int { return s.rng.below(n) }

func (s *randomWalk) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }
