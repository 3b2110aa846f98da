package check

import (
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// batchSize is how many successors of a state wait to be looked up together.
const batchSize = 16

// batch holds successors that were not looked up yet. The table is far larger than any cache, so a look costs the way to
// memory; looks that do not depend on each other are on their way at the same time, if they come one right after the other, with no
// evaluation in between.
type batch struct {
	list []candidate
	n    int
}

// candidate is a successor with the action that led to it.
type candidate struct {
	vals    []value.Value   // of the variables that changed
	late    []value.Pending // what vals holds that is not made
	changed eval.Vars
	fp      uint64
	action  int
}

// batched reports whether all that a successor needs is a look at the table: nothing else is asked of the step to it.
func (s *search) batched() bool {
	m := s.m
	return s.graph == nil && s.table.live == nil && m.view == nil && len(m.stepProps)+len(m.actionCons)+len(m.constraints) == 0
}

func newBatch(vars int) batch {
	b := batch{list: make([]candidate, batchSize)}
	all := make([]value.Value, batchSize*vars)
	late := make([]value.Pending, batchSize*vars)
	for i := range b.list {
		b.list[i].vals = all[i*vars : (i+1)*vars : (i+1)*vars]
		b.list[i].late = late[i*vars : (i+1)*vars : (i+1)*vars]
	}
	return b
}

func (b *batch) full() bool { return b.n == len(b.list) }

func (b *batch) add(c *eval.Ctx, fp uint64, changed eval.Vars) {
	k := &b.list[b.n]
	for i, v := range c.Next {
		if !changed.Has(i) {
			continue
		}
		if p, ok := v.(*value.Pending); ok {
			k.late[i] = *p
			v = &k.late[i]
		}
		k.vals[i] = v
	}
	k.fp, k.action, k.changed = fp, c.Action, changed
	b.n++
}

// settle looks up what waits. It reports false when the search is over.
func (w *worker) settle() bool {
	list := w.batch.list[:w.batch.n]
	w.batch.n = 0
	for i := range list {
		w.s.table.touch(list[i].fp)
	}
	for i := range list {
		k := &list[i]
		id, fresh := w.s.table.insert(k.fp, w.cur.id)
		if fresh && (!w.found(k.vals, k.changed, k.action, id, true) || w.err != nil) {
			return false
		}
	}
	return true
}
