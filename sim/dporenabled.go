package sim

import "github.com/millrace-dev/millrace/core/sched"

// wait is what a task does next, as far as it decides whether it can: what it waits for, when it waits.
type wait struct {
	key     uint64
	task    int32
	mark    uint32 // in footprints
	prev    int32  // its latest turn
	node    uint32 // 1 + its index, or 0
	blocked bool   // it may have to wait
	granted bool   // a partner did its part of a rendezvous
	fixed   bool   // the operation touches the same whatever its result is
	killed  int32  // the turn that crashed it, or -1
	met     int32  // it was met by a partner in that turn, and could have gone on by itself before; or -1
	needs   []need // any of them lets it go on
}

// need is one operation that can be taken when an object's state allows it, or when a permit was given.
type need struct {
	op     sched.Op
	object uint32
	permit bool
	given  int32 // the turn that gave the permit, or -1
}

// describe fills in what t, or the clock, does next.
func (q *wait) describe(w *World, t *task) {
	*q = wait{needs: q.needs[:0], key: keyClock, task: -1, killed: -1, met: -1}
	if t == nil {
		q.blocked = true
		q.needs = append(q.needs, need{op: sched.OpFire, object: footClock})
		return
	}
	q.key, q.task, q.mark, q.fixed = t.key, t.id, t.mark, fixed(t.op)
	if t.node != nil {
		q.node = 1 + t.node.index
	}
	if t.state != waiting {
		if t.h != nil {
			q.needs = append(q.needs, need{op: t.op, object: footObject + t.h.ID})
		}
		return
	}
	q.blocked, q.granted = true, t.granted
	if t.group != nil || t.heldIn != nil || len(t.arms) == 0 {
		q.needs = append(q.needs, need{op: t.op, object: footObject + t.h.ID})
		return
	}
	q.fixed = q.fixed && len(t.arms) == 1
	for i := range t.arms {
		a := &t.arms[i]
		n := need{op: a.Op, object: footObject + a.H.ID, permit: a.W != nil, given: -1}
		if a.W != nil && a.W.Ready {
			n.given = w.ticketOf(a.W).turn
		}
		q.needs = append(q.needs, n)
	}
}

// fixed reports whether an operation touches its object in the same way whatever it returns.
func fixed(op sched.Op) bool {
	switch op {
	case sched.OpStart, sched.OpYield, sched.OpLoad, sched.OpStore, sched.OpSwap, sched.OpAdd, sched.OpAnd, sched.OpOr, sched.OpLock, sched.OpUnlock,
		sched.OpIntend, sched.OpGet, sched.OpLen:
		return true
	default:
		return false
	}
}

// presume is the footprint of a step that was never taken: everything that its operation may touch.
func (q *wait) presume(w *World, f *footprint) {
	*f = (*f)[:0]
	for _, n := range q.needs {
		*f = w.mayChange(*f, n.object)
	}
	if q.key == keyClock && len(w.timers) > 0 {
		*f = w.mayFire(*f, w.timers[0].o)
	}
	if q.node > 0 {
		*f = f.add((footNode + q.node - 1) << 2)
	}
	if q.granted {
		*f = f.add((footTask + q.mark) << 2)
	}
}

// mayFire adds what a timer touches when it fires. That of a scope ends the scopes below, too: those that are still open and were made later.
func (w *World) mayFire(f footprint, o *object) footprint {
	f = w.mayChange(f, footObject+o.hook.ID)
	if o.hook.Kind != sched.KindScope || o.closed {
		return f
	}
	for _, below := range w.objects[o.hook.ID+1:] {
		if below.hook.Kind == sched.KindScope && !below.closed {
			f = w.mayChange(f, footObject+below.hook.ID)
		}
	}
	return f
}

// effect is the state of an object after a turn that changed it.
type effect struct {
	object uint32
	n      int32
	closed bool
	intent bool
	write  bool // a writer holds the lock
}

