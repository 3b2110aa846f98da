package sim

import (
	"runtime"
	"unsafe"

	"github.com/millrace-dev/millrace/core/sched"
)

// backend is the World as core/sched's primitives see it: its methods are not for checks.
type backend World

var _ sched.Backend = (*backend)(nil)

// Object registers a primitive.
func (b *backend) Object(kind sched.Kind, name string, capacity int) *sched.Hook {
	w := (*World)(b)
	o := w.newObject()
	o.capacity = capacity
	o.hook = sched.Hook{B: b, ID: uint32(len(w.objects)), Kind: kind, Name: name}
	w.objects = append(w.objects, o)
	if w.footprints && len(w.tasks) > 1 {
		w.foot = w.foot.add(footAlloc<<2 | modeWrite)
	}
	return &o.hook
}

// objectOf returns the state behind a hook. A hook of another execution is a fault of the check: it kept a
// primitive in a variable outside of its body.
func (w *World) objectOf(h *sched.Hook) *object {
	if int(h.ID) >= len(w.objects) || &w.objects[h.ID].hook != h {
		panic("sim: primitive " + h.Name + " belongs to another execution: make it inside the check's body")
	}
	return w.objects[h.ID]
}

// Block parks the caller until one operation can be taken.
func (b *backend) Block(a sched.Arm) sched.Grant {
	w := (*World)(b)
	if w.aborting {
		runtime.Goexit()
	}
	t := w.current
	t.op, t.h, t.slotted = a.Op, a.H, a.Slot
	if w.slow {
		w.arrive(t)
	}
	if len(w.invariants) > 0 && !w.holdInvariants() {
		w.yieldTo(t, nil)
	}
	o := w.objectOf(a.H)
	if w.quick && a.W == nil && o.can(a.Op, t) && !o.unbuffered() {
		return w.takeOrPark(t, o, a)
	}
	w.delist(t)
	t.state = waiting
	if a.W != nil {
		w.parkFor(t, a)
	} else {
		t.arms = t.arms[:0]
		g := o.groupOf(a.Op)
		g.add(t)
		w.parkedOn(o, g)
	}
	w.proceed(t)
	return w.take(t, o, a)
}

// takeOrPark is the rest of Block for an operation that can be taken now: while nobody else was chosen, t need not join those who
// wait for it.
func (w *World) takeOrPark(t *task, o *object, a sched.Arm) sched.Grant {
	next := w.pick()
	if next == t {
		return w.apply(t, o, a)
	}
	w.delist(t)
	t.state = waiting
	g := o.groupOf(a.Op)
	g.add(t)
	if !g.listed { // or else the others in it can go on, as t can
		w.refresh(o, g)
	}
	w.yieldTo(t, next)
	return w.take(t, o, a)
}

// parkFor waits for a hand-off to one waiter.
func (w *World) parkFor(t *task, a sched.Arm) {
	t.arms = append(t.arms[:0], a)
	w.ticketOf(a.W).task = t
	w.reconsider(t)
}

// parkedOn re-examines o after a task joined g: on an unbuffered channel that may free its partners.
func (w *World) parkedOn(o *object, g *group) {
	if o.unbuffered() {
		if w.footprints {
			w.touchMode(o, modeAdd)
		}
		w.changed(o)
		return
	}
	w.refresh(o, g)
}

// proceed hands over until t is chosen.
func (w *World) proceed(t *task) {
	if next := w.pick(); next != t {
		w.yieldTo(t, next)
	}
}

// take performs the state change of the operation that t was chosen for and makes t a plain candidate again.
func (w *World) take(t *task, o *object, a sched.Arm) sched.Grant {
	t.state = running
	if t.group != nil {
		g := t.group
		g.remove(t)
		w.enlist(t)
		if len(g.tasks) == 0 { // or else the others in it can still go on: only apply may change that
			w.refresh(o, g)
		}
	}
	if t.granted {
		t.granted, t.met = false, w.footprints
		raceAcquire(unsafe.Pointer(&t.grant))
		return t.grant
	}
	if a.W != nil {
		w.receiveTicket(t, a.W)
		return sched.Grant{}
	}
	return w.apply(t, o, a)
}

