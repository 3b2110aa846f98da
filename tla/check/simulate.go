package check

import (
	"maps"
	"slices"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

const (
	defaultTraces = 1000
	defaultDepth  = 100
)

// simulate draws random behaviors and checks invariants and properties of steps along them.
func (s *search) simulate() {
	if s.opt.Depth == 0 {
		s.opt.Depth = defaultDepth
	}
	if s.opt.Traces == 0 {
		s.opt.Traces = defaultTraces
	}
	w := s.newWorker(0)
	inits := s.randomInits(w)
	for i := 0; i < s.opt.Traces && s.found == nil && !s.exit && len(inits) > 0 && s.m.next != nil; i++ {
		s.behavior(w, inits)
		w.flush()
		if s.bounded() {
			s.stopped = true
			break
		}
	}
	s.coverage([]*worker{w})
}

func (s *search) randomInits(w *worker) [][]value.Value {
	var out [][]value.Value
	w.c.Level, w.side.Level = 1, 1
	err := s.m.init.Each(w.c, func(c *eval.Ctx) bool {
		w.generated++
		vals, ok := w.complete(c.Cur)
		if !ok {
			return true
		}
		if !w.invariants(vals, noState, noState, s.m.invariants, eval.AllVars) || !w.invariants(vals, noState, noState, s.m.initProps, eval.AllVars) {
			return true
		}
		if w.inModel(vals) {
			out = append(out, vals)
		}
		return w.err != nil || len(out) >= value.MaxElements
	})
	if err == nil {
		err = w.err
	}
	if err != nil {
		s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
	}
	return out
}

// behavior follows one random behavior.
func (s *search) behavior(w *worker, inits [][]value.Value) {
	trace := []State{{Action: "Initial predicate", vals: inits[s.rng.intn(len(inits))]}}
	keep := func() {
		if s.found != nil && s.res.Trace == nil {
			s.res.Trace = trace
			if s.found.last != nil {
				s.res.Trace = append(s.res.Trace, s.lastState(trace, s.found.last))
				s.found.last = nil
			}
		}
	}
	defer keep()
	for len(trace) < s.opt.Depth {
		c := w.c
		c.Cur, c.Level, c.Action = trace[len(trace)-1].vals, len(trace), -1
		clear(c.Next)
		s.level = max(s.level, len(trace))
		// An action is drawn first and then one of its successors, so that an action with many
		// successors does not crowd out the others.
		picks := map[int]*pick{}
		found := false
		err := s.m.next.Each(c, func(c *eval.Ctx) bool {
			w.generated++
			w.taken[c.Action+1]++
			found = true
			if _, ok := w.complete(c.Next); !ok {
				return true
			}
			if !w.stepInModel(c) {
				return w.err != nil
			}
			p := picks[c.Action]
			if p == nil {
				p = &pick{}
				picks[c.Action] = p
			}
			if p.n++; s.rng.intn(p.n) == 0 {
				p.vals = append(p.vals[:0], c.Next...)
			}
			return false
		})
		if err == nil {
			err = w.err
		}
		if err != nil {
			s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
			return
		}
		if !found && s.deadlock() {
			s.report(&finding{verdict: Deadlock, name: "deadlock", id: noState, from: noState})
			return
		}
		picked := s.draw(picks)
		if picked == nil {
			return
		}
		c.Next = append(c.Next[:0:0], picked.vals...)
		w.side.Level = len(trace) + 1
		if !w.steps(c, noState) || !w.invariants(picked.vals, noState, noState, s.m.invariants, changed(c.Cur, picked.vals)) {
			return
		}
		trace = append(trace, *picked)
	}
}

// pick is a successor drawn uniformly from those of one action.
type pick struct {
	n    int
	vals []value.Value
}

func (s *search) draw(picks map[int]*pick) *State {
	actions := slices.Sorted(maps.Keys(picks))
	if len(actions) == 0 {
		return nil
	}
	a := actions[s.rng.intn(len(actions))]
	return &State{Action: s.actionName(a), Place: s.actionPlace(a), vals: picks[a].vals}
}

// depthFirst explores depth first up to the bound of the options.
func (s *search) depthFirst() {
	w := s.newWorker(0)
	s.level = 1
	s.spill = newSpill(s)
	defer func() {
		if err := s.spill.close(); err != nil {
			s.res.Warnings = append(s.res.Warnings, err.Error())
		}
	}()
	first, err := s.allInitial()
	if err != nil {
		s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
		return
	}
	stack := [][]node{first}
	for len(stack) > 0 && !s.halted() && s.m.next != nil {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		n := (*top)[len(*top)-1]
		*top = (*top)[:len(*top)-1]
		if s.opt.Depth > 0 && len(stack) >= s.opt.Depth || s.bounded() {
			s.stopped = true
			if s.bounded() {
				break
			}
			continue
		}
		w.next, w.packed = nil, nil
		s.level = len(stack)
		if !w.expand(n) {
			break
		}
		f := s.gather([]*worker{w})
		next, err := s.unpackAll(f)
		if err != nil {
			s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
			return
		}
		if len(next) > 0 {
			stack = append(stack, next)
		}
	}
	s.coverage([]*worker{w})
}

func (s *search) allInitial() ([]node, error) { return s.unpackAll(s.initial()) }

func (s *search) unpackAll(f frontier) ([]node, error) {
	out := f.live
	for _, b := range f.blocks {
		nodes, err := s.spill.unpack(b)
		if err != nil {
			return nil, err
		}
		out = append(out, nodes...)
	}
	return out, nil
}
