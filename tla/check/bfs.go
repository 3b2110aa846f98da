package check

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// node is a state that waits to be expanded.
type node struct {
	vals []value.Value
	id   uint32
}

const chunk = 32

// breadthFirst explores level by level.
func (s *search) breadthFirst() {
	s.spill = newSpill(s)
	front := s.initial()
	if front.n > 0 {
		s.level = 1
	}
	workers := make([]*worker, s.opt.Workers)
	for i := range workers {
		workers[i] = s.newWorker(i)
	}
	for front.n > 0 && !s.halted() && s.m.next != nil {
		if s.opt.Depth > 0 && s.level >= s.opt.Depth || s.bounded() {
			s.stopped = true
			break
		}
		var at, block atomic.Int64
		var wg sync.WaitGroup
		for _, w := range workers {
			w.next, w.packed = nil, nil
			wg.Go(func() { w.level(&front, &at, &block) })
		}
		wg.Wait()
		front = s.gather(workers)
		if front.n > 0 {
			s.mu.Lock()
			s.level++
			s.mu.Unlock()
		}
	}
	s.coverage(workers)
	if err := s.spill.close(); err != nil {
		s.res.Warnings = append(s.res.Warnings, err.Error())
	}
}

// gather merges what the workers found into the next frontier.
func (s *search) gather(workers []*worker) frontier {
	var out frontier
	for _, w := range workers {
		out.live = append(out.live, w.next...)
		out.blocks = append(out.blocks, w.packed...)
		w.flush()
	}
	out.n = len(out.live)
	for _, b := range out.blocks {
		out.n += b.n
	}
	s.mu.Lock()
	s.queue = out.n
	s.mu.Unlock()
	return out
}

// bounded reports whether a bound of the options is reached.
func (s *search) bounded() bool {
	return s.opt.MaxStates > 0 && s.table.len() >= s.opt.MaxStates || s.opt.MaxTime > 0 && time.Since(s.start) > s.opt.MaxTime
}

// initial enumerates and checks the initial states.
func (s *search) initial() frontier {
	w := s.newWorker(-1)
	c := w.c
	c.Level, w.side.Level = 1, 1
	err := s.m.init.Each(c, func(c *eval.Ctx) bool {
		w.generated++
		vals, ok := w.complete(c.Cur)
		if !ok {
			return true
		}
		fresh, in := true, w.inModel(vals)
		if w.err != nil {
			s.report(&finding{verdict: Fault, err: w.err, id: noState, from: noState, last: vals})
			return true
		}
		id := noState
		if in {
			fp, err := s.fingerprint(w.side, vals)
			if err != nil {
				s.report(&finding{verdict: Fault, err: err, id: noState, from: noState, last: vals})
				return true
			}
			id, fresh = s.table.insert(fp, noState)
			if s.graph != nil && fresh {
				s.graph.init = append(s.graph.init, id)
			}
		}
		if fresh {
			if !w.invariants(vals, id, noState, s.m.invariants) || !w.invariants(vals, id, noState, s.m.initProps) {
				return true
			}
			if in {
				w.push(node{vals, id})
			}
		}
		return w.generated&1023 == 0 && s.halted()
	})
	if err != nil {
		s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
	}
	out := s.gather([]*worker{w})
	if s.found != nil {
		s.level = 1
	}
	return out
}

// worker expands states; c runs the next-state relation, side evaluates predicates of one state.
type worker struct {
	s         *search
	c, side   *eval.Ctx
	cur       node
	next      []node
	packed    []packed
	generated int64
	succ      int
	mixed     []uint64 // hashes of the variables of cur, once mixedCur says so
	mixedCur  bool
	err       error
	taken     []int64
	fresh     []int64
	rec       *recorder
	emit      func(c *eval.Ctx) bool
}

