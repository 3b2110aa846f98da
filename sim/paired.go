package sim

import "github.com/millrace-dev/millrace/core/sched"

// opName names an operation; 0 is what left the object in its initial state.
type opName = uint64

// pair is a read and where its value came from.
type pair struct{ write, read opName }

// hash names a pair, in every process alike.
func (p pair) hash() uint64 { return mix(p.write, p.read, 0) }

// pairs notes which pairs of write and read executions showed.
type pairs struct {
	seen map[pair]struct{}

	// One execution.
	keys  keys
	tasks []uint64 // names by task id
	last  []opName // write of each object, by id
}

func newPairs() *pairs { return &pairs{seen: map[pair]struct{}{}} }

// forget begins an execution.
func (s *pairs) forget() { s.keys, s.tasks, s.last = s.keys[:0], s.tasks[:0], s.last[:0] }

// nameOf names t's announced operation.
func (s *pairs) nameOf(t *task) opName {
	for int(t.id) >= len(s.tasks) {
		s.tasks = append(s.tasks, 0)
	}
	if s.tasks[t.id] == 0 {
		s.tasks[t.id] = hashText(7, t.name)
	}
	return mix(s.tasks[t.id], uint64(t.op), s.keys.of(t.h)) | 1
}

func (s *pairs) lastWrite(id uint32) *opName {
	for int(id) >= len(s.last) {
		s.last = append(s.last, 0)
	}
	return &s.last[id]
}

// step takes in that t performs its operation on an object. It returns the operation with the write before it, whether it took that
// one's value, and whether it is the first of all executions that did.
func (s *pairs) step(t *task) (p pair, took, fresh bool) {
	last := s.lastWrite(t.h.ID)
	p, took = pair{*last, s.nameOf(t)}, t.op != sched.OpStore
	if _, again := s.seen[p]; took && !again {
		s.seen[p], fresh = struct{}{}, true
	}
	if !readsOnly(t.op) {
		*last = p.read
	}
	return p, took, fresh
}

// paired lets another strategy choose and notes its executions' pairs, as rff does for itself.
type paired struct {
	strategy
	pairs *pairs
	all   bool // the strategy wants to see points with one candidate
}

// pairing returns the strategy, and where the pairs of write and read gather: nil when nobody asked for them.
func pairing(s strategy, o *options) (strategy, *pairs) {
	if x, ok := s.(*rff); ok {
		return s, x.pairs
	}
	if !o.pairs {
		return s, nil
	}
	x := newPairs()
	return &paired{strategy: s, pairs: x}, x
}

func (s *paired) begin(w *World, seed uint64) {
	s.pairs.forget()
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
		if t := w.candidate(i); t != nil && t.h != nil {
			s.pairs.step(t)
		}
	}
	return i
}
