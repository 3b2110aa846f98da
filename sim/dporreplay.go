package sim

// replay begins a turn of which everything is known from the execution before: what it touched, too, so that footprints are
// not taken until the first turn that differs.
func (s *dpor) replay(w *World) int {
	m := s.path[s.pos]
	s.last[m.task+1], w.turn = int32(s.pos), int32(s.pos)
	s.now, s.drawn = m, 0
	s.pos++
	return m.chosen
}

// unbounded reports whether the path holds a draw that is too wide to enumerate: then no search is complete.
func (s *dpor) unbounded() bool {
	for _, m := range s.path {
		for _, d := range m.draws {
			if d.n == 0 || d.n > maxDraw {
				return true
			}
		}
	}
	return false
}

// runDown lets the clock do what it could have done while the execution ran: the timers that are left fire behind its end, each in a turn of
// its own. Nobody sees it there; but it may have come before what somebody did, the second of them, too, and only a step on the path
// races with others.
func (s *dpor) runDown(w *World) {
	for w.opts.early && !w.failed && !w.pruned && len(w.timers) > 0 {
		s.arrive(w, 0)
		m := s.path[s.pos]
		if m.chosen < 0 {
			return
		}
		s.take(w, m, nil)
		w.fireNext()
		s.finish(w)
	}
}
