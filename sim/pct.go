package sim

// pct is the probabilistic concurrency testing of Burckhardt et al. (2010): tasks have random priorities, the highest
// candidate runs, and at depth-1 random steps the running task drops below all that were never lowered. Which of two
// lowered tasks is the higher one is drawn with the steps: the i-th of them, in no order, gives the i-th lowest priority. A bug of
// depth d is found with probability at least 1/(n·k^(d-1)) for n tasks and k steps.
//
// The algorithm starves spin loops. Its fair fallback lowers a task, below all others, that ran for many consecutive
// choices while others could have.
type pct struct {
	depth  int
	length int // estimated choices of an execution; the first, random execution measures it
	rng    rng
	change []int
	choice int
	low    int64 // priorities handed out from the bottom
	last   *task
	stay   int // consecutive choices of a task after which it is lowered
}

// The fair fallback comes after so many choices. Where an execution may be long, a task that starts a hundred others must not be taken
// for a spin loop.
const (
	pctFairness  = 400
	pctPatience  = 1000
	pctFallbacks = 25 // the step bound allows for so many
)

func (s *pct) begin(w *World, seed uint64) {
	s.rng = rng{seed}
	s.change = s.change[:0]
	for range s.depth - 1 {
		s.change = append(s.change, s.rng.below(max(s.length, 1)))
	}
	s.choice, s.low, s.last = 0, -int64(s.depth), nil
	s.stay = max(pctFairness, min(pctPatience, w.limit/pctFallbacks))
	w.births = s
}

// born gives a new task its priority: above every lowered one.
func (s *pct) born(_, t *task) { t.prio = s.rng.priority() }

func (s *pct) pick(w *World, n int) int {
	best, index := s.highest(w, n)
	for i, at := range s.change {
		if at == s.choice {
			best.prio, best.streak = -int64(i)-1, 0
			best, index = s.highest(w, n)
		}
	}
	s.choice++
	if best == s.last {
		best.streak++
		if best.streak > s.stay {
			s.lower(best)
		}
	} else {
		best.streak = 0
	}
	s.last = best
	return index
}

func (s *pct) lower(t *task) {
	s.low--
	t.prio, t.streak = s.low, 0
}

func (s *pct) highest(w *World, n int) (best *task, index int) {
	for i := range n {
		t := w.contender(i)
		if t.prio == 0 { // the clock, which nobody started
			s.born(nil, t)
		}
		if best == nil || t.prio > best.prio {
			best, index = t, i
		}
	}
	return best, index
}

func (s *pct) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }
