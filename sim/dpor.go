package sim

import (
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// dpor visits every Mazurkiewicz trace in one execution and begins no execution that leads to nothing new: optimal dynamic
// partial-order reduction with wakeup trees (Abdulla, Aronis, Jonsson and Sagonas, JACM 2017). After an execution it looks at each
// two steps that conflict and could have come in the other order. Where the first of them was chosen it plans a branch: everything that does
// not depend on the first, then the second. A plan is dropped where a branch that was explored, or is planned already, covers it.
//
// What conflicts is said by footprints, as in search. Three things are the simulator's own:
//
//   - A step may have been unable to go on earlier: it waited for a lock, a message, a wake-up. dporenabled.go says whether it
//     could, from what the steps before it did to what it waits for.
//   - When nobody can go on a timer fires, or the last phase begins. That is a turn of its own on the path, and conflicts with
//     all others.
//   - A step that draws a value is another step for each value: where it was chosen freely all are tried, one after the other; in a plan
//     it has the value that it had. What sleeps, sleeps with its value.
//
// Tasks are told apart by their keys: their numbers depend on the order in which tasks are started, which is no conflict.
type dpor struct {
	path  []*turn // beyond its length are turns to be used again
	pos   int
	now   *turn // the one whose step is running, or nil
	drawn int   // values drawn in that step
	fresh int   // the first turn that differs from the execution before

	last  []int32 // by task: its latest turn, or the one that started it
	plan  []planned
	spare []*branch

	// Scratch of dporenabled.go.
	state   object
	changes changes

	// Scratch of dporraces.go.
	found      []race
	ends       []wait
	base, over row
	gone, stay row
	guess, may footprint

	deeds deeds // what steps did, by what came before them: dpordeeds.go
	fate  []int32
	told  bool // fate holds them
	stand int  // the turn of the plan
	must  footprint

	marks  map[uint64]uint32 // of tasks, by their keys
	marked []marked          // by their numbers

	redrawn   bool // the execution differs in a drawn value from the one before
	startOver bool // it is worth to keep deeds
	begun     int  // how often the search has started over
	unsure    bool // the plan may turn out to be covered by an earlier one

	strays int // plans that could not be followed: a fault of the search

	// With a bound, plans that preempt more often are dropped. A trace that could be reached with few preemptions may be reached with more here, and be
	// left out: whoever asks what fails within a bound asks search.
	preemptionBound
}

// turn is one step on the path, or what happened when nobody could go on.
type turn struct {
	idle   bool
	total  bool     // it ended the execution: nobody knows what would have come after it
	tasks  []uint64 // keys of the candidates
	held   []uint64 // keys of those whose node is paused
	chosen int      // -1: every candidate is asleep
	draws  []drawing
	asleep []napper // need not be tried here
	done   []napper // have been tried here
	later  []*branch
	via    *branch // what is being followed; nil: a free choice
	preempted

	task    int32 // number of the chosen task
	key     uint64
	mine    bool  // it is a task of the check
	prev    int32 // the latest turn of that task before, or the one that started it
	waited  wait
	id      uint64 // of the step, by everything that happens before it
	foot    footprint
	all     footprint // over all values drawn after the first
	effects []effect
	before  row    // the turns that happen before it, and itself
	doomed  []wait // of everybody, when it may have crashed them
}

// drawing is one drawn value of a step.
type drawing struct{ n, value, first uint64 }

// napper is a task whose next step leads to nothing new until a conflicting step happens, when it draws that value.
type napper struct {
	key   uint64
	value int64 // the first that it draws, or noValue
	of    int64 // how many there are
	foot  footprint
	weak  bool // see weaken
}

// noValue is that of a step that draws none.
const noValue = -1

// Keys of tasks that are no child of another, and of the clock. The first task has 0.
const (
	keyClock uint64 = 1 + iota
	keyClosing
	keyFinal
)

func keyOf(t *task) uint64 {
	if t == nil {
		return keyClock
	}
	return t.key
}

func (s *dpor) unforced() {}

func (s *dpor) begin(w *World, _ uint64) {
	w.always, w.births, w.turn = true, s, 0
	s.last = append(s.last[:0], -1)
	if len(s.path) == 0 { // the body begins without being chosen
		m := s.push()
		m.tasks, m.chosen, m.mine = append(m.tasks, 0), 0, true
		m.task, m.prev, m.waited = 0, -1, wait{}
		s.fresh = 0
	}
	s.now, s.drawn, s.pos = s.path[0], 0, 1
	w.footprints = s.fresh == 0 // of what is replayed they are known
}

// born notes which turn started a task, so that its first step comes after it.
func (s *dpor) born(_, t *task) {
	for int(t.id)+1 >= len(s.last) {
		s.last = append(s.last, -1)
	}
	s.last[t.id+1] = int32(s.pos - 1)
	t.mark = s.mark(t)
}

// push returns the next turn of the path, empty.
func (s *dpor) push() *turn {
	s.path = longer(s.path)
	m := s.path[len(s.path)-1]
	m.idle, m.total, m.chosen, m.via, m.key = false, false, -1, nil, 0
	m.tasks, m.held, m.draws, m.asleep, m.done = m.tasks[:0], m.held[:0], m.draws[:0], m.asleep[:0], m.done[:0]
	m.preempted = preempted{free: -1}
	m.later, m.foot, m.all, m.effects, m.doomed = m.later[:0], m.foot[:0], m.all[:0], m.effects[:0], m.doomed[:0]
	return m
}

func (s *dpor) pick(w *World, n int) int {
	if s.pos < s.fresh {
		return s.replay(w)
	}
	s.finish(w)
	if s.pos == len(s.path) {
		s.arrive(w, n)
	}
	m := s.path[s.pos]
	if m.chosen < 0 {
		w.pruned = true
		return -1
	}
	s.take(w, m, w.candidate(m.chosen))
	return m.chosen
}

// take begins the turn of t, or of the clock.
func (s *dpor) take(w *World, m *turn, t *task) {
	id := int32(-1)
	if t != nil {
		id = t.id
	}
	m.prev, s.last[id+1] = s.last[id+1], int32(s.pos)
	w.turn = int32(s.pos)
	if s.pos >= s.fresh {
		w.takeFootprints()
		m.task, m.key, m.mine, m.total = id, keyOf(t), t != nil && t.mine, false
		m.waited.describe(w, t)
		m.doomed = m.doomed[:0]
		if t != nil && t.op == sched.OpExternal && t.h == nil { // it may crash others
			for _, other := range w.tasks {
				if other.node != nil && other.state < ended {
					m.doomed = append(m.doomed, wait{})
					m.doomed[len(m.doomed)-1].describe(w, other)
				}
			}
		}
	}
	s.now, s.drawn = m, 0
	s.pos++
}

// rest begins the turn of what happens when nobody can go on. Where timers may fire early it is the clock's turn, like any other. It reports
// false when that leads to nothing new.
func (s *dpor) rest(w *World, fires bool) bool {
	if fires && w.opts.early {
		s.finish(w)
		if s.pos == len(s.path) {
			s.arrive(w, 0)
		}
		m := s.path[s.pos]
		if m.chosen >= 0 {
			s.take(w, m, nil)
		}
		return m.chosen >= 0
	}
	if s.now != nil && s.now.idle {
		return true
	}
	s.finish(w)
	if s.pos == len(s.path) {
		s.push().idle = true
	}
	s.now, s.drawn = s.path[s.pos], 0
	s.now.prev, s.now.task = -1, -2
	w.turn = int32(s.pos)
	if s.pos >= s.fresh {
		w.takeFootprints()
	}
	s.pos++
	return true
}

// finish takes the footprint of the turn that has just ended.
func (s *dpor) finish(w *World) {
	m := s.now
	s.now = nil
	if m != nil && s.pos > s.fresh {
		m.foot = append(m.foot[:0], w.foot...)
		m.all = m.all.union(w.foot)
		m.effects = w.effects(m.effects[:0])
	}
	w.foot = w.foot[:0]
}

// arrive makes the turn of a state reached for the first time.
func (s *dpor) arrive(w *World, n int) {
	up := s.path[s.pos-1]
	m := s.push()
	for i := range n {
		m.tasks = append(m.tasks, keyOf(w.candidate(i)))
	}
	if n == 0 {
		m.tasks = append(m.tasks, keyClock)
	}
	if m.spent = up.spent; !up.idle {
		m.free = slices.Index(m.tasks, up.key)
		m.spent += up.price(up.chosen)
	}
	if len(w.nodes) > 0 {
		for _, t := range w.tasks {
			if t.held {
				m.held = append(m.held, t.key)
			}
		}
	}
	m.inherit(up.asleep, up)
	m.inherit(up.done, up)
	if up.via != nil && up.firstValues() {
		m.later, up.via.kids = up.via.kids, m.later
	}
	if len(m.later) > 0 {
		s.followAny(m)
		return
	}
	s.weaken(m)
	m.chosen = s.awake(w, m)
}

// weaken notes who is still asleep where a plan ends. A plan wakes everybody, for it was made for what those asleep do not lead to;
// but its last step may do less than it might have. They need not be tried first here, yet nothing that leaves them out is
// covered by them.
func (s *dpor) weaken(m *turn) {
	for i := range m.asleep {
		key, value := m.asleep[i].key, m.asleep[i].value
		m.asleep[i].weak = true
		for k := s.pos - 1; k >= 0; k-- {
			at := slices.IndexFunc(s.path[k].asleep, func(x napper) bool { return x.key == key && x.value == value })
			if at < 0 {
				break
			}
			s.path[k].asleep[at].weak = true
		}
	}
}

// awake returns a candidate that is awake, or -1; best one whose step probably touches nothing. With a bound, best the task that has been running.
func (s *dpor) awake(w *World, m *turn) int {
	quiet := -1
	if s.bounded && m.free >= 0 && !m.rests(m.tasks[m.free]) {
		return m.free
	}
	for i := range m.tasks {
		t := w.candidate(i)
		switch calm := t != nil && (t.state == fresh || t.op == sched.OpYield); {
		case m.rests(m.tasks[i]) || quiet >= 0 && !calm || !s.allows(m.spent+m.price(i)):
		default:
			quiet = i
		}
	}
	return quiet
}

// firstValues reports whether the step drew what its branch says.
func (m *turn) firstValues() bool {
	for _, d := range m.draws {
		if d.value != d.first {
			return false
		}
	}
	return true
}

// inherit keeps those asleep whom the step that led here does not wake.
func (m *turn) inherit(list []napper, by *turn) {
	for _, x := range list {
		if x.key != by.key && !by.idle && !x.foot.conflicts(by.foot) {
			m.asleep = append(m.asleep, x)
		}
	}
}

// rests reports whether a task need not be tried with any value that it may draw.
func (m *turn) rests(key uint64) bool {
	n := int64(0)
	for _, list := range [2][]napper{m.asleep, m.done} {
		for i := range list {
			if x := &list[i]; x.key == key {
				if n++; x.value == noValue || n == x.of {
					return true
				}
			}
		}
	}
	return false
}

// dozing reports whether a task need not be tried with that value.
func (m *turn) dozing(key, value uint64) bool {
	for _, list := range [2][]napper{m.asleep, m.done} {
		for i := range list {
			if x := &list[i]; x.key == key && x.value == int64(value) {
				return true
			}
		}
	}
	return false
}

// followAny chooses what the next branch says that leads to something new. It reports false when there is none.
func (s *dpor) followAny(m *turn) bool {
	for len(m.later) > 0 {
		if s.follow(m); m.chosen >= 0 {
			return true
		}
		m.later = append(m.later, m.via.under...)
		m.via.under = m.via.under[:0]
		s.drop(m.via)
		m.via = nil
	}
	return false
}

// follow chooses what the next branch says.
func (s *dpor) follow(m *turn) {
	b := m.later[0]
	m.later = append(m.later[:0], m.later[1:]...)
	m.via, m.draws, m.id = b, m.draws[:0], b.id
	if m.chosen = slices.Index(m.tasks, b.key); m.chosen < 0 || m.rests(b.key) || b.fixed() && m.dozing(b.key, b.draws[0]) {
		if m.chosen < 0 {
			s.strays++
		}
		m.chosen = -1
	} else if s.plan = s.plan[:0]; !s.leads(m, b) {
		m.chosen = -1
	} else if !s.allows(m.spent + m.price(m.chosen)) {
		m.chosen = -1
	}
}

// fixed reports whether the step draws the value that its plan says: all values are tried at the end of a plan only.
func (b *branch) fixed() bool { return b != nil && len(b.draws) > 0 }

func (s *dpor) draw(_ *World, n uint64) uint64 {
	m, k := s.now, s.drawn
	s.drawn++
	if k < len(m.draws) {
		return m.draws[k].value
	}
	v := uint64(0)
	switch {
	case m.via.fixed() && k < len(m.via.draws) && m.firstValues():
		v = m.via.draws[k]
	case k == 0:
		for v+1 < min(n, maxDraw) && (m.dozing(m.key, v) || s.foreseen(m, s.pos-1, v)) {
			v++
		}
	default:
	}
	m.draws = append(m.draws, drawing{n, v, v})
	return v
}

// advance moves to the next unexplored schedule. It reports false when there is none: the search is complete.
func (s *dpor) advance(w *World) bool {
	last := s.now
	s.finish(w)
	if last != nil {
		last.total = w.failed && w.verdict.kind != "deadlock" && w.verdict.kind != "leak"
	}
	s.runDown(w)
	s.races(w)
	if s.again() {
		s.begun++
		return true
	}
	for len(s.path) > 0 {
		n := len(s.path) - 1
		if s.next(s.path[n], n) {
			s.fresh = n
			return true
		}
		s.path = s.path[:n]
	}
	return false
}

// next moves a turn to its next drawn value, or its next branch.
func (s *dpor) next(m *turn, n int) bool {
	if m.idle {
		return false
	}
	if s.redrawn = s.redraw(m, n); s.redrawn {
		return true
	}
	if m.via != nil && m.via.partly {
		m.later = append(m.later, m.via.under...)
		m.via.under = m.via.under[:0]
	}
	s.drop(m.via)
	m.via = nil
	return s.followAny(m)
}

// redraw moves a turn to its next drawn value, and to those that were tried what was.
func (s *dpor) redraw(m *turn, at int) bool {
	for n := len(m.draws); n > 1; n-- {
		d := &m.draws[n-1]
		if d.value = (d.value + 1) % min(d.n, maxDraw); d.value != d.first {
			m.draws = m.draws[:n]
			return true
		}
	}
	if m.chosen >= 0 {
		if s.deeds.first != nil {
			s.deeds.note(m, s.path[:at], s.place(m.key, m.prev))
		}
		m.retire()
	}
	if len(m.draws) == 0 || m.via.fixed() {
		return false
	}
	d := &m.draws[0]
	m.draws = m.draws[:1]
	for range min(d.n, maxDraw) {
		if d.value = (d.value + 1) % min(d.n, maxDraw); d.value == d.first {
			return false
		}
		if !m.dozing(m.key, d.value) && !s.foreseen(m, at, d.value) {
			return true
		}
	}
	return false
}

// retire moves what was chosen, with the value that it drew, to what was tried.
func (m *turn) retire() {
	n := len(m.done)
	if n < cap(m.done) {
		m.done = m.done[:n+1]
	} else {
		m.done = append(m.done, napper{})
	}
	x := &m.done[n]
	x.key, x.value, x.of, x.weak = m.key, noValue, 0, false
	if len(m.draws) > 0 {
		x.value, x.of = int64(m.draws[0].value), int64(min(m.draws[0].n, maxDraw))
	}
	x.foot, m.all = m.all, x.foot[:0] // of an earlier turn in this place
}
