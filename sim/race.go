package sim

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// vclock counts, for each task, the releases that happened before.
type vclock struct{ v []uint32 }

func (c *vclock) at(id int32) uint32 {
	if uint(id) < uint(len(c.v)) { // also for the clock, whose id is negative
		return c.v[id]
	}
	return 0
}

func (c *vclock) grow(n int) {
	for len(c.v) < n {
		c.v = append(c.v, 0)
	}
}

// tick counts an event of the task. The clock, which fires timers, has no component of its own (its id is
// negative): what a timer releases is what armed it.
func (c *vclock) tick(id int32) {
	if id < 0 {
		return
	}
	c.grow(int(id) + 1)
	c.v[id]++
}

func (c *vclock) join(o *vclock) {
	c.grow(len(o.v))
	mine := c.v[:len(o.v)]
	for i, x := range o.v {
		mine[i] = max(mine[i], x)
	}
}

func (c *vclock) set(o *vclock) { c.v = append(c.v[:0], o.v...) }

// zeroed returns n zero clocks, in v's room where there is enough.
func zeroed(v []vclock, n int) []vclock {
	if cap(v) < n {
		return make([]vclock, n)
	}
	v = v[:n]
	for i := range v {
		v[i].v = v[i].v[:0]
	}
	return v
}

// clocks is what an object remembers of those who released to it.
type clocks struct {
	all     vclock // released by writers, or by everybody
	readers vclock // read unlocks, towards the next writer

	// A buffered channel: the k-th send happens before the k-th receive, and the k-th receive before the
	// (k+capacity)-th send.
	sends, recvs       []vclock
	sendNext, recvNext int

	// A Cell: the last write, and the reads since.
	wrote access
	reads []access
}

// access is one plain access: who, when on his own clock, and where when tracing.
type access struct {
	task  *task
	tick  uint32
	where []uintptr
	step  int
}

func (w *World) fork(parent, child *task) {
	child.clock.set(&parent.clock)
	child.clock.tick(child.id)
	parent.clock.tick(parent.id)
}

func (w *World) acquire(t *task, c *vclock) { t.clock.join(c) }

func (w *World) release(t *task, c *vclock) {
	c.join(&t.clock)
	t.clock.tick(t.id)
}

// exchange acquires and releases: then both know the same.
func (w *World) exchange(t *task, c *vclock) {
	t.clock.join(c)
	c.set(&t.clock)
	t.clock.tick(t.id)
}

// happen draws the happens-before edges of one operation; op.go of core/sched lists them.
func (w *World) happen(t *task, o *object, op sched.Op, result uint64) {
	hb := &o.hb
	switch op {
	case sched.OpLoad, sched.OpGet, sched.OpSubscribe, sched.OpDone, sched.OpWGWait:
		w.acquire(t, &hb.all)
	case sched.OpStore:
		hb.all.set(&t.clock)
		t.clock.tick(t.id)
	case sched.OpSwap, sched.OpAdd, sched.OpAnd, sched.OpOr, sched.OpExternal:
		w.exchange(t, &hb.all)
	case sched.OpCAS:
		if result == 1 {
			w.exchange(t, &hb.all)
		} else {
			w.acquire(t, &hb.all)
		}
	case sched.OpSend, sched.OpRecv:
		w.pass(t, o, op, result)
	default:
		w.happenGuard(t, o, op, result)
	}
}

func (w *World) happenGuard(t *task, o *object, op sched.Op, result uint64) {
	hb := &o.hb
	switch op {
	case sched.OpLock, sched.OpTryLock:
		if result == 1 {
			w.acquire(t, &hb.all)
			w.acquire(t, &hb.readers)
		}
	case sched.OpRLock, sched.OpTryRLock, sched.OpAcquire:
		if result == 1 {
			w.acquire(t, &hb.all)
		}
	case sched.OpRUnlock:
		w.release(t, &hb.readers)
	case sched.OpWait: // the waker's clock came with the hand-off; these also order their earlier users
		if result == 1 && (o.hook.Kind == sched.KindSemaphore || o.hook.Kind == sched.KindOnce) {
			w.acquire(t, &hb.all)
		}
	case sched.OpCancel:
		if result == 1 {
			w.release(t, &hb.all)
		}
	case sched.OpSet:
		w.acquire(t, &hb.all) // an update reads what it replaces; a write-once value that is set was read
		if result > 0 {
			w.release(t, &hb.all)
		}
	case sched.OpDrop:
		if result == 1 { // it passes on what it was given
			w.acquire(t, &hb.all)
			w.release(t, &hb.all)
		}
	case sched.OpRegister, sched.OpOnce:
		if result == 0 {
			w.acquire(t, &hb.all)
		}
	case sched.OpWGAdd:
		if int64(result) < 0 { // a count up tells those who wait nothing
			w.release(t, &hb.all)
		}
	case sched.OpUnlock, sched.OpRelease, sched.OpClose, sched.OpArm,
		sched.OpFire, sched.OpSignal, sched.OpBroadcast:
		w.release(t, &hb.all)
	default:
	}
}