// apply changes o by an operation that can be taken.
func (w *World) apply(t *task, o *object, a sched.Arm) sched.Grant {
	switch a.Op {
	case sched.OpLock, sched.OpTryLock:
		o.holder = t
		if o.hook.Kind == sched.KindRWMutex {
			o.writing, o.intent = true, true
		} else {
			o.n = 1
		}
	case sched.OpIntend:
		o.intent = true
	case sched.OpRLock, sched.OpTryRLock:
		o.n++
	case sched.OpSend:
		if o.capacity == 0 && !o.closed {
			return w.meet(t, o, sched.OpRecv)
		}
		if !o.closed {
			o.n++
		}
	case sched.OpRecv:
		if o.n > 0 {
			o.n--
		} else if o.capacity == 0 && !o.closed {
			return w.meet(t, o, sched.OpSend)
		}
	default:
		return sched.Grant{}
	}
	w.changed(o)
	return sched.Grant{}
}

// meet completes a rendezvous: the partner's wait is over, and the caller moves the value.
func (w *World) meet(t *task, o *object, op sched.Op) sched.Grant {
	p := o.partner(op, t, -1)
	for range w.draw(uint64(o.partners(op, t))) {
		p = o.partner(op, t, p.id)
	}
	index, slot := 0, p.slotted
	for i := range p.arms {
		if p.group == nil && p.arms[i].H == &o.hook && p.arms[i].Op == op {
			index, slot = i, p.arms[i].Slot
		}
	}
	p.granted, p.grant = true, sched.Grant{Index: index, Done: true}
	if batons {
		raceAcquire(unsafe.Pointer(p))
		t.partner = p // which goes on after the value was moved
	}
	if w.footprints {
		w.foot = w.foot.add((footTask+p.mark)<<2 | modeWrite)
	}
	if p.group != nil {
		p.group.remove(p)
		w.enlist(p)
	} else {
		w.leaveArms(p) // its other arms are partners of nobody any more
		w.reconsider(p)
	}
	if w.clocksOn {
		w.meetClocks(t, p)
	}
	w.changed(o)
	return sched.Grant{Peer: slot}
}

// Try takes a if it can be taken at once.
func (b *backend) Try(a sched.Arm) sched.Grant {
	w := (*World)(b)
	b.Point(a.H, a.Op)
	t, o := w.current, w.objectOf(a.H)
	met := a.Op == sched.OpSend && o.unbuffered() && o.partner(sched.OpRecv, t, -1) != nil
	if !met && !o.can(a.Op, t) {
		return sched.Grant{Index: sched.NotReady}
	}
	return w.apply(t, o, a)
}

// Select parks the caller until one of arms can be taken. Which of several is a data choice.
func (b *backend) Select(arms []sched.Arm) sched.Grant {
	w := (*World)(b)
	if w.aborting {
		runtime.Goexit()
	}
	t := w.current
	t.op, t.h = arms[0].Op, arms[0].H
	if w.slow {
		w.arrive(t)
	}
	if len(w.invariants) > 0 && !w.holdInvariants() {
		w.yieldTo(t, nil)
	}
	w.delist(t)
	t.state = waiting
	t.arms = append(t.arms[:0], arms...)
	for i := range arms {
		w.joinArm(t, &arms[i])
	}
	w.reconsider(t)
	w.proceed(t)
	return w.takeArm(t)
}

func (w *World) joinArm(t *task, a *sched.Arm) {
	if a.W != nil {
		w.ticketOf(a.W).task = t
		return
	}
	o := w.objectOf(a.H)
	o.multi = append(o.multi, t)
	if o.unbuffered() {
		if w.footprints {
			w.touchMode(o, modeAdd)
		}
		w.changed(o)
	}
}

// leaveArms ends t's wait for several things: one was taken.
func (w *World) leaveArms(t *task) {
	if w.footprints {
		w.touchArms(t)
	}
	for i := range t.arms {
		if t.arms[i].W == nil {
			o := w.objectOf(t.arms[i].H)
			o.dropMulti(t)
			w.changed(o)
		}
	}
}

func (w *World) takeArm(t *task) sched.Grant {
	t.state = running
	if t.granted { // its partner did the rest
		t.granted, t.met = false, w.footprints
		raceAcquire(unsafe.Pointer(&t.grant))
		return t.grant
	}
	w.leaveArms(t)
	i := w.readyArm(t)
	a := t.arms[i]
	t.op, t.h, t.slotted = a.Op, a.H, a.Slot
	if a.W != nil {
		w.receiveTicket(t, a.W)
		return sched.Grant{Index: i}
	}
	g := w.apply(t, w.objectOf(a.H), a)
	g.Index = i
	return g
}

// readyArm draws one of the arms that can be taken.
func (w *World) readyArm(t *task) int {
	var ready [8]int
	n := 0
	for i := range t.arms {
		if w.armReady(&t.arms[i], t) && n < len(ready) {
			ready[n] = i
			n++
		}
	}
	if n == 1 {
		return ready[0]
	}
	return ready[w.draw(uint64(n))]
}

