package sim

import "github.com/millrace-dev/millrace/core/sched"

// object is the simulator's view of one primitive: enough of its state to know which operation on it can
// be taken without blocking.
type object struct {
	hook sched.Hook

	// n is 1 while a mutex is held for writing, the number of readers of a read-write mutex, the length
	// of a channel or of a timer's channel, the counter of a wait group.
	n        int
	capacity int
	closed   bool // channel closed, scope ended
	intent   bool // a writer announced itself, or holds the lock
	writing  bool // a read-write mutex is held for writing
	holder   *task

	in, out group   // tasks that wait for one operation: receivers, lockers, waiters; senders, readers, intenders
	multi   []*task // tasks that wait for one of several, an arm here among them

	hb    clocks
	owner int32 // 1 + index of the owner that this object belongs to, or 0
	timer *timer
}

// freshExecutions is how many executions of a world have objects that are never used again: a check that keeps a primitive for the
// next execution keeps one of these, and objectOf tells.
const freshExecutions = 8

// newObject returns an object for the next primitive, and takes one of an earlier execution where it may: making them would
// be half of a short execution.
func (w *World) newObject() *object {
	if n := len(w.objects); n < len(w.used) {
		w.used[n].clear()
		return w.used[n]
	}
	o := &object{}
	if w.begun > freshExecutions {
		w.used = append(w.used, o)
	}
	return o
}

// clear forgets everything but the room of the lists.
func (o *object) clear() {
	hb := clocks{sends: o.hb.sends[:0], recvs: o.hb.recvs[:0]}
	hb.all.v, hb.readers.v, hb.reads = o.hb.all.v[:0], o.hb.readers.v[:0], o.hb.reads[:0]
	*o = object{in: group{tasks: o.in.tasks[:0]}, out: group{tasks: o.out.tasks[:0]}, multi: o.multi[:0], hb: hb}
}

// group is the tasks that wait for the same single operation of one object. While the operation can be
// taken, each of them is a candidate; listing whole groups keeps a step's cost independent of their
// number.
type group struct {
	tasks  []*task
	ready  bool // the operation can be taken
	listed bool // in World.open
}

// groupOf returns where a task waits for op alone.
func (o *object) groupOf(op sched.Op) *group {
	switch op {
	case sched.OpSend, sched.OpRLock, sched.OpIntend:
		return &o.out
	default:
		return &o.in
	}
}

// can reports whether op can be taken on o now, by t.
func (o *object) can(op sched.Op, t *task) bool {
	switch op {
	case sched.OpLock:
		if o.hook.Kind == sched.KindRWMutex {
			return !o.writing && o.n == 0
		}
		return o.n == 0
	case sched.OpTryLock:
		return !o.intent && !o.writing && o.n == 0
	case sched.OpRLock, sched.OpTryRLock, sched.OpIntend:
		return !o.intent
	case sched.OpSend: // a rendezvous is led by its receiver: a waiting sender goes on when it was met
		return o.closed || o.n < o.capacity
	case sched.OpRecv:
		return o.n > 0 || o.closed || (o.capacity == 0 && o.partner(sched.OpSend, t, -1) != nil)
	case sched.OpWGWait:
		return o.n == 0
	case sched.OpDone:
		return o.closed
	default:
		return true
	}
}

// unbuffered reports whether o is a channel on which a send and a receive must meet.
func (o *object) unbuffered() bool { return o.hook.Kind == sched.KindChan && o.capacity == 0 }

// waitsTo reports whether t, which waits with several arms, has one for op on o.
func (t *task) waitsTo(op sched.Op, o *object) bool {
	for i := range t.arms {
		if t.arms[i].H == &o.hook && t.arms[i].Op == op {
			return true
		}
	}
	return false
}

// partners counts the tasks, except self, that wait to perform op on an unbuffered channel.
func (o *object) partners(op sched.Op, self *task) int {
	n := 0
	for t := o.partner(op, self, -1); t != nil; t = o.partner(op, self, t.id) {
		n++
	}
	return n
}

// partner returns the one with the lowest id above after, or nil. Which of them a rendezvous takes is a data choice and not the order in
// which they began to wait: the step that ends by waiting would otherwise conflict with every other such step.
func (o *object) partner(op sched.Op, self *task, after int32) (best *task) {
	better := func(t *task) bool {
		return t != self && !t.granted && !t.held && t.id > after && (best == nil || t.id < best.id)
	}
	for _, t := range o.groupOf(op).tasks {
		if better(t) {
			best = t
		}
	}
	for _, t := range o.multi {
		if better(t) && t.waitsTo(op, o) {
			best = t
		}
	}
	return best
}

// armReady reports whether one arm can be taken.
func (w *World) armReady(a *sched.Arm, t *task) bool {
	if a.W != nil {
		return a.W.Ready
	}
	return w.objectOf(a.H).can(a.Op, t)
}

// changed re-examines who can go on after o's state changed.
func (w *World) changed(o *object) {
	if len(o.in.tasks) > 0 || o.in.listed {
		w.refresh(o, &o.in)
	}
	if len(o.out.tasks) > 0 || o.out.listed {
		w.refresh(o, &o.out)
	}
	for _, t := range o.multi {
		w.reconsider(t)
	}
}

// refresh lists g among the open groups exactly when it has tasks that can go on.
func (w *World) refresh(o *object, g *group) {
	if len(g.tasks) > 0 {
		g.ready = o.can(g.tasks[0].op, nil)
	}
	list := g.ready && len(g.tasks) > 0
	if list == g.listed {
		return
	}
	g.listed = list
	if list {
		w.open = append(w.open, g)
		return
	}
	for i, other := range w.open {
		if other == g {
			w.open = append(w.open[:i], w.open[i+1:]...)
			return
		}
	}
}

// reconsider makes a task that waits for several things a candidate exactly when one can be taken.
func (w *World) reconsider(t *task) {
	if t.state != waiting || t.group != nil || t.held {
		return
	}
	able := t.granted
	for i := 0; i < len(t.arms) && !able; i++ {
		able = w.armReady(&t.arms[i], t)
	}
	if able && t.index < 0 {
		w.enlist(t)
	} else if !able && t.index >= 0 {
		w.delist(t)
	}
}

// enlist makes t an individual candidate.
func (w *World) enlist(t *task) {
	t.index = len(w.ready)
	w.ready = append(w.ready, t)
}

// delist takes t out of the individual candidates. The last takes its place: the order depends on the schedule
// alone.
func (w *World) delist(t *task) {
	last := len(w.ready) - 1
	moved := w.ready[last]
	w.ready[t.index] = moved
	moved.index = t.index
	w.ready = w.ready[:last]
	t.index = -1
}

func (g *group) add(t *task) {
	t.group, t.place = g, len(g.tasks)
	g.tasks = append(g.tasks, t)
}

func (g *group) remove(t *task) {
	last := len(g.tasks) - 1
	moved := g.tasks[last]
	g.tasks[t.place] = moved
	moved.place = t.place
	g.tasks = g.tasks[:last]
	t.group = nil
}

func (o *object) dropMulti(t *task) {
	for i, other := range o.multi {
		if other == t {
			o.multi = append(o.multi[:i], o.multi[i+1:]...)
			return
		}
	}
}
