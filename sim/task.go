package sim

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/petermattis/goid"
)

// state is where a task is in its life.
//
//	fresh ──first resume──▶ running ◀──▶ waiting ──▶ dead (its node crashed)
//	                           └──returns──▶ ended
type state uint8

const (
	fresh state = iota
	running
	waiting
	ended
	dead
)

// task is one simulated task.
type task struct {
	id      int32
	name    string
	f       func()
	state   state
	mine    bool // a task of the check, not of an owner
	counted bool // in World.joined
	node    *Node
	scope   *object
	co      *coroutine

	// The operation announced by the last point.
	op sched.Op
	h  *sched.Hook

	index   int    // in World.ready, or -1
	group   *group // where it waits for one operation, or nil
	place   int    // in group.tasks
	arms    []sched.Arm
	slot    any // its operand in a rendezvous
	granted bool
	met     bool // its operation was done by a partner's step; only for footprints
	grant   sched.Grant

	clock  vclock
	where  []uintptr // stack at the last point, when tracing
	tick   uint32    // of its own clock at that point, when tracing
	key    uint64    // the same in every execution: path of births
	kids   int
	prio   int64 // PCT
	streak int   // PCT: consecutive points
}

// coroutine runs tasks, one after the other. It belongs to one worker's pool.
type coroutine struct {
	w     *World
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	t     *task
	goid  int64
	// chained: it waits for a task that it resumed.
	chained bool
}

func (w *World) newCoroutine() *coroutine {
	c := &coroutine{w: w}
	c.next, c.stop = iter.Pull(c.loop)
	return c
}

// loop runs the task it was given. When that one ends and the next chosen task has not begun, it runs here
// too: no switch.
func (c *coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	c.goid = goid.Get()
	w := c.w
	for {
		for c.t != nil {
			t := c.t
			t.state = running
			w.current = t
			w.begin(t)
			c.run(t)
			next := w.finish(t)
			c.t = nil
			if next != nil && next.state == fresh {
				next.co = c
				c.t = next
				continue
			}
			w.next = next
		}
		w.pool = append(w.pool, c)
		if !yield(struct{}{}) {
			return
		}
	}
}

// run calls the task's function and turns a panic into a verdict.
func (c *coroutine) run(t *task) {
	returned := false
	defer func() {
		if c.w.aborting || returned {
			return
		}
		if p := recover(); p != nil {
			c.w.fail("panic", t.name, fmt.Sprintf("task %d %q panicked: %v\n%s", t.id, t.name, p, debug.Stack()))
			return
		}
		// Everybody up to the driver dies with this coroutine; the driver's successor reports it. Their deferred functions
		// must not go on with the execution.
		c.w.goexit = t
		c.w.aborting, c.w.alert = true, true
	}()
	t.f()
	returned = true
}

// begin counts the task's start as its first event.
func (w *World) begin(t *task) {
	w.hash = mix(w.hash, uint64(sched.OpStart)<<56|uint64(t.id), 0)
	if w.slow {
		t.tick = t.clock.at(t.id)
		w.observe(t, nil, sched.OpStart, 0)
	}
}

// finish ends the current task and chooses the next.
func (w *World) finish(t *task) *task {
	t.state = ended
	t.co = nil
	w.hash = mix(w.hash, uint64(sched.OpEnd)<<56|uint64(t.id), 0)
	if w.slow {
		w.observe(t, nil, sched.OpEnd, 0)
	}
	w.live--
	w.delist(t)
	if t.mine {
		w.checkTasks--
		if w.checkTasks == 0 {
			w.closeScope()
		}
	}
	if w.failed {
		return nil
	}
	if len(w.invariants) > 0 && !w.holdInvariants() {
		return nil
	}
	return w.pick()
}

// spawn makes a task a candidate. It is no scheduling point: the next point of the spawning task offers it.
func (w *World) spawn(name string, f func(), mine bool) *task {
	t := w.newTask()
	t.id, t.name, t.f, t.mine = int32(len(w.tasks)), name, f, mine
	t.state, t.op, t.h, t.index = fresh, sched.OpStart, nil, -1
	if w.current != nil {
		t.node = w.current.node
		if w.clocksOn {
			w.fork(w.current, t)
		}
	} else if w.clocksOn {
		t.clock.tick(t.id)
	}
	w.tasks = append(w.tasks, t)
	w.live++
	if mine {
		w.checkTasks++
	}
	w.enlist(t)
	if parent := w.current; parent != nil {
		t.key = mix(parent.key, uint64(parent.kids)+1, 0)
		parent.kids++
	}
	if w.births != nil {
		w.births.born(w.current, t)
	}
	return t
}

func (w *World) newTask() *task {
	if n := len(w.tasks); n < len(w.spare) {
		t := w.spare[n]
		clock := t.clock.v[:0]
		*t = task{arms: t.arms[:0]}
		t.clock.v = clock
		return t
	}
	t := &task{}
	w.spare = append(w.spare, t)
	return t
}

// resume runs the chosen task until it hands over or ends. It is called by the driver only.
func (w *World) resume(t *task) {
	w.next = nil
	if t.state == fresh {
		c := w.takeCoroutine()
		t.co, c.t = c, t
	}
	w.current = t
	t.co.next()
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
//
// A task resumes the next one itself, so that a hand-over is one coroutine switch and not two through the driver. The
// coroutines that wait in such a resume are a chain from the driver to the running one. To go on with one of them, or with the
// driver, the ones after it are suspended first. Each is suspended at most once for each time it was resumed, so a
// hand-over costs at most two switches, and one between two tasks.
func (w *World) yieldTo(t, next *task) {
	c := t.co
	for next != nil && (next.co == nil || !next.co.chained) {
		c.chained = true
		w.resume(next)
		c.chained = false
		if next = w.next; next == t {
			w.current = t
			return
		}
	}
	w.next = next
	c.yield(struct{}{})
	if w.aborting {
		runtime.Goexit()
	}
	w.current = t
}

// unwind ends every unfinished task, from a goroutine that is thrown away: Goexit inside a coroutine ends
// the goroutine that resumes it, and unlike a panic no deferred function can swallow it. Deferred
// functions run, but each operation in them unwinds further.
func (w *World) unwind() {
	w.aborting, w.alert = true, true
	for _, t := range w.tasks {
		if t.co == nil || t.state == ended || t.state == fresh {
			continue
		}
		w.exit(t.co)
	}
	w.aborting = false
}

func (w *World) exit(c *coroutine) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.next()
	}()
	select {
	case <-gone:
	case <-time.After(w.opts.stall):
		w.stalled("a task does not unwind: a deferred function blocks")
	}
}

// drain ends the pool's idle coroutines.
func (w *World) drain() {
	for _, c := range w.pool {
		c.stop()
	}
	w.pool = nil
}