// ticket is the simulator's part of a Waiter.
type ticket struct {
	task  *task
	clock vclock
	turn  int32 // that gave the permit, for dpor
}

func (w *World) ticketOf(x *sched.Waiter) *ticket {
	if k, ok := x.Task.(*ticket); ok {
		return k
	}
	k := &ticket{}
	x.Task = k
	return k
}

// Wake hands a permit to x.
func (b *backend) Wake(h *sched.Hook, x *sched.Waiter) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	x.Ready = true
	k := w.ticketOf(x)
	raceRelease(unsafe.Pointer(k))
	if w.clocksOn {
		k.clock.join(&w.current.clock)
		w.current.clock.tick(w.current.id)
	}
	if w.footprints {
		w.touch(h, true)
	}
	k.turn = w.turn
	if k.task != nil {
		w.reconsider(k.task)
	}
}

func (w *World) receiveTicket(t *task, x *sched.Waiter) {
	raceAcquire(unsafe.Pointer(w.ticketOf(x)))
	if w.clocksOn {
		t.clock.join(&w.ticketOf(x).clock)
	}
}

// Outcome reports what the current task's operation did.
func (b *backend) Outcome(h *sched.Hook, op sched.Op, result uint64) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	t := w.current
	if batons && t.partner != nil {
		raceRelease(unsafe.Pointer(&t.partner.grant))
		t.partner = nil
	}
	w.hash = mix(w.hash, uint64(op)<<56|uint64(t.id)<<32|uint64(h.ID), result)
	if settled>>op&1 != 0 {
		w.settle(w.objectOf(h), op, result)
	}
	if w.clocksOn {
		w.happen(t, w.objectOf(h), op, result)
	}
	if w.slow {
		w.observe(t, h, op, result)
	}
}

// settled are the operations of settle.
const settled = 1<<sched.OpTryLock | 1<<sched.OpUnlock | 1<<sched.OpRUnlock | 1<<sched.OpWGAdd | 1<<sched.OpClose | 1<<sched.OpCancel |
	1<<sched.OpFire | 1<<sched.OpStop

// settle applies the state changes that are known only after the operation.
func (w *World) settle(o *object, op sched.Op, result uint64) {
	switch op {
	case sched.OpTryLock:
		if result == 1 && o.hook.Kind == sched.KindMutex {
			o.n, o.holder = 1, w.current
		} else {
			return
		}
	case sched.OpUnlock:
		o.holder = nil
		if o.hook.Kind == sched.KindRWMutex {
			o.writing, o.intent = false, false
		} else {
			o.n = 0
		}
	case sched.OpRUnlock:
		o.n--
	case sched.OpWGAdd:
		o.n += int(int64(result))
	case sched.OpClose, sched.OpCancel:
		if result == 0 {
			return // had ended before
		}
		o.closed = true
	case sched.OpFire:
		o.n = 1
	case sched.OpStop:
		o.n = 0
	default:
		return
	}
	w.changed(o)
}

// Go starts a task of an owner.
func (b *backend) Go(scope *sched.Hook, name string, f func()) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	t := w.spawn(name, f, false)
	t.scope = w.objectOf(scope)
}

// Choose draws a value: a data choice, recorded and replayed like the choice of a task.
func (b *backend) Choose(h *sched.Hook, n uint64) uint64 {
	w := (*World)(b)
	if w.aborting {
		return 0
	}
	v := w.draw(n)
	b.Outcome(h, sched.OpChoose, v)
	return v
}

// Event is a step of an owner's specification. What a stand-in for the outside, which knows nothing of this package, emits as something that
// has a method Fault is a fault that it drew: it counts as one that was taken.
func (b *backend) Event(owner any, action string, args []any) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	if _, ok := owner.(interface{ Fault() }); ok {
		w.took(action)
		return
	}
	for _, f := range w.onEvent {
		if err := f(owner, action, args); err != nil {
			w.mismatch(action, err)
		}
	}
}

// Violated ends the execution with a broken invariant.
func (b *backend) Violated(owner string, err error) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	w.violation(owner, err)
	w.yieldTo(w.current, nil)
}

// mix folds one event into the trace hash.
func mix(h, what, result uint64) uint64 {
	h = (h ^ what) * 0x9E3779B97F4A7C15
	h ^= h >> 32
	h = (h ^ result) * 0xD6E8FEB86659FD93
	return h ^ h>>29
}
