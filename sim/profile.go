package sim

import (
	"cmp"
	"slices"
)

// profile is what one random execution did, by keys that are the same in other executions: what surw weighs tasks by.
type profile struct {
	ops      map[uint64]map[uint64]int // task → object → operations
	wrote    map[uint64]bool           // objects that some operation may change
	children map[uint64][]uint64
	shared   []share // in the order of their keys
	total    int     // operations on them
}

// share is an object that several tasks used.
type share struct {
	object uint64
	ops    int
}

func newProfile() *profile {
	return &profile{ops: map[uint64]map[uint64]int{}, wrote: map[uint64]bool{}, children: map[uint64][]uint64{}}
}

func (p *profile) count(t *task, object uint64) {
	m := p.ops[t.key]
	if m == nil {
		m = map[uint64]int{}
		p.ops[t.key] = m
	}
	m[object]++
	if t.h != nil && !readsOnly(t.op) {
		p.wrote[object] = true
	}
}

// finish finds the objects that several tasks used and one of them changed: only there the order can matter.
func (p *profile) finish() {
	users, ops := map[uint64]int{}, map[uint64]int{}
	for _, m := range p.ops { //order:sums
		for o, n := range m { //order:sums
			users[o]++
			ops[o] += n
		}
	}
	for o, n := range users {
		if n > 1 && p.wrote[o] {
			p.shared = append(p.shared, share{o, ops[o]})
			p.total += ops[o]
		}
	}
	slices.SortFunc(p.shared, func(a, b share) int {
		return cmp.Compare(a.object, b.object)
	})
}

// draw draws a shared object by how often it was used, or 0 when there is none.
func (p *profile) draw(r *rng) uint64 {
	if p.total == 0 {
		return 0
	}
	k := r.below(p.total)
	for _, o := range p.shared {
		if k -= o.ops; k < 0 {
			return o.object
		}
	}
	return 0
}

// weight is the number of operations, on one object or on all, of a task and of those it starts.
func (p *profile) weight(key, object uint64, all bool) int {
	n := 0
	for o, k := range p.ops[key] { //order:sums
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