func (s *search) newWorker(i int) *worker {
	w := &worker{s: s, c: s.newCtx(), side: s.newCtx(), cur: node{id: noState}, mixed: make([]uint64, len(s.m.Prog.Vars))}
	w.c.Worker, w.side.Worker = i, i
	w.side.Regs = w.c.Regs
	if s.m.next != nil {
		w.taken = make([]int64, len(s.m.next.Infos)+1)
		w.fresh = make([]int64, len(s.m.next.Infos)+1)
		if s.opt.Coverage {
			w.c.Counts = make([]int64, len(s.m.next.Conjuncts))
		}
	}
	if s.graph != nil {
		w.rec = s.graph.recorder(s)
	}
	w.emit = w.successor
	return w
}

func (w *worker) flush() {
	w.s.mu.Lock()
	w.s.res.Generated += w.generated
	w.generated = 0
	w.s.mu.Unlock()
}

// level expands states of the frontier until none is left.
func (w *worker) level(f *frontier, at, block *atomic.Int64) {
	for !w.s.halted() {
		i := int(at.Add(chunk)) - chunk
		if i >= len(f.live) {
			break
		}
		part := f.live[i:min(i+chunk, len(f.live))]
		if !w.expandAll(part) {
			return
		}
		clear(part)
	}
	for !w.s.halted() {
		i := int(block.Add(1)) - 1
		if i >= len(f.blocks) {
			return
		}
		nodes, err := w.s.spill.unpack(f.blocks[i])
		if err != nil {
			w.s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
			return
		}
		f.blocks[i].data = nil
		if !w.expandAll(nodes) {
			return
		}
	}
}

func (w *worker) expandAll(nodes []node) bool {
	for _, n := range nodes {
		if !w.expand(n) {
			return false
		}
	}
	w.flush()
	if w.s.bounded() {
		w.s.mu.Lock()
		w.s.stopped, w.s.exit = true, true
		w.s.mu.Unlock()
	}
	return true
}

// expand generates the successors of n; it reports false when the search is over.
func (w *worker) expand(n node) bool {
	s := w.s
	c := w.c
	w.cur, w.succ, w.mixedCur = n, 0, false
	c.Cur, c.Level, c.Action = n.vals, s.level, -1
	clear(c.Next)
	if w.rec != nil {
		if err := w.rec.begin(c, n); err != nil {
			s.report(&finding{verdict: Fault, err: err, from: n.id, id: n.id})
			return false
		}
	}
	if err := s.m.next.Each(c, w.emit); err != nil {
		s.report(&finding{verdict: Fault, err: err, from: n.id, id: n.id})
		return false
	}
	if w.err != nil {
		return false
	}
	if w.rec != nil {
		w.rec.end()
	}
	if w.succ == 0 && s.deadlock() {
		s.report(&finding{verdict: Deadlock, name: "deadlock", from: n.id, id: n.id})
		return false
	}
	return true
}

// complete copies a state whose variables all have values.
func (w *worker) complete(vals []value.Value) ([]value.Value, bool) {
	for i, v := range vals {
		if v == nil {
			w.err = &eval.Error{File: w.s.m.Prog.Root.File, Pos: w.s.m.Prog.Root.P, Msg: "variable " + w.s.m.Prog.Vars[i] + " is not assigned by the initial predicate or by an action" + w.in()}
			w.s.report(&finding{verdict: Fault, err: w.err, from: w.cur.id, id: w.cur.id})
			return nil, false
		}
	}
	return append(make([]value.Value, 0, len(vals)), vals...), true
}

func (w *worker) in() string {
	if w.c.Action >= 0 {
		return " (" + w.s.actionName(w.c.Action) + ")"
	}
	return ""
}