// pass draws the edges of a channel. An unbuffered rendezvous has drawn its own.
func (w *World) pass(t *task, o *object, op sched.Op, result uint64) {
	hb := &o.hb
	if o.hook.Kind != sched.KindChan || o.capacity == 0 {
		w.acquire(t, &hb.all)
		return
	}
	if len(hb.sends) == 0 {
		hb.sends, hb.recvs = zeroed(hb.sends, o.capacity), zeroed(hb.recvs, o.capacity)
	}
	switch {
	case op == sched.OpSend && result == 1:
		i := hb.sendNext % o.capacity
		hb.sendNext++
		w.acquire(t, &hb.recvs[i])
		hb.sends[i].set(&t.clock)
		t.clock.tick(t.id)
	case op == sched.OpRecv && result == 1:
		i := hb.recvNext % o.capacity
		hb.recvNext++
		w.acquire(t, &hb.sends[i])
		hb.recvs[i].set(&t.clock)
		t.clock.tick(t.id)
	case op == sched.OpRecv && result == 0:
		w.acquire(t, &hb.all) // closed
	}
}

// meetClocks orders both sides of a rendezvous before what follows on the other.
func (w *World) meetClocks(t, p *task) {
	t.clock.join(&p.clock)
	p.clock.join(&t.clock)
	t.clock.tick(t.id)
	p.clock.tick(p.id)
}

// Access checks one plain access to a Cell: two accesses, one of them a write, that no chain of
// synchronization orders are a race, whatever order this execution took them in.
func (b *backend) Access(h *sched.Hook, write bool) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	t, o := w.current, w.objectOf(h)
	op := sched.OpRead
	if write {
		op = sched.OpWrite
	}
	w.hash = mix(w.hash, uint64(op)<<56|uint64(t.id)<<32|uint64(h.ID), 0)
	if w.slow {
		if w.tracing {
			t.where, t.tick = callers(2), t.clock.at(t.id)
		}
		w.observe(t, h, op, 0)
	}
	if !w.clocksOn {
		return
	}
	a := access{task: t, tick: t.clock.at(t.id), step: w.steps}
	if w.tracing {
		a.where = t.where
	}
	w.race(o, a, write)
}

func (w *World) race(o *object, a access, write bool) {
	hb := &o.hb
	if before := &hb.wrote; before.task != nil && !ordered(before, a.task) {
		w.raced(o, before, &a, "write", write)
	}
	if !write {
		for i := range hb.reads {
			if hb.reads[i].task == a.task {
				hb.reads[i] = a
				return
			}
		}
		hb.reads = append(hb.reads, a)
		return
	}
	for i := range hb.reads {
		if !ordered(&hb.reads[i], a.task) {
			w.raced(o, &hb.reads[i], &a, "read", write)
		}
	}
	hb.wrote, hb.reads = a, hb.reads[:0]
}

func ordered(before *access, t *task) bool {
	return before.task == t || before.tick <= t.clock.at(before.task.id)
}

func (w *World) raced(o *object, before, now *access, kind string, write bool) {
	second := "read"
	if write {
		second = "write"
	}
	msg := fmt.Sprintf("%s of %s by task %d %q at step %d%s\nand %s by task %d %q at step %d%s\nare not ordered: nothing released after the first is acquired before the second",
		kind, o.hook.Name, before.task.id, before.task.name, before.step, stackText(before.where),
		second, now.task.id, now.task.name, now.step, stackText(now.where))
	if w.tracing {
		msg += w.missing(before, now)
	}
	w.fail("race", o.hook.Name, msg)
	w.yieldTo(w.current, nil)
}
