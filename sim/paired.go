package sim

// paired lets another strategy choose and notes which pairs of write and read its executions showed, as rff does for itself.
type paired struct {
	strategy
	seen *rff
	all  bool // the strategy wants to see points with one candidate
}

// pairing returns the strategy, and where the pairs of write and read gather: nil when nobody asked for them.
func pairing(s strategy, o *options) (strategy, *rff) {
	if x, ok := s.(*rff); ok {
		return s, x
	}
	if !o.pairs {
		return s, nil
	}
	x := newRFF()
	return &paired{strategy: s, seen: x}, x
}

func (s *paired) begin(w *World, seed uint64) {
	s.seen.forget()
	s.strategy.begin(w, seed)
	s.all = w.always
	w.random, w.always = nil, true // every choice comes by here
}

func (s *paired) pick(w *World, n int) int {
	i := 0
	if n > 1 || s.all {
		i = s.strategy.pick(w, n)
	}
	if i >= 0 {
		if t := w.candidate(i); t != nil {
			s.seen.step(t)
		}
	}
	return i
}

// forget begins an execution without constraints.
func (s *rff) forget() {
	s.fresh = false
	s.keys = s.keys[:0]
	s.tasks, s.last = s.tasks[:0], s.last[:0]
}

// hash names a pair, in every process alike.
func (p pair) hash() uint64 { return mix(p.write, p.read, 0) }
