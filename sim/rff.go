package sim

import "slices"

// rff is greybox fuzzing of schedules (Wolff et al., ASPLOS 2024): partial-order sampling that is steered by constraints on
// which write a read takes its value from. A schedule that shows a pair of write and read for the first time keeps its
// constraints in the corpus; the next one mutates a member of it.
//
// Operations are named by what they are (the task's name, the operation, the object's kind and name) and not by who performs
// them, so one constraint speaks about all tasks that run the same code.
//
// What one execution does depends on those before it, so they run on one core, in order.
type rff struct {
	pos    pos
	rng    rng
	corpus []constraints
	uses   []usage // of each object, in the order of discovery
	index  map[uint64]int
	pairs  *pairs

	// One execution.
	now   constraints
	fresh bool   // it showed a new pair
	read  []bool // now[i]'s read has happened
	late  []bool // of each candidate
}

// constraint asks that a read takes its value from a write, or that it does not.
type constraint struct {
	pair
	object uint64
	not    bool
}

type constraints []constraint

// usage is the operations seen on one object.
type usage struct {
	object        uint64
	writes, reads []opName
}

const (
	rffCorpus      = 256 // kept constraint sets; later ones replace random ones
	rffConstraints = 5   // of one schedule
	rffPlain       = 10  // one in so many schedules has no constraint
)

func newRFF() *rff { return &rff{index: map[uint64]int{}, pairs: newPairs()} }

func (s *rff) begin(w *World, seed uint64) {
	if s.fresh {
		s.keep(s.now)
	}
	s.rng = rng{mix(seed, 0x5EED, 1)}
	s.pos.begin(w, seed)
	s.now = s.mutate()
	s.fresh = false
	s.pairs.forget()
	s.read = append(s.read[:0], make([]bool, len(s.now))...)
	w.always = true
}

func (s *rff) keep(c constraints) {
	if len(s.corpus) < rffCorpus {
		s.corpus = append(s.corpus, c)
		return
	}
	s.corpus[s.rng.below(rffCorpus)] = c
}

// mutate draws the next schedule's constraints.
func (s *rff) mutate() constraints {
	if len(s.uses) == 0 || s.rng.below(rffPlain) == 0 {
		return nil
	}
	var c constraints
	if n := len(s.corpus); n > 0 {
		c = slices.Clone(s.corpus[s.rng.below(n)])
	}
	i := s.rng.below(max(len(c), 1))
	switch move := s.rng.below(4); {
	case len(c) == 0 || move < 2 && len(c) < rffConstraints:
		return append(c, s.invent())
	case move == 2:
		c[i].not = !c[i].not
		return c
	case len(c) == rffConstraints || move < 2:
		c[i] = s.invent()
		return c
	default:
		return slices.Delete(c, i, i+1)
	}
}

// invent draws a constraint: also one that no execution has shown yet.
func (s *rff) invent() constraint {
	u := &s.uses[s.rng.below(len(s.uses))]
	for range len(s.uses) {
		if len(u.reads) > 0 && len(u.writes) > 0 {
			break
		}
		u = &s.uses[s.rng.below(len(s.uses))]
	}
	c := constraint{object: u.object, not: s.rng.below(2) == 0}
	if len(u.reads) > 0 {
		c.read = u.reads[s.rng.below(len(u.reads))]
	}
	if k := s.rng.below(len(u.writes) + 1); k > 0 {
		c.write = u.writes[k-1]
	}
	return c
}

func (s *rff) pick(w *World, n int) int {
	var late []bool
	if n > 1 && len(s.now) > 0 {
		late = s.late[:0]
		for i := range n {
			late = append(late, s.violates(w.candidate(i)))
		}
		s.late = late
	}
	i := s.pos.among(w, n, late)
	if t := w.candidate(i); t != nil {
		s.step(t)
	}
	return i
}

// violates reports whether t's operation would break a constraint, or take the place of one that is still to come.
func (s *rff) violates(t *task) bool {
	if t == nil || t.h == nil {
		return false
	}
	object := s.pairs.keys.of(t.h)
	for i, c := range s.now {
		if c.object != object {
			continue
		}
		last, e := *s.pairs.lastWrite(t.h.ID), s.pairs.nameOf(t)
		writes := !readsOnly(t.op)
		switch {
		case e == c.read && c.not == (last == c.write):
			return true
		case s.read[i] || !writes || e == c.read:
		case c.not && e == c.write:
			return true
		case !c.not && last == c.write && e != c.write:
			return true
		}
	}
	return false
}

// step takes in that t performs its operation.
func (s *rff) step(t *task) {
	if t.h == nil {
		return
	}
	object := s.pairs.keys.of(t.h)
	p, took, fresh := s.pairs.step(t)
	at, known := s.index[object]
	if !known {
		at = len(s.uses)
		s.index[object] = at
		s.uses = append(s.uses, usage{object: object})
	}
	u := &s.uses[at]
	if fresh {
		s.fresh = true
		u.reads = include(u.reads, p.read)
	}
	for i, c := range s.now {
		s.read[i] = s.read[i] || took && c.read == p.read
	}
	if !readsOnly(t.op) {
		u.writes = include(u.writes, p.read)
	}
}

func include(list []opName, e opName) []opName {
	if slices.Contains(list, e) {
		return list
	}
	return append(list, e)
}

func (s *rff) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }
