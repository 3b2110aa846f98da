package sim

import (
	"iter"
	"slices"
)

// surw is the selectively uniform random walk of Zhao et al. (ASPLOS 2025). It picks one shared object for an execution and
// samples the orders of the operations on it uniformly: an intended task is drawn, weighted by how many of these
// operations each task, and what it will start, has left, and only that one may perform the next. Everything else is a random walk. With
// selective false every step counts, also one without an object (a yield, the start of a task): the uniform special case, URW.
//
// Both rest on counts of an earlier, random execution. Where those are wrong the walk is less uniform, never stuck.
type surw struct {
	selective bool
	rng       rng
	profile   *profile

	object   uint64 // key of the selected object
	keys     keys
	left     map[*task]int
	intended *task
}

// profile is what one execution did, by keys that are the same in other executions.
type profile struct {
	ops      map[uint64]map[uint64]int // task → object → operations
	children map[uint64][]uint64
	shared   []uint64 // objects that several tasks used
}

func newProfile() *profile {
	return &profile{ops: map[uint64]map[uint64]int{}, children: map[uint64][]uint64{}}
}

func (p *profile) count(t *task, object uint64) {
	m := p.ops[t.key]
	if m == nil {
		m = map[uint64]int{}
		p.ops[t.key] = m
	}
	m[object]++
}

// finish finds the shared objects, in an order that does not depend on map iteration.
func (p *profile) finish() {
	users := map[uint64]int{}
	for _, m := range p.ops {
		for o := range m {
			if o != 0 {
				users[o]++
			}
		}
	}
	for o, n := range users {
		if n > 1 {
			p.shared = append(p.shared, o)
		}
	}
	slices.Sort(p.shared)
}

// weight is the number of counted operations of a task and of those it starts.
func (p *profile) weight(key, object uint64, all bool) int {
	n := 0
	for o, k := range p.ops[key] {
		if all || o == object {
			n += k
		}
	}
	for _, child := range p.children[key] {
		n += p.weight(child, object, all)
	}
	return n
}

// profiler is the random walk that measures for surw.
type profiler struct {
	randomWalk
	p    *profile
	keys keys
}

func (s *profiler) begin(w *World, seed uint64) {
	s.rng.start(seed)
	s.keys = s.keys[:0]
	w.always, w.births = true, s
}

func (s *profiler) pick(w *World, n int) int {
	i := s.rng.below(n)
	if t := w.candidate(i); t != nil {
		s.p.count(t, s.keys.of(t.h))
	}
	return i
}

func (s *profiler) born(parent, t *task) {
	if parent != nil {
		s.p.children[parent.key] = append(s.p.children[parent.key], t.key)
	}
}

// measureProfile runs one random execution.
func measureProfile(id string, body func(*World), o *options) *profile {
	w := newWorld(id, body, o)
	defer w.drain()
	s := &profiler{p: newProfile()}
	execute(w, s, derive(o.seed, "profile", 0))
	s.p.finish()
	return s.p
}

func (s *surw) begin(w *World, seed uint64) {
	s.rng = rng{seed}
	s.object, s.intended = 0, nil
	s.keys = s.keys[:0]
	if n := len(s.profile.shared); n > 0 {
		s.object = s.profile.shared[s.rng.below(n)]
	}
	s.left = map[*task]int{}
	w.births, w.always = s, true
}

// born moves the new task's share of the weight from the task that started it.
func (s *surw) born(parent, t *task) {
	n := s.profile.weight(t.key, s.object, !s.selective)
	s.left[t] = n
	if parent == nil {
		return
	}
	if had := s.left[parent]; s.intended == parent && had > 0 && s.rng.below(had) < n {
		s.intended = t // the operation that was drawn is one of the new task's
	}
	s.left[parent] = max(s.left[parent]-n, 0)
}

func (s *surw) pick(w *World, n int) int {
	i := s.selected(w, n)
	if t := w.candidate(i); t != nil && s.counted(t) {
		s.left[t] = max(s.left[t]-1, 0)
		s.intended = nil
	}
	return i
}

// counted reports whether what a task does next is one of the operations whose orders are sampled.
func (s *surw) counted(t *task) bool {
	return !s.selective || t.h != nil && s.keys.of(t.h) == s.object
}

// selected is a random walk among those that may go on.
func (s *surw) selected(w *World, n int) int {
	if s.intended == nil || s.intended.state >= ended || s.left[s.intended] == 0 {
		s.intended = s.draftFrom(w, n)
	}
	allowed := 0
	for i := range n {
		if s.allowed(w.candidate(i)) {
			allowed++
		}
	}
	if allowed == 0 {
		return s.rng.below(n) // the intended task waits for one of these
	}
	k := s.rng.below(allowed)
	for i := range n {
		if s.allowed(w.candidate(i)) {
			if k == 0 {
				return i
			}
			k--
		}
	}
	return n - 1
}

func (s *surw) allowed(t *task) bool { return t == nil || t == s.intended || !s.counted(t) }

// draftFrom draws the task that performs the next counted operation. Where all steps count it is one of those that can go on. An operation
// on one object may be drawn for a task that waits: then the others go on until it has come to its turn.
func (s *surw) draftFrom(w *World, n int) *task {
	total := 0
	for t := range s.drafted(w, n) {
		total += s.left[t]
	}
	if total == 0 {
		return nil
	}
	k := s.rng.below(total)
	for t := range s.drafted(w, n) {
		if k -= s.left[t]; k < 0 {
			return t
		}
	}
	return nil
}

// drafted are the tasks that may be drawn, in an order that depends on the schedule alone.
func (s *surw) drafted(w *World, n int) iter.Seq[*task] {
	return func(yield func(*task) bool) {
		if s.selective {
			for _, t := range w.tasks {
				if t.state < ended && !yield(t) {
					return
				}
			}
			return
		}
		for i := range n {
			if t := w.candidate(i); t != nil && !yield(t) {
				return
			}
		}
	}
}

func (s *surw) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }
