package check

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

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
	orbits    *orbits
	seen      []uint64 // hashes of its successors so far
	err       error
	taken     []int64
	fresh     []int64
	rec       *recorder
	emit      func(c *eval.Ctx) bool
	batch     batch
	slab      []value.Value // memory for states to come
	slabs     int           // how many states the last one had room for
}

func (s *search) newWorker(i int) *worker {
	w := &worker{s: s, c: s.newCtx(), side: s.newCtx(), cur: node{id: noState}, mixed: make([]uint64, len(s.m.Prog.Vars)), orbits: newOrbits(s.m.perms)}
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
	if s.batched() {
		w.batch = newBatch(len(s.m.Prog.Vars))
		if len(s.m.perms) == 0 && s.opt.Mode != Simulate {
			w.c.Postpone()
		}
	}
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
	for !w.s.halted() && !w.s.pause.Load() {
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
	for !w.s.halted() && !w.s.pause.Load() {
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
	switch {
	case w.s.bounded():
		w.s.mu.Lock()
		w.s.stopped, w.s.exit = true, true
		w.s.mu.Unlock()
	case w.s.opt.Checkpoint != "" && w.s.opt.CheckpointEvery > 0 && time.Now().After(w.s.nextSave):
		w.s.pause.Store(true)
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
	c.Fix()
	if w.rec != nil {
		if err := w.rec.begin(c, n); err != nil {
			s.report(&finding{verdict: Fault, err: err, from: n.id, id: n.id})
			return false
		}
	}
	err := s.m.next.Each(c, w.emit)
	if !w.settle() {
		return false
	}
	if err != nil {
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
	raw, changed, ok := w.hashStep(c)
	if !ok {
		_, ok := w.complete(c.Next)
		return !ok
	}
	if w.s.repeats && w.repeated(raw) {
		return false
	}
	if w.batch.list != nil {
		w.batch.add(c, w.orbits.least(c, raw), changed)
		return w.batch.full() && !w.settle()
	}
	in := w.stepInModel(c)
	if w.err != nil {
		s.report(&finding{verdict: Fault, err: w.err, from: w.cur.id, id: w.cur.id})
		return true
	}
	id, fresh := noState, true
	if in {
		fp, err := w.fingerprint(c, raw)
		if err != nil {
			w.err = err
			s.report(&finding{verdict: Fault, err: err, from: w.cur.id, id: w.cur.id})
			return true
		}
		id, fresh = s.table.insert(fp, w.cur.id)
	}
	if fresh {
		if !w.found(c.Next, changed, c.Action, id, in) {
			return true
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

// found checks a new state, and keeps it when it is one of the model. It reports false when an invariant fails.
// Next has the values of the variables that changed.
func (w *worker) found(next []value.Value, changed eval.Vars, action int, id uint32, in bool) bool {
	vals := w.room(len(next))
	copy(vals, w.cur.vals)
	for i, v := range next {
		if !changed.Has(i) {
			continue
		}
		if p, ok := v.(*value.Pending); ok {
			v = w.s.spill.codec.Make(p)
		}
		vals[i] = v
	}
	w.fresh[action+1]++
	w.side.Level = w.s.level + 1
	w.side.Action = action
	if !w.invariants(vals, id, w.cur.id, w.s.m.invariants, changed) {
		return false
	}
	if in {
		w.push(node{vals, id})
	}
	return true
}

// maxRoom is the number of states whose values are allocated together.
const maxRoom = 256

// room returns memory for the values of a state.
func (w *worker) room(n int) []value.Value {
	if len(w.slab) < n {
		w.slabs = min(2*w.slabs+1, maxRoom)
		w.slab = make([]value.Value, w.slabs*n)
	}
	vals := w.slab[:n:n]
	w.slab = w.slab[n:]
	return vals
}

// hashStep hashes the values of the next state of c, whatever the view and the symmetry: those that are not the values of
// the state being expanded, which are the variables that changed. It reports false when a variable has no value.
func (w *worker) hashStep(c *eval.Ctx) (h uint64, changed eval.Vars, ok bool) {
	if !w.mixedCur {
		for i, v := range w.cur.vals {
			w.mixed[i] = mixVar(i, v.Hash())
		}
		w.mixedCur = true
		w.seen = w.seen[:0]
		w.orbits.forget()
	}
	cur := w.cur.vals
	for i, v := range c.Next {
		switch {
		case v == nil:
			return 0, 0, false
		case value.Same(v, cur[i]):
			h += w.mixed[i]
		default:
			h += mixVar(i, v.Hash())
			changed |= eval.VarSet(i)
		}
	}
	return h, changed, true
}

// maxSeen bounds how many successors of a state are remembered while it is expanded.
const maxSeen = 64

// repeated reports whether the state being expanded had this successor before: then everything about
// the step is known, whichever action takes it.
func (w *worker) repeated(raw uint64) bool {
	if slices.Contains(w.seen, raw) {
		return true
	}
	if len(w.seen) < maxSeen {
		w.seen = append(w.seen, raw)
	}
	return false
}

// fingerprint is the hash under which the next state of c is kept.
func (w *worker) fingerprint(c *eval.Ctx, raw uint64) (uint64, error) {
	if w.s.m.view != nil {
		return w.s.fingerprint(w.side, c.Next)
	}
	return w.orbits.least(c, raw), nil
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

// changed returns the variables whose values are not those of the state before.
func changed(before, vals []value.Value) (out eval.Vars) {
	for i, v := range vals {
		if v != before[i] {
			out |= eval.VarSet(i)
		}
	}
	return out
}

// invariants checks predicates of a state and reports the first that fails. Changed are the variables that differ from a
// state in which all of them hold.
func (w *worker) invariants(vals []value.Value, id, from uint32, list []named, changed eval.Vars) bool {
	w.side.Cur = vals
	w.side.Fix()
	defer w.side.Free()
	for i := range list {
		ok, err := list[i].parts.Hold(w.side, changed)
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
	if len(w.s.m.stepProps) == 0 {
		return true
	}
	c.FixNext()
	defer c.FreeNext()
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
