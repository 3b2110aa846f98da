package sim

import (
	"runtime"

	"github.com/millrace-dev/millrace/core/sched"
)

// TSO lets atomic stores reach memory late, as total store order does: behind later loads of the same task, never behind its
// later stores. Go's atomics are sequentially consistent, so a check that fails only here has found no bug; it has found
// an algorithm that depends on that and must not be ported to acquire and release as it is.
//
// A task's own loads see its delayed stores. Whatever is neither a plain atomic load nor a store (read-modify-write, locks,
// channels, starting a task, its end) first lets all of them happen. When the next one happens by itself is a choice: a task of
// its own for each that stores.
func TSO() Option { return func(o *options) { o.tso = true } }

// tsoWord is how options and MILLRACE_SIM name it.
const tsoWord = "tso"

// storeBuffers is the backend of a world under TSO.
type storeBuffers struct{ *backend }

var (
	_ sched.Backend = storeBuffers{}
	_ sched.Delayer = storeBuffers{}
)

// delayed is one store that has not reached memory.
type delayed struct {
	h        *sched.Hook
	exchange func() // swaps memory and the stored value
	clock    vclock // what it releases
}

// storeBuffer is the delayed stores of one task, oldest first.
type storeBuffer struct {
	stores  []delayed
	flusher *task    // lets the oldest happen; a candidate exactly while there is one
	shown   *delayed // memory shows it during a load of the task itself
}

// withStores is the world's backend as its primitives see it.
func (w *World) withStores() sched.Backend {
	if w.opts.tso {
		return storeBuffers{(*backend)(w)}
	}
	return (*backend)(w)
}

func (b storeBuffers) world() *World { return (*World)(b.backend) }

// Object marks atomics, whose stores are delayed.
func (b storeBuffers) Object(kind sched.Kind, name string, capacity int) *sched.Hook {
	h := b.backend.Object(kind, name, capacity)
	h.B, h.Delayed = b, kind == sched.KindAtomic || kind == sched.KindPublication
	return h
}

// Point announces a load, a store, or something that waits for the task's stores.
func (b storeBuffers) Point(h *sched.Hook, op sched.Op) {
	w := b.world()
	if w.aborting {
		runtime.Goexit()
	}
	if !passesStores(op) {
		w.wait()
	}
	b.backend.Point(h, op)
	if op == sched.OpLoad {
		w.show(h)
	}
}

// passesStores reports whether an operation may take effect before earlier stores of its task.
func passesStores(op sched.Op) bool {
	switch op {
	case sched.OpLoad, sched.OpStore, sched.OpYield, sched.OpGet, sched.OpLen:
		return true
	default:
		return false
	}
}

// Outcome reports an operation. A delayed store gives its clock to the object when it happens.
func (b storeBuffers) Outcome(h *sched.Hook, op sched.Op, result uint64) {
	w := b.world()
	switch {
	case w.aborting:
		return
	case op == sched.OpLoad:
		w.hide()
	case op == sched.OpStore && h.Delayed:
		w.storeLater(h, op, result)
		return
	case w.current.id >= 0 && !passesStores(op):
		w.fence()
	}
	b.backend.Outcome(h, op, result)
}

// Block parks the caller until a can be taken.
func (b storeBuffers) Block(a sched.Arm) sched.Grant {
	b.world().wait()
	return b.backend.Block(a)
}

// Try takes a if it can be taken at once.
func (b storeBuffers) Try(a sched.Arm) sched.Grant {
	b.world().wait()
	return b.backend.Try(a)
}

// Select parks the caller until one of arms can be taken.
func (b storeBuffers) Select(arms []sched.Arm) sched.Grant {
	b.world().wait()
	return b.backend.Select(arms)
}

// Wake hands a permit to x. It may be called under a real lock, so it is no point; the operation that it is part of was one.
func (b storeBuffers) Wake(h *sched.Hook, x *sched.Waiter) {
	b.world().fence()
	b.backend.Wake(h, x)
}

