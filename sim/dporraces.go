package sim

import "github.com/millrace-dev/millrace/core/sched"

// row is a set of turns.
type row []uint64

func (r row) has(i int) bool { return i>>6 < len(r) && r[i>>6]>>(i&63)&1 != 0 }

func (r row) with(o row) row {
	for len(r) < len(o) {
		r = append(r, 0)
	}
	for i, x := range o {
		r[i] |= x
	}
	return r
}

// meets reports whether a turn is in both.
func (r row) meets(o row) bool {
	for i := range min(len(r), len(o)) {
		if r[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func (r row) and(i int) row {
	for len(r) <= i>>6 {
		r = append(r, 0)
	}
	r[i>>6] |= 1 << (i & 63)
	return r
}

// race is two steps that conflict and could have come in the other order.
type race struct {
	first, second int
	end           *wait // the second was never taken; nil: it is a turn
	crowd         bool  // the second comes before everything of the first's kind: see crowded
}

// races orders the new turns by happens-before, and plans the other order of each two that race. What a waiting, or crashed, task
// would have done next races, too, and what a task could have done by itself that a partner met.
func (s *dpor) races(w *World) {
	s.found, s.changes.known = s.found[:0], false
	from := s.fresh
	if s.redrawn || s.varies() {
		from = 0 // what raced before may lead elsewhere behind another value, or with what is new before it
	}
	for i := from; i < len(s.path); i++ {
		if m := s.path[i]; m.idle || m.chosen >= 0 {
			s.order(i) // also of an execution that was cut short: others go on from its turns
			if s.deeds.first != nil {
				s.identify(i)
			}
		}
	}
	if w.pruned {
		s.resume(w)
		return
	}
	s.unfinished(w, from)
	for i := from; i < len(s.path); i++ {
		if m := s.path[i]; !m.idle && !m.plain() {
			s.base = s.since(s.base[:0], i)
			s.couldWait(w, race{-1, i, nil, false}, s.base, m.foot)
		}
	}
	for k := range s.ends {
		x := &s.ends[k]
		x.presume(w, &s.guess)
		base := row(nil)
		if x.prev >= 0 {
			base = s.path[x.prev].before
		}
		s.couldWait(w, race{-1, len(s.path), x, false}, base, s.guess)
	}
	for _, r := range s.found {
		s.reverse(w, r)
	}
}

// varies reports whether a step may touch something else in another order. Then a plan must hold all that does not come after its first step: what
// commutes with the second step as it was may not with the one that it becomes.
func (s *dpor) varies() bool {
	for _, m := range s.path {
		if !m.idle && !m.waited.fixed && len(m.waited.needs) > 0 {
			return true
		}
	}
	return false
}

// order computes what happens before turn i and notes what it races with: the last conflicting steps that do not come before another
// such step.
func (s *dpor) order(i int) {
	m := s.path[i]
	m.before = s.since(m.before[:0], i).and(i)
	for j := i - 1; j >= 0; j-- {
		p := s.path[j]
		if m.before.has(j) || !m.clashes(p) {
			continue
		}
		m.before = m.before.with(p.before)
		if !p.idle && !m.idle && m.plain() {
			s.found = append(s.found, race{j, i, nil, false})
		}
	}
}

// clashes reports whether the order of two turns matters.
func (m *turn) clashes(p *turn) bool {
	return m.idle || p.idle || m.total || p.total || p.foot.conflicts(m.foot)
}

// plain reports whether nothing could keep the task from going on.
func (m *turn) plain() bool { return !m.waited.blocked && m.waited.node == 0 }

// since is what happens before a turn because of its task alone. The task that ends the root scope comes after every task of the
// check.
func (s *dpor) since(r row, i int) row {
	m := s.path[i]
	if m.prev >= 0 {
		r = r.with(s.path[m.prev].before)
	}
	if m.key == keyClosing {
		for _, p := range s.path[:i] {
			if p.mine {
				r = r.with(p.before)
			}
		}
	}
	return r
}

// couldWait notes the races of a step that may have been unable to go on earlier: those conflicting steps without which it could, and which
// come before no other such step.
func (s *dpor) couldWait(w *World, r race, base row, foot footprint) {
	s.over = append(s.over[:0], base...)
	total := r.end == nil && s.path[r.second].total
	for j := min(r.second, len(s.path)) - 1; j >= 0; j-- {
		p := s.path[j]
		if x := r.end; x != nil && x.met >= 0 && (j > int(x.met) || !s.path[x.met].before.has(j)) {
			continue
		}
		if s.over.has(j) || p.idle || !total && !p.total && !p.foot.conflicts(foot) {
			continue
		}
		if r.first, r.crowd = j, false; !s.enabled(w, r) {
			if r.crowd = s.crowded(r); !r.crowd || !s.enabled(w, r) {
				continue
			}
		}
		s.found = append(s.found, r)
		s.over = s.over.with(p.before)
	}
}

// unfinished collects what tasks would have done next: those that wait for ever, those that were ended by a verdict, those that
// were crashed.
func (s *dpor) unfinished(w *World, from int) {
	s.ends = s.ends[:0]
	if w.opts.early {
		s.expect(w, nil)
	}
	if w.live > 0 {
		for _, t := range w.tasks {
			if t.state < ended && !s.failing(t) {
				s.expect(w, t)
			}
		}
	}
	for i := from; i < len(s.path); i++ {
		if m := s.path[i]; !m.idle && m.waited.granted {
			x := m.waited
			x.granted, x.prev, x.met = false, m.prev, int32(s.metIn(&m.waited, i))
			s.ends = append(s.ends, x)
		}
	}
	if w.incarnations == 0 {
		return
	}
	for i := len(s.path) - 1; i >= 0; i-- {
		for _, x := range s.path[i].doomed { // its latest crash is met first
			if w.tasks[x.task].state == dead && !s.ended(x.task) {
				x.prev, x.killed = s.last[x.task+1], int32(i)
				s.ends = append(s.ends, x)
			}
		}
	}
}

// expect notes what t, or the clock, would have done next.
func (s *dpor) expect(w *World, t *task) {
	s.ends = append(s.ends, wait{})
	x := &s.ends[len(s.ends)-1]
	x.describe(w, t)
	x.prev = s.last[x.task+1]
}

// failing reports whether a verdict ended the task's last step.
func (s *dpor) failing(t *task) bool {
	m := s.path[len(s.path)-1]
	return m.total && m.task == t.id
}

func (s *dpor) ended(task int32) bool {
	for i := range s.ends {
		if s.ends[i].task == task && s.ends[i].met < 0 {
			return true
		}
	}
	return false
}

// planned is a step of a branch that is being planned.
type planned struct {
	at    int // its turn, or -1
	key   uint64
	foot  footprint
	reach reach
	must  footprint // what the last one touches in any case
	last  bool      // the second step of the race
	id    uint64
	prev  uint64 // id of its task's step before: of the last one
	mine  bool
	free  bool // it may draw any value
	draws []drawing
	first int64 // of the values drawn, or noValue
}

// reverse plans what does not happen after the first step of the race, then the second one, where the first was chosen.
func (s *dpor) reverse(w *World, r race) {
	m := s.path[r.first]
	s.plan = s.plan[:0]
	s.depart(r)
	for x := r.first + 1; x < len(s.path); x++ {
		if p := s.path[x]; !p.idle && s.without(r.first, x) {
			s.plan = append(s.plan, planned{at: x, key: p.key, foot: p.foot, draws: p.draws, first: firstOf(p.draws), id: p.id, mine: p.mine})
		}
	}
	s.plan = append(s.plan, s.second(w, r))
	if !s.covered(m, r.first) {
		s.insert(w, m)
	}
}

// drawsAs reports whether what sleeps covers a planned step of its task: with every value, where the step may draw any.
func (p *planned) drawsAs(x *napper, m *turn) bool {
	switch {
	case x.value == noValue:
		return true
	case p.free || p.first == noValue:
		return m.rests(x.key)
	default:
		return p.first == x.value
	}
}

// draw reports whether a planned step draws that value first.
func (p *planned) draw(value uint64) bool {
	return !p.free && p.first == int64(value)
}

// firstOf is the first of drawn values, or noValue.
func firstOf(draws []drawing) int64 {
	if len(draws) == 0 {
		return noValue
	}
	return int64(draws[0].value)
}

// second is the second step of a race as it may be without the first: it may fail where it succeeded, and the other way round.
func (s *dpor) second(w *World, r race) planned {
	x, foot, mine := r.end, s.guess, false
	var prev int32
	if x != nil {
		prev = x.prev
	} else {
		m := s.path[r.second]
		x, foot, prev, mine = &m.waited, m.foot, m.prev, m.mine
	}
	out := planned{at: -1, key: x.key, last: true, free: true, first: noValue, reach: x.reach(), prev: s.place(x.key, prev), mine: mine}
	if r.end == nil && s.sameWithout(x, r) {
		m := s.path[r.second]
		out.foot, out.draws, out.free, out.reach = m.foot, m.draws, len(m.draws) == 0, exact
		out.first = firstOf(m.draws)
		return out
	}
	if r.end == nil && !s.path[r.second].total {
		s.must = x.touches(s.must, foot)
	} else {
		s.must = x.touches(s.must, nil)
	}
	out.must = s.must
	if s.selects(w, x, r.first) {
		out.foot = s.may
		return out
	}
	if r.end != nil || s.path[r.second].total {
		x.presume(w, &s.may)
		out.foot = s.may
		return out
	}
	s.may = append(s.may[:0], foot...)
	if !x.blocked && readOnly(s.path[r.first].foot, foot) {
		out.reach = exact
	} else if !x.fixed {
		for _, n := range x.needs {
			s.may = w.mayChange(s.may, n.object)
		}
	}
	out.foot = s.may
	return out
}

// sameWithout reports whether the second step of a race does the same without the first: that changes nothing of what it announced. They
// conflict in something else, such as another arm of a partner.
func (s *dpor) sameWithout(q *wait, r race) bool {
	if len(q.needs) == 0 || q.node > 0 || s.path[r.second].total || s.path[r.first].total || q.reach() == wide {
		return false
	}
	for _, f := range s.path[r.first].foot {
		if f&3 == modeRead {
			continue
		}
		if f>>2 < footObject {
			return false
		}
		for _, n := range q.needs {
			if f>>2 == n.object {
				return false
			}
		}
	}
	return true
}

// mayChange adds a write of an object, and what its owner's invariant sees of it.
func (w *World) mayChange(f footprint, id uint32) footprint {
	if id < footObject {
		return f.add(id<<2 | modeWrite)
	}
	f = f.add(id<<2 | modeWrite)
	if o := w.objects[id-footObject]; o.owner > 0 {
		f = f.add((footOwner+uint32(o.owner))<<2 | modeWrite)
	}
	if w.watched {
		f = f.add(footOwner<<2 | modeWrite)
	}
	return f
}

// readOnly reports whether a only reads what it shares with b, or adds to it as b does: then b does the same without it.
func readOnly(a, b footprint) bool {
	for _, x := range a {
		for _, y := range b {
			if x>>2 == y>>2 && x&3 != modeRead && (x&3 != y&3 || x&3 == modeWrite) {
				return false
			}
		}
	}
	return true
}

// clash is what begins returns for a step that is neither the beginning of the plan nor independent of it.
const clash = -2

// begins returns the place of the plan's step that is the next step of a task and may come first; -1 when the task takes no step in the
// plan and its next one is independent of all.
func (s *dpor) begins(w *World, key uint64, foot footprint, far reach) int {
	for k := range s.plan {
		if s.plan[k].key == key {
			if s.initial(w, k) {
				return k
			}
			return clash
		}
	}
	for k := range s.plan {
		p := &s.plan[k]
		if p.foot.conflicts(foot) || !w.beyond(p.reach, foot) || !w.beyond(far, p.foot) {
			return clash
		}
	}
	return -1
}

// initial reports whether no earlier step of the plan comes before its step k.
func (s *dpor) initial(w *World, k int) bool {
	p := &s.plan[k]
	for x := range s.plan[:k] {
		if p.last {
			if s.plan[x].foot.conflicts(p.foot) || !w.beyond(p.reach, s.plan[x].foot) {
				return false
			}
		} else if s.path[p.at].before.has(s.plan[x].at) {
			return false
		}
	}
	return true
}

// reach is how far a step that was planned may go beyond the footprint that it was planned with, when its operation's result is another.
type reach uint8

const (
	exact reach = iota // no further
	near               // it may end, make objects, start tasks, or begin to wait on an unbuffered channel: the last three only add
	wide               // it may also end scopes, fire timers, or do a partner's part
)

// reach is that of an operation that is not yet known to return what it did.
func (q *wait) reach() reach {
	if len(q.needs) == 0 {
		return wide
	}
	for _, n := range q.needs {
		switch n.op {
		case sched.OpCancel, sched.OpFire, sched.OpExternal:
			return wide
		default:
		}
	}
	return near
}

// beyond reports whether a footprint commutes with whatever a step of that reach touches without having announced it.
func (w *World) beyond(r reach, f footprint) bool {
	if r == exact {
		return true
	}
	for _, x := range f {
		if x>>2 >= footTask && x>>2 < footObject && x&3 == modeRead {
			continue // it was met already: nobody meets it again
		}
		if x>>2 < footObject {
			return false
		}
		switch o := w.objects[x>>2-footObject]; o.hook.Kind {
		case sched.KindWaitGroup, sched.KindChan:
			if x&3 != modeAdd && (o.unbuffered() || o.hook.Kind == sched.KindWaitGroup) {
				return false
			}
		case sched.KindScope, sched.KindTimer:
			if r == wide {
				return false
			}
		case sched.KindCell:
			return false
		default:
		}
	}
	return true
}