// effects lists the state of what others wait for and the turn that has just ended changed.
func (w *World) effects(list []effect) []effect {
	for _, f := range w.foot {
		id := f >> 2
		switch {
		case f&3 == modeRead:
		case id == footClock:
			list = append(list, effect{object: id, n: int32(len(w.timers))})
		case id >= footObject:
			switch o := w.objects[id-footObject]; o.hook.Kind {
			case sched.KindMutex, sched.KindRWMutex, sched.KindChan, sched.KindWaitGroup, sched.KindTimer, sched.KindScope:
				list = append(list, effect{id, int32(o.n), o.closed, o.intent, o.writing})
			default:
			}
		}
	}
	return list
}

// without is the turns of the path that do not happen after one of them: what is left when it has not come yet.
func (s *dpor) without(first, i int) bool {
	return i < first || i > first && !s.path[i].before.has(first) && !s.gone.has(i)
}

// crowded reports whether the second step of a race waits for a wait group. Additions commute, so one that is taken away leaves the others, and
// the wait is possible only before all of them.
func (s *dpor) crowded(r race) bool {
	for _, n := range s.waits(r).needs {
		if n.op == sched.OpWGWait {
			return true
		}
	}
	return false
}

// waits is what the second step of a race waits for.
func (s *dpor) waits(r race) *wait {
	if r.end != nil {
		return r.end
	}
	return &s.path[r.second].waited
}

// depart notes what has not come, besides the first step and what happens after it, when the second comes before a crowd.
func (s *dpor) depart(r race) {
	s.gone = s.gone[:0]
	if !r.crowd {
		return
	}
	s.stay = s.stay[:0]
	if r.end == nil {
		s.stay = s.since(s.stay, r.second)
	} else if r.end.prev >= 0 {
		s.stay = s.stay.with(s.path[r.end.prev].before)
	}
	for k := r.first; k < len(s.path); k++ {
		m := s.path[k]
		for _, n := range s.waits(r).needs {
			if m.foot.changes(n.object) && !s.stay.has(k) {
				s.gone = s.gone.and(k)
			}
		}
		if !s.gone.has(k) && s.gone.meets(m.before) {
			s.gone = s.gone.and(k)
		}
	}
}

// changes reports whether a step did more to an object than to read it.
func (f footprint) changes(object uint32) bool {
	for _, x := range f {
		if x>>2 == object && x&3 != modeRead {
			return true
		}
	}
	return false
}

// enabled reports whether the second step of a race could come before the first, when everything has that does not happen after the
// first.
func (s *dpor) enabled(w *World, r race) bool {
	q := s.waits(r)
	s.depart(r)
	if q.node > 0 && s.isHeld(q, r.first) || q.killed >= 0 && s.without(r.first, int(q.killed)) {
		return false
	}
	if !q.blocked {
		return true
	}
	if q.granted && s.metWithout(q, r) {
		return true
	}
	for _, n := range q.needs {
		switch {
		case n.permit:
			if n.given >= 0 && s.without(r.first, int(n.given)) {
				return true
			}
		case s.canWithout(w, n, q, r.first):
			return true
		}
	}
	return false
}

// selects puts into s.may what a choice among channels touches without the first step and what happens after it: that it left each of its
// arms, and what one that can be taken then does. It reports false when that is not so simple.
func (s *dpor) selects(w *World, q *wait, first int) bool {
	if len(q.needs) < 2 || q.node > 0 || q.granted && s.metIn(q, len(s.path)) >= 0 {
		return false
	}
	s.may = s.may[:0]
	for _, n := range q.needs {
		if n.permit {
			return false
		}
		o := w.objects[n.object-footObject]
		s.may = s.may.add(n.object << 2)
		if o.unbuffered() {
			s.may = w.mayChange(s.may, n.object)
		}
		switch {
		case n.op == sched.OpDone || !s.canWithout(w, n, q, first):
		case o.unbuffered() && !s.state.closed: // a partner's arms are touched, too
			return false
		default:
			s.may = w.mayChange(s.may, n.object)
		}
	}
	return true
}

// isHeld reports whether the task's node is paused there.
func (s *dpor) isHeld(q *wait, first int) bool {
	changes := (footNode+q.node-1)<<2 | modeWrite
	for k := len(s.path) - 1; k >= 0; k-- {
		if !s.path[k].foot.holds(changes) || !s.without(first, k) {
			continue
		}
		for _, m := range s.path[k+1:] {
			if !m.idle {
				return m.holds(q.key)
			}
		}
	}
	return false
}

