package sim

// surw is the selectively uniform random walk of Zhao et al. (ASPLOS 2025). It draws one shared object for an execution and
// samples the orders of the operations on it uniformly: an intended task is drawn, weighted by how many of these
// operations each task, and what it will start, has left, and only that one may perform the next. Everything else goes by random
// priorities, one for each operation. With selective false every step counts, also one without an object (a yield, the start of a
// task): the uniform special case, URW.
//
// Both rest on counts of an earlier, random execution. Where those are wrong the walk is less uniform, never stuck: a task that
// can go on has at least one step left, whatever was counted. RESEARCH.md has what both find, beside what was published.
type surw struct {
	selective bool
	rng       rng
	profile   *profile

	object   uint64 // key of the selected object; 0: none, every step or none counts
	keys     keys
	intended *task
	weights  map[uint64]map[uint64]int // object → task → operations of it and of those it starts
}

func (s *surw) begin(w *World, seed uint64) {
	s.rng = rng{seed}
	s.object, s.intended = 0, nil
	s.keys = s.keys[:0]
	if s.selective {
		s.object = s.profile.draw(&s.rng)
	}
	w.births, w.always = s, true
}

// weight is the number of counted operations of a task and of those it starts.
func (s *surw) weight(key uint64) int {
	known := s.weights[s.object]
	if known == nil {
		if s.weights == nil {
			s.weights = map[uint64]map[uint64]int{}
		}
		known = map[uint64]int{}
		s.weights[s.object] = known
	}
	n, ok := known[key]
	if !ok {
		n = s.profile.weight(key, s.object, !s.selective)
		known[key] = n
	}
	return n
}

// born moves the new task's share of the weight from the task that started it.
func (s *surw) born(parent, t *task) {
	n := s.weight(t.key)
	t.left = n
	if parent == nil {
		return
	}
	if had := parent.left; s.intended == parent && had > 0 && s.rng.below(had) < n {
		s.intended = t // the operation that was drawn is one of the new task's
	}
	parent.left = max(parent.left-n, 0)
}

func (s *surw) pick(w *World, n int) int {
	if s.selective {
		return s.selected(w, n)
	}
	i := s.weighed(w, n)
	if t := w.candidate(i); t != nil {
		t.left = max(t.left-1, 0)
	}
	return i
}

// weighed draws a candidate by what it has left. The clock counts as one step.
func (s *surw) weighed(w *World, n int) int {
	total := 0
	for i := range n {
		total += atLeastOne(w.candidate(i))
	}
	k := s.rng.below(total)
	for i := range n {
		if k -= atLeastOne(w.candidate(i)); k < 0 {
			return i
		}
	}
	return n - 1
}

func atLeastOne(t *task) int {
	if t == nil {
		return 1
	}
	return max(t.left, 1)
}

// selected goes by priorities until it comes to a counted operation, which only the intended task may perform.
func (s *surw) selected(w *World, n int) int {
	if s.intended != nil && s.intended.state >= ended {
		s.intended = nil
	}
	for range 3 { // without an intended task, with one that waits, with one that can go on
		i, t := s.highest(w, n)
		switch {
		case i < 0: // the intended task waits for one of these
			s.intended = s.pending(w, n)
		case !s.counted(t):
			t.prio = 0
			return i
		case s.intended == nil:
			s.intended = s.drafted(w)
		default:
			t.prio, t.left, s.intended = 0, max(t.left-1, 0), nil
			return i
		}
	}
	panic("sim: surw drew a task that cannot go on")
}

// counted reports whether what a task does next is one of the operations whose orders are sampled.
func (s *surw) counted(t *task) bool { return t.h != nil && s.keys.of(t.h) == s.object }

// highest is the candidate with the highest priority. Counted operations of others wait for the intended task.
func (s *surw) highest(w *World, n int) (index int, best *task) {
	index = -1
	for i := range n {
		t := w.contender(i)
		if t.prio == 0 {
			t.prio = s.rng.priority()
		}
		if (best == nil || t.prio > best.prio) && (s.intended == nil || t == s.intended || !s.counted(t)) {
			index, best = i, t
		}
	}
	return index, best
}

// pending draws, by weight, one of the candidates: all of them announced a counted operation.
func (s *surw) pending(w *World, n int) *task { return w.candidate(s.weighed(w, n)) }

// drafted draws, by weight, the task that performs the next counted operation. It may be one that waits: then the others go on until it has
// come to its turn.
func (s *surw) drafted(w *World) *task {
	total := 0
	for _, t := range w.tasks {
		total += s.chance(t)
	}
	k := s.rng.below(total)
	for _, t := range w.tasks {
		if k -= s.chance(t); k < 0 {
			return t
		}
	}
	return nil
}

func (s *surw) chance(t *task) int {
	if t.state >= ended {
		return 0
	}
	if t.left == 0 && s.counted(t) {
		return 1
	}
	return t.left
}

func (s *surw) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }
