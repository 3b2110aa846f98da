package sim

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/petermattis/goid"
)

// coroutine is a goroutine that runs tasks, one after the other. It belongs to one worker's pool. The driver, which begins and
// ends executions, is one without a slot.
//
// A hand-over is one coroutine switch, whoever goes on. iter.Pull gives a resume (next) and a return (yield), which nest; but what both do
// is to exchange the running goroutine with the one that is parked in the iterator. So an iterator is taken as a slot in which
// one goroutine is parked, not always the one that it was made with:
//
//	n coroutines, n slots, one driver: one of the n+1 runs, and each slot holds one of the others.
//
// To go on with x, the running goroutine takes x's slot. Who was parked by next is woken by yield, and the other way round.
// When a coroutine ends, the one in its own slot goes on; so ending follows the cycle of slots until everybody on it has ended.
type coroutine struct {
	w    *World
	idle slot  // where it is parked when it runs no task
	t    *task // the task it runs
	goid int64
	gone bool
	end  *slot //nolint:unused // with batons: who waits for its end
}

// slot is an iterator in which one goroutine is parked. It is kept by value with the one that is parked there: each pointer to
// follow on the way to the next of a thousand tasks is one more miss of the cache.
type slot struct {
	baton
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	asked bool // the one parked here called next
}

func (w *World) newCoroutine() *coroutine {
	c := &coroutine{w: w}
	if batons {
		c.startWithBaton()
		return c
	}
	c.idle.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.idle.yield = yield
		c.goid = goid.Get()
		defer func() { c.gone = true }()
		yield(struct{}{}) // until it is given a task
		c.loop()
	})
	c.idle.next()
	return c
}

// park parks the caller where to is parked, and wakes that one. It returns when the caller is woken.
func (from *slot) park(to *slot) {
	if batons {
		from.handBaton(to)
		return
	}
	from.takeOver(to)
	if from.asked {
		from.next()
	} else {
		from.yield(struct{}{})
	}
}

// takeOver makes to's iterator from's own: calling it is what parks one and wakes the other.
func (from *slot) takeOver(to *slot) {
	from.next, from.yield, from.asked = to.next, to.yield, !to.asked
}

// loop runs the task it was given. When that one ends and the next chosen task has not begun, it runs here
// too: no switch.
func (c *coroutine) loop() {
	w := c.w
	for !w.aborting {
		t := c.t
		t.state = running
		w.current = t
		w.begin(t)
		c.run(t)
		next := w.finish(t)
		c.t = nil
		if batons {
			w.retire(c)
			c.idle.park(w.slotOf(next))
			continue
		}
		if next != nil && next.state == fresh {
			next.co, c.t = c, next
			continue
		}
		w.pool = append(w.pool, c)
		c.idle.park(w.slotOf(next))
	}
}

// run calls the task's function and turns a panic into a verdict.
func (c *coroutine) run(t *task) {
	returned := false
	defer func() {
		raceRelease(unsafe.Pointer(t))
		if c.w.aborting || returned {
			return
		}
		if p := recover(); p != nil {
			if c.w.footprints && t.h != nil { // whether the operation panics may depend on what others did to its object
				c.w.touch(t.h, true)
			}
			c.w.fail("panic", t.name, fmt.Sprintf("task %d %q panicked: %v\n%s", t.id, t.name, p, debug.Stack()))
			return
		}
		// Everybody up to the driver dies with this coroutine; the driver's successor reports it. Their deferred functions
		// must not go on with the execution.
		c.w.goexit = t
		c.w.aborting, c.w.alert = true, true
	}()
	if t.f(); t.counted {
		c.w.left()
	}
	returned = true
}

// slotOf returns where the one is parked who runs t: an idle coroutine that is given it when it has not begun, the driver when
// there is none.
func (w *World) slotOf(t *task) *slot {
	if t == nil {
		return &w.driver
	}
	if t.state == fresh {
		t.co = w.takeCoroutine()
		t.co.t = t
		return &t.co.idle
	}
	return &t.slot
}

func (w *World) takeCoroutine() *coroutine {
	if n := len(w.pool); n > 0 {
		c := w.pool[n-1]
		w.pool = w.pool[:n-1]
		return c
	}
	return w.newCoroutine()
}

// yieldTo hands over to next and returns when t is chosen again. Nil next ends the execution.
func (w *World) yieldTo(t, next *task) {
	raceRelease(unsafe.Pointer(t))
	to := w.slotOf(next)
	var here byte
	t.sp = uintptr(unsafe.Pointer(&here))
	if batons {
		t.slot.handBaton(to)
	} else if t.slot.takeOver(to); t.slot.asked { // park, without its frame: every frame is one more line of memory of a parked task
		t.slot.next()
	} else {
		t.slot.yield(struct{}{})
	}
	if w.aborting {
		w.raceUnwinds()
		runtime.Goexit()
	}
	w.current = t
}

// unwind ends every unfinished task, from a goroutine that is thrown away: Goexit inside a coroutine can end
// the goroutine that resumed it, and unlike a panic no deferred function can swallow it. Deferred
// functions run, but each operation in them unwinds further.
func (w *World) unwind() {
	w.aborting, w.alert = true, true
	for _, t := range w.tasks {
		if t.co != nil && t.state != ended && t.state != fresh {
			w.exit(t.co, &t.slot)
		}
	}
	w.forget()
	w.aborting = false
}

// exit ends c, which is parked in s, and everybody on the same cycle of slots.
func (w *World) exit(c *coroutine, s *slot) {
	if c.gone {
		return
	}
	gone := make(chan struct{})
	here := &slot{}
	c.endsAt(here)
	go func() {
		defer close(gone)
		here.park(s)
	}()
	select {
	case <-gone:
	case <-time.After(w.opts.stall):
		w.stalled("a task does not unwind: a deferred function blocks")
	}
}

// forget takes the coroutines that have ended out of the pool.
func (w *World) forget() {
	kept := w.pool[:0]
	for _, c := range w.pool {
		if !c.gone {
			kept = append(kept, c)
		}
	}
	clear(w.pool[len(kept):])
	w.pool = kept
}

// drain ends the pool's coroutines, which are idle: each returns from its loop.
func (w *World) drain() {
	w.aborting = true
	for _, c := range w.pool {
		if !c.gone {
			c.endsAt(&w.driver)
			w.driver.park(&c.idle)
		}
	}
	w.pool = nil
	w.aborting = false
	w.drained()
}