func (m *turn) holds(key uint64) bool {
	for _, k := range m.held {
		if k == key {
			return true
		}
	}
	return false
}

func (f footprint) holds(x uint32) bool {
	for _, y := range f {
		if x == y {
			return true
		}
	}
	return false
}

// metWithout reports whether the partner that did q's part of a rendezvous has done so.
func (s *dpor) metWithout(q *wait, r race) bool {
	k := s.metIn(q, min(r.second, len(s.path)))
	return k >= 0 && s.without(r.first, k)
}

// metIn is the turn before another one in which a partner did q's part of a rendezvous, or -1.
func (s *dpor) metIn(q *wait, end int) int {
	mark := (footTask+q.mark)<<2 | modeWrite
	for k := end - 1; k >= 0; k-- {
		if s.path[k].foot.holds(mark) {
			return k
		}
	}
	return -1
}

// canWithout reports whether the state of an object, without the first step and what happens after it, allows an operation.
// Steps that change the state are ordered by happens-before or commute, so the changes that are left add up.
func (s *dpor) canWithout(w *World, n need, q *wait, first int) bool {
	o := &s.state // of which only this is ever set
	o.hook.Kind, o.capacity, o.n, o.closed, o.intent, o.writing = 0, 0, 0, false, false, false
	if n.object >= footObject {
		actual := w.objects[n.object-footObject]
		o.hook.Kind, o.capacity = actual.hook.Kind, actual.capacity
	}
	seen := int32(0)
	for _, c := range s.changesOf(n.object) {
		e := c.effect
		if s.without(first, c.turn) {
			o.n += int(e.n - seen)
			o.closed, o.intent, o.writing = e.closed, e.intent, e.write
		}
		seen = e.n
	}
	switch {
	case n.object == footClock:
		return o.n > 0
	case n.op == sched.OpRecv && o.unbuffered():
		return o.closed || s.senderWithout(n.object, q.task, first)
	default:
		return o.can(n.op, nil)
	}
}

// changes is what the turns of the path did to one object. A race is looked for with one step after the other: the search for those that
// touch the object is done once.
type changes struct {
	object uint32
	known  bool
	list   []altering
}

// altering is an effect and the turn that had it.
type altering struct {
	turn   int
	effect *effect
}

// changesOf returns what the turns of the path did to an object.
func (s *dpor) changesOf(object uint32) []altering {
	c := &s.changes
	if c.known && c.object == object {
		return c.list
	}
	c.object, c.known, c.list = object, true, c.list[:0]
	for k, m := range s.path {
		for i := range m.effects {
			if m.effects[i].object == object {
				c.list = append(c.list, altering{k, &m.effects[i]})
			}
		}
	}
	return c.list
}

// senderWithout reports whether somebody waits to send on an unbuffered channel.
func (s *dpor) senderWithout(object uint32, self int32, first int) bool {
	for i, m := range s.path {
		if !m.idle && i >= first && !s.without(first, i) && m.waited.offers(object, self) && s.parkedWithout(&m.waited, m.prev, race{first, i, nil, false}) {
			return true
		}
	}
	for k := range s.ends {
		if x := &s.ends[k]; x.met < 0 && x.offers(object, self) && s.parkedWithout(x, x.prev, race{first, len(s.path), x, false}) {
			return true
		}
	}
	return false
}

// parkedWithout reports whether a task has come to wait, and was not met.
func (s *dpor) parkedWithout(q *wait, prev int32, r race) bool {
	return (prev < 0 || s.without(r.first, int(prev))) && !(q.granted && s.metWithout(q, r))
}

// offers reports whether it waits to send on a channel, to somebody else.
func (q *wait) offers(object uint32, self int32) bool {
	if q.task == self || !q.blocked {
		return false
	}
	for _, n := range q.needs {
		if n.op == sched.OpSend && n.object == object {
			return true
		}
	}
	return false
}
