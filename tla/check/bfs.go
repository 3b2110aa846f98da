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
	workers := make([]*worker, s.opt.Workers)
	for i := range workers {
		workers[i] = s.newWorker(i)
	}
	front := s.first(workers)
	s.explore(workers, front)
	s.coverage(workers)
	if err := s.spill.close(); err != nil {
		s.res.Warnings = append(s.res.Warnings, err.Error())
	}
}

// first returns the states to begin with: the initial ones, or those of a checkpoint.
func (s *search) first(workers []*worker) frontier {
	if s.opt.Resume {
		front, err := s.resume(workers)
		if err != nil {
			s.report(&finding{verdict: Fault, err: err, id: noState, from: noState})
		}
		return front
	}
	front := s.initial()
	if front.n > 0 {
		s.level = 1
	}
	return front
}

// explore expands level after level. Now and then, and when a bound ends the run, it saves what is left
// of the level and what was found of the next one.
func (s *search) explore(workers []*worker, front frontier) {
	s.nextSave = time.Now().Add(s.opt.CheckpointEvery)
	for front.n > 0 && !s.halted() && s.m.next != nil {
		if s.opt.Depth > 0 && s.level >= s.opt.Depth || s.bounded() {
			s.stopped = true
			s.save(workers, front)
			return
		}
		left := s.expandLevel(workers, &front)
		if left.n > 0 && (s.stopped || !s.halted()) {
			s.save(workers, left)
			s.nextSave = time.Now().Add(s.opt.CheckpointEvery)
			s.pause.Store(false)
			front = left
			continue
		}
		front = s.gather(workers)
		if front.n > 0 {
			s.mu.Lock()
			s.level++
			s.mu.Unlock()
		}
	}
}

// expandLevel lets the workers expand a level and returns what they left when they were stopped.
func (s *search) expandLevel(workers []*worker, front *frontier) frontier {
	var at, block atomic.Int64
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.level(front, &at, &block) })
	}
	wg.Wait()
	left := frontier{
		live:   front.live[min(int(at.Load()), len(front.live)):],
		blocks: front.blocks[min(int(block.Load()), len(front.blocks)):],
	}
	left.count()
	return left
}

// gather merges what the workers found into the next frontier.
func (s *search) gather(workers []*worker) frontier {
	var out frontier
	for _, w := range workers {
		out.live = append(out.live, w.next...)
		out.blocks = append(out.blocks, w.packed...)
		w.next, w.packed = nil, nil
		w.flush()
	}
	out.count()
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
			if !w.invariants(vals, id, noState, s.m.invariants, eval.AllVars) || !w.invariants(vals, id, noState, s.m.initProps, eval.AllVars) {
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