// successor receives one successor from the next-state relation.
func (w *worker) successor(c *eval.Ctx) bool {
	s := w.s
	w.generated++
	w.succ++
	w.taken[c.Action+1]++
	for _, v := range c.Next {
		if v == nil {
			_, ok := w.complete(c.Next)
			return !ok
		}
	}
	in := w.stepInModel(c)
	if w.err != nil {
		s.report(&finding{verdict: Fault, err: w.err, from: w.cur.id, id: w.cur.id})
		return true
	}
	id, fresh := noState, true
	if in {
		fp, err := w.fingerprint(c)
		if err != nil {
			w.err = err
			s.report(&finding{verdict: Fault, err: err, from: w.cur.id, id: w.cur.id})
			return true
		}
		id, fresh = s.table.insert(fp, w.cur.id)
	}
	if fresh {
		vals := append(make([]value.Value, 0, len(c.Next)), c.Next...)
		w.fresh[c.Action+1]++
		w.side.Level = s.level + 1
		w.side.Action = c.Action
		if !w.invariants(vals, id, w.cur.id, s.m.invariants) {
			return true
		}
		if in {
			w.push(node{vals, id})
		}
	}
	if !w.steps(c, id) {
		return true
	}
	if w.rec != nil && in {
		if w.err = w.rec.edge(c, id); w.err != nil {
			s.report(&finding{verdict: Fault, err: w.err, from: w.cur.id, id: w.cur.id})
			return true
		}
	}
	return false
}

// fingerprint hashes the next state of c.
func (w *worker) fingerprint(c *eval.Ctx) (uint64, error) {
	if w.s.m.view != nil {
		return w.s.fingerprint(w.side, c.Next)
	}
	if !w.mixedCur {
		for i, v := range w.cur.vals {
			w.mixed[i] = mixVar(i, v.Hash())
		}
		w.mixedCur = true
	}
	return w.s.smallest(hashStep(w.cur.vals, c.Next, w.mixed), c.Next), nil
}

// stepInModel evaluates the constraints on a step.
func (w *worker) stepInModel(c *eval.Ctx) bool {
	for _, x := range w.s.m.actionCons {
		ok, err := x.x.Holds(c)
		if err != nil {
			w.err = err
			return false
		}
		if !ok {
			return false
		}
	}
	w.side.Level = w.s.level + 1
	return w.inModel(c.Next)
}

func (w *worker) inModel(vals []value.Value) bool {
	for _, x := range w.s.m.constraints {
		w.side.Cur = vals
		ok, err := x.x.Holds(w.side)
		if err != nil {
			w.err = err
			return false
		}
		if !ok {
			return false
		}
	}
	return true
}

// invariants checks predicates of a state and reports the first that fails.
func (w *worker) invariants(vals []value.Value, id, from uint32, list []named) bool {
	for i := range list {
		w.side.Cur = vals
		ok, err := list[i].x.Holds(w.side)
		if err == nil && ok {
			continue
		}
		f := &finding{verdict: Safety, name: list[i].name, term: &list[i].term, err: err, id: id, from: from, last: vals}
		if err != nil {
			f.verdict = Fault
		}
		w.s.report(f)
		return false
	}
	return true
}

// steps checks properties of the step in c.
func (w *worker) steps(c *eval.Ctx, id uint32) bool {
	for i := range w.s.m.stepProps {
		p := &w.s.m.stepProps[i]
		ok, err := p.x.Holds(c)
		if err == nil && ok {
			continue
		}
		f := &finding{verdict: Safety, name: p.name, term: &p.term, err: err, id: noState, from: w.cur.id, last: append([]value.Value(nil), c.Next...)}
		if err != nil {
			f.verdict = Fault
		}
		w.s.report(f)
		return false
	}
	return true
}

// coverage adds up what the workers counted.
func (s *search) coverage(workers []*worker) {
	if s.m.next == nil {
		return
	}
	for i, info := range s.m.next.Infos {
		n := Count{Name: info.Name, Place: info.File + ":" + info.Pos.String()}
		if info.Parent && !s.tookAny(workers, i+1) {
			continue
		}
		for _, w := range workers {
			n.Taken += w.taken[i+1]
			n.Distinct += w.fresh[i+1]
		}
		s.res.Actions = append(s.res.Actions, n)
	}
	for i, info := range s.m.next.Conjuncts {
		n := Count{Name: info.Name, Place: info.File + ":" + info.Pos.String()}
		for _, w := range workers {
			if w.c.Counts != nil {
				n.Taken += w.c.Counts[i]
			}
		}
		s.res.Parts = append(s.res.Parts, n)
	}
}

func (s *search) tookAny(workers []*worker, i int) bool {
	for _, w := range workers {
		if w.taken[i] > 0 {
			return true
		}
	}
	return false
}
