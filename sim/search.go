package sim

import (
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// search visits every schedule, depth first. Sleep sets (Godefroid 1996) keep it from completing two executions
// that differ only in the order of independent steps: exactly one complete execution per Mazurkiewicz
// trace, the others end early as "pruned".
//
// Two steps are independent when their footprints do not conflict. A step's footprint is what it did, not
// what it announced, so steps that touch several objects need no special rule. Steps that change objects
// of the same owner conflict when that owner has an invariant, because the invariant sees the states in between.
type search struct {
	stack []*choicePoint // beyond its length are points to be used again
	pos   int
	last  *choicePoint // the choice whose step is running
	taken bool         // its footprint was taken: the step is over
	fresh int          // the first place on the stack from which on a step may do something else than in the execution before
	plain bool         // without sleep sets: every schedule; judges the searches in their own tests

	// With a bound, schedules that preempt more often are left out, and sleep sets are off: what they would leave out may be the
	// only one of its kind within the bound.
	preemptionBound
}

// preemptionBound lets a search leave out schedules that preempt too often.
type preemptionBound struct {
	bounded bool
	bound   int
	cut     bool // something was left out
}

// allows reports whether a schedule may preempt that often.
func (b *preemptionBound) allows(spent int) bool {
	b.cut = b.cut || b.bounded && spent > b.bound
	return !b.bounded || spent <= b.bound
}

// preempted is a choice as far as it may be a preemption.
type preempted struct {
	spent int // preemptions before
	free  int // the candidate that is no preemption, or -1: none is one
}

// price is the number of preemptions that choosing a candidate is.
func (p *preempted) price(i int) int {
	if p.free >= 0 && p.free != i {
		return 1
	}
	return 0
}

// choicePoint is one choice on the current path. Its slices are used again by the next point in its place: only deeper points,
// which are gone by then, refer to them.
type choicePoint struct {
	data  bool
	n     uint64
	value uint64
	start uint64       // the value that was tried first
	of    *choicePoint // whose step drew it first, or nil

	tasks  []int32 // candidates
	first  int     // which is tried first; the others follow in a circle
	chosen int
	asleep []sleeper // need not be tried here
	done   []sleeper // have been tried here
	drew   bool      // the chosen task's step drew a value
	busy   bool      // it touched something, whatever it drew
	foot   footprint // everything that it did, over all explored continuations and values drawn after the first
	step   footprint // what it did this time

	preempted
}

// sleeper is a task whose next step leads to nothing new until a conflicting step happens, when it draws that value.
type sleeper struct {
	id    int32
	value int64 // the first that it draws, or noValue
	of    int64 // how many there are
	foot  footprint
}

func (s *search) begin(w *World, _ uint64) {
	s.pos, s.last = 0, nil
	w.always = true
	w.footprints = s.fresh == 0 // of what is replayed they are known
}

// push returns the point of a new choice.
func (s *search) push() *choicePoint {
	s.stack = longer(s.stack)
	return s.stack[len(s.stack)-1]
}

// longer makes a list one longer. Its last element is the one that stood there before it was cut, or else a new one.
func longer[T any](list []*T) []*T {
	n := len(list)
	if n == cap(list) {
		return append(list, new(T))
	}
	if list = list[:n+1]; list[n] == nil {
		list[n] = new(T)
	}
	return list
}

func (s *search) pick(w *World, n int) int {
	s.finishStep(w)
	if s.pos == len(s.stack) {
		s.arrive(w, n)
	}
	p := s.stack[s.pos]
	if s.pos >= s.fresh {
		w.takeFootprints()
	}
	s.pos++
	if p.chosen < 0 {
		w.pruned = true
		return -1
	}
	s.last, s.taken = p, false
	return p.chosen
}

// rest begins the step of the clock, where timers may fire early and nobody else can go on: as a part of the step before, it would wake whoever
// sleeps beside that one. It reports false when it leads to nothing new. A bound counts it as no choice.
func (s *search) rest(w *World, fires bool) bool {
	return !fires || !w.opts.early || s.bounded || s.pick(w, 1) >= 0
}

// finishStep takes the footprint of the step that has just ended.
func (s *search) finishStep(w *World) {
	if s.last != nil && !s.taken && w.footprints {
		s.taken = true
		s.last.step = append(s.last.step[:0], w.foot...)
		s.last.foot = s.last.foot.union(w.foot)
		s.last.busy = s.last.busy || len(w.foot) > 0
	}
	w.foot = w.foot[:0]
}

// arrive makes the choice point of a state reached for the first time.
func (s *search) arrive(w *World, n int) {
	b := s.last
	p := s.push()
	p.data, p.drew, p.busy, p.spent, p.free = false, false, false, 0, -1
	p.tasks, p.asleep, p.done, p.foot = p.tasks[:0], p.asleep[:0], p.done[:0], p.foot[:0]
	p.first = 0
	for i := range n {
		p.tasks = append(p.tasks, candidateID(w, i))
		if t := w.candidate(i); t != nil && (t.state == fresh || t.op == sched.OpYield) {
			p.first = i // probably a step that touches nothing: see next
		}
	}
	if b != nil {
		ran := b.tasks[b.chosen]
		p.free = slices.Index(p.tasks, ran)
		p.spent = b.spent + b.price(b.chosen)
		if !s.plain {
			p.inherit(b.asleep, ran, b.step)
			p.inherit(b.done, ran, b.step)
		}
	}
	p.chosen = s.nextAwake(p)
}

// inherit keeps the sleepers asleep that the step which led here does not wake.
func (p *choicePoint) inherit(list []sleeper, ran int32, step footprint) {
	for _, x := range list {
		if x.id != ran && !x.foot.conflicts(step) {
			p.asleep = append(p.asleep, x)
		}
	}
}

// nextAwake returns the next candidate that must be tried, or -1.
func (s *search) nextAwake(p *choicePoint) int {
	for k := range p.tasks {
		i := (p.first + k) % len(p.tasks)
		switch {
		case p.rests(p.tasks[i]):
		case s.allows(p.spent + p.price(i)):
			return i
		default:
		}
	}
	return -1
}

// rests reports whether a task need not be tried with any value that it may draw.
func (p *choicePoint) rests(id int32) bool {
	n := int64(0)
	for _, list := range [2][]sleeper{p.asleep, p.done} {
		for i := range list {
			if x := &list[i]; x.id == id {
				if n++; x.value == noValue || n == x.of {
					return true
				}
			}
		}
	}
	return false
}

// dozes reports whether the chosen task need not be tried with that value.
func (p *choicePoint) dozes(value uint64) bool {
	for i := range p.asleep {
		if x := &p.asleep[i]; x.id == p.tasks[p.chosen] && x.value == int64(value) {
			return true
		}
	}
	return false
}

func (s *search) draw(_ *World, n uint64) uint64 {
	if s.pos == len(s.stack) {
		s.arriveAtDraw(n)
	}
	p := s.stack[s.pos]
	s.pos++
	return p.value
}

// arriveAtDraw makes the choice point of a value drawn for the first time.
func (s *search) arriveAtDraw(n uint64) {
	p := s.push()
	p.data, p.n, p.value, p.of = true, n, 0, nil
	if b := s.last; b != nil && !b.drew && !s.plain {
		b.drew, p.of = true, b
		for p.value+1 < min(n, maxDraw) && b.dozes(p.value) {
			p.value++
		}
	}
	p.start = p.value
}

// advance moves to the next unexplored schedule. It reports false when there is none: the search is complete.
func (s *search) advance(w *World) bool {
	s.finishStep(w)
	s.last = nil
	for len(s.stack) > 0 {
		if s.next(s.stack[len(s.stack)-1]) {
			for s.fresh = len(s.stack) - 1; s.fresh > 0 && s.stack[s.fresh].data; { // what was drawn is part of a step
				s.fresh--
			}
			return true
		}
		s.stack = s.stack[:len(s.stack)-1]
	}
	s.fresh = 0
	return false
}

func (s *search) next(p *choicePoint) bool {
	if p.data {
		return p.redraw()
	}
	if p.chosen < 0 {
		return false
	}
	if !p.busy && !s.plain {
		return false // the step touched nothing, so it may as well come first: what others do here, they do after it
	}
	if !p.drew {
		p.retire(noValue, 0)
	}
	p.drew, p.busy = false, false
	p.chosen = s.nextAwake(p)
	return p.chosen >= 0
}

// redraw moves to the next drawn value. With sleep sets the one before it sleeps from now on.
func (p *choicePoint) redraw() bool {
	n := min(p.n, maxDraw)
	if p.of != nil {
		p.of.retire(int64(p.value), int64(n))
	}
	for range n {
		if p.value = (p.value + 1) % n; p.value == p.start {
			return false
		}
		if p.of == nil || !p.of.dozes(p.value) {
			return true
		}
	}
	return false
}

// retire moves the chosen candidate to those that were tried.
func (p *choicePoint) retire(value, of int64) {
	tried := sleeper{p.tasks[p.chosen], value, of, p.foot}
	n := len(p.done)
	if n == cap(p.done) {
		p.done, p.foot = append(p.done, tried), nil
		return
	}
	p.done = p.done[:n+1]
	p.foot = p.done[n].foot[:0] // of an earlier point in this place
	p.done[n] = tried
}

// unbounded reports whether the path holds a draw that is too wide to enumerate: then no search is complete.
func (s *search) unbounded() bool {
	for _, p := range s.stack {
		if p.data && (p.n == 0 || p.n > maxDraw) {
			return true
		}
	}
	return false
}

// maxDraw is the widest data choice that a search enumerates.
const maxDraw = 4096