// Go starts a task of an owner.
func (b storeBuffers) Go(scope *sched.Hook, name string, f func()) {
	b.world().fence()
	b.backend.Go(scope, name, b.world().ending(f))
}

// Delay buffers the current task's store.
func (b storeBuffers) Delay(h *sched.Hook, exchange func()) {
	w := b.world()
	if w.aborting {
		return
	}
	s := w.storesOf(w.current)
	s.stores = append(s.stores, delayed{h: h, exchange: exchange})
	w.listFlusher(w.current, s)
}

// storeLater finishes the store that Delay has just buffered.
func (w *World) storeLater(h *sched.Hook, op sched.Op, result uint64) {
	t := w.current
	w.hash = mix(w.hash, uint64(op)<<56|uint64(t.id)<<32|uint64(h.ID), result)
	if w.clocksOn {
		s := t.stores
		s.stores[len(s.stores)-1].clock.set(&t.clock)
		t.clock.tick(t.id)
	}
	if w.slow {
		w.observe(t, h, op, result)
	}
}

func (w *World) storesOf(t *task) *storeBuffer {
	if t.stores == nil {
		t.stores = &storeBuffer{}
	}
	return t.stores
}

// listFlusher makes the task that lets t's oldest store happen a candidate. It is started again and again: its id stays.
func (w *World) listFlusher(t *task, s *storeBuffer) {
	if w.footprints {
		w.foot = w.foot.add(footAlloc<<2 | modeWrite) // tasks are numbered
	}
	if s.flusher == nil {
		s.flusher = w.spawn(t.name+"'s stores", func() { w.flush(s) }, false)
		return
	}
	if s.flusher.state == ended {
		s.flusher.state, s.flusher.op = fresh, sched.OpStart
		w.live++
		w.enlist(s.flusher)
	}
}

// flush is the flusher's life: a step for each store, until none is left.
func (w *World) flush(s *storeBuffer) {
	w.happenNow(s)
	for len(s.stores) > 0 {
		(*backend)(w).Point(nil, sched.OpYield)
		if len(s.stores) > 0 {
			w.happenNow(s)
		}
	}
}

// happenNow lets the oldest store reach memory.
func (w *World) happenNow(s *storeBuffer) {
	d := s.stores[0]
	s.stores = append(s.stores[:0], s.stores[1:]...)
	d.exchange()
	o := w.objectOf(d.h)
	if w.clocksOn {
		o.hb.all.set(&d.clock)
	}
	if w.footprints {
		w.touchMode(o, modeWrite)
	}
	if w.tracing {
		w.note("the store to " + objectName(d.h) + " reaches memory")
	}
}

// wait lets all stores of the current task happen, in a step of its own: others may go on before.
func (w *World) wait() {
	if s := w.current.stores; !w.aborting && s != nil && len(s.stores) > 0 {
		(*backend)(w).Point(nil, sched.OpYield)
		w.fence()
	}
}

// fence lets all stores of the current task happen, within its step.
func (w *World) fence() {
	t := w.current
	if w.aborting || t.stores == nil || len(t.stores.stores) == 0 {
		return
	}
	s := t.stores
	for len(s.stores) > 0 {
		w.happenNow(s)
	}
	if f := s.flusher; f.state == fresh && f.index >= 0 {
		w.delist(f)
		f.state = ended
		w.live--
	}
}

// show lets the current task's load see its own latest store to h.
func (w *World) show(h *sched.Hook) {
	s := w.current.stores
	if s == nil {
		return
	}
	for i := len(s.stores) - 1; i >= 0; i-- {
		if d := &s.stores[i]; d.h == h {
			d.exchange()
			s.shown = d
			return
		}
	}
}

// hide undoes show: for everybody else the store has not happened.
func (w *World) hide() {
	if s := w.current.stores; s != nil && s.shown != nil {
		s.shown.exchange()
		s.shown = nil
	}
}

// ending lets a task's stores happen before it ends.
func (w *World) ending(f func()) func() {
	if !w.opts.tso {
		return f
	}
	return func() {
		f()
		w.wait()
	}
}
