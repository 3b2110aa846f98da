package sim

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/millrace-dev/millrace/core/sched"
)

// World is one execution. Its methods are called by the tasks of the execution; it is also the *testing.T of a check's
// body (Errorf, Fatalf, Logf, …), which must not touch the real one.
type World struct {
	// What every point reads comes first.
	alert, quick         bool // a point has more to do than to choose: see attend; the random walk may choose within Point
	slow, clocksOn       bool // slow is one of: tracing, footprints, identity checks
	aborting, footprints bool
	current              *task
	steps, limit         int
	hash                 uint64
	random               *ahead // set when the strategy is the random walk: its choice is inlined
	ready                []*task
	open                 []*group
	schedule             []int32

	opts  *options
	check string // id
	body  func(*World)

	// What the strategy sees and leaves behind.
	strategy strategy
	births   interface{ born(parent, t *task) } // told of every new task, or nil
	always   bool                               // the strategy also sees points with one candidate
	data     []uint64

	tasks   []*task
	spare   []*task
	objects []*object
	used    []*object // those of earlier executions, by their place in objects
	begun   int       // executions
	live    int
	dead    int // tasks of crashed nodes, still to be unwound
	points  uint64

	now       time.Duration
	faults    faulty
	timers    timers
	timerSeq  int
	fires     int // timers fired
	clockTask task

	foot     footprint
	turn     int32 // of dpor
	tracing  bool
	identify bool
	trace    []event
	onEvent  []func(owner any, action string, args []any) error
	validate bool // the events of this execution are checked

	invariants []invariant
	owners     int32
	owned      []owned
	watched    bool     // the check has invariants of its own
	nodes      []string // of every incarnation

	incarnations uint32
	checkTasks   int
	scope        *sched.Scope
	joined       *sched.Hook // counts the tasks started with Go
	phase        phase
	finals       []func()
	notes        []string

	failed  bool
	verdict verdict
	pruned  bool
	goexit  *task

	detector raceState //nolint:unused // of the build with batons
	pool     []*coroutine
	driver   slot // where the one is parked who begins and ends executions
	_        [64]byte
	beat     atomic.Uint64 // executions ended, for the watchdog; on a cache line of its own
	_        [64]byte
}

// phase is how far the end of an execution has come.
//
//	working ──last check task ends──▶ closing (root scope) ──no task left──▶ final ──▶ over
type phase uint8

const (
	working phase = iota
	closing
	final
)

// reset makes the world ready for its next execution.
func (w *World) reset(s strategy, seed uint64) {
	w.strategy = s
	w.random, w.births, w.always = nil, nil, false
	w.schedule, w.data = w.schedule[:0], w.data[:0]
	w.tasks, w.ready, w.open = w.tasks[:0], w.ready[:0], w.open[:0]
	w.objects = w.objects[:0]
	w.begun++
	w.dead = 0
	w.live, w.current, w.steps, w.limit = 0, nil, 0, w.opts.steps
	w.hash = 0x6A09E667F3BCC908
	w.now, w.timers, w.timerSeq, w.fires = 0, w.timers[:0], 0, 0
	w.faults = faulty{taken: w.faults.taken[:0], after: w.faults.after[:0]}
	w.clockTask = task{id: -1, name: "clock"}
	w.clocksOn = w.opts.races
	w.footprints, w.foot = false, w.foot[:0]
	w.trace = w.trace[:0]
	w.invariants, w.owners, w.owned, w.nodes = w.invariants[:0], 0, w.owned[:0], w.nodes[:0]
	w.watched, w.incarnations = false, 0
	w.checkTasks, w.scope, w.joined, w.phase = 0, nil, nil, working
	w.finals, w.notes = w.finals[:0], w.notes[:0]
	w.failed, w.verdict, w.pruned, w.goexit = false, verdict{}, false, nil
	w.raceBegins()
	w.onEvent, w.validate = w.onEvent[:0], w.opts.traced(seed)
	s.begin(w, seed)
	w.slow = w.tracing || w.footprints || w.identify
	w.alert, w.quick = w.slow || batons, w.random != nil && !w.opts.early && !w.always
}

// run is one execution: it returns when every task has ended or a verdict was found.
func (w *World) run() {
	w.spawn("main", w.ending(func() { w.body(w) }), true)
	w.driver.park(w.slotOf(w.tasks[0]))
	if w.goexit != nil {
		runtime.Goexit() // a task did, and the driver was not the one to be told by iter.Pull
	}
	w.conclude()
}

// conclude leaves nothing of the execution behind.
func (w *World) conclude() {
	w.points += uint64(w.steps)
	w.raceFound()
	if w.live > 0 || w.dead > 0 {
		w.unwind()
	}
	w.raceEnds()
	w.beat.Add(1)
}

// Scheduler returns the scheduler whose primitives this world explores.
func (w *World) Scheduler() sched.Scheduler { return sched.With(w.withStores()) }

// Scope returns the root scope. It ends when the body and every task started with Go have ended; an owner's task
// that is left after that is a leak.
func (w *World) Scope() *sched.Scope {
	if w.scope == nil {
		w.scope = w.Scheduler().NewScope("world")
		raceRelease(unsafe.Pointer(w.scope))
	}
	raceAcquire(unsafe.Pointer(w.scope))
	return w.scope
}

// Go starts a task of the check.
func (w *World) Go(name string, f func()) {
	node := (*Node)(nil)
	if w.current != nil {
		node = w.current.node
	}
	w.start(name, f, node)
}

func (w *World) start(name string, f func(), n *Node) {
	w.fence() // what the starter stored happens before the start
	b := (*backend)(w)
	if w.joined == nil {
		w.joined = b.Object(sched.KindWaitGroup, "tasks of the check", 0)
	}
	b.Outcome(w.joined, sched.OpWGAdd, 1)
	t := w.spawn(name, w.ending(f), true)
	t.node, t.counted = n, true
	if n != nil && n.paused {
		w.hold(t)
	}
}

// left counts a task of the check that has returned.
func (w *World) left() {
	raceRelease(unsafe.Pointer(w.joined))
	(*backend)(w).Outcome(w.joined, sched.OpWGAdd, ^uint64(0))
}

// Join waits until every task started with Go so far has ended. Only the body calls it.
func (w *World) Join() {
	if w.joined == nil {
		return
	}
	w.wait()
	b := (*backend)(w)
	b.Block(sched.Arm{H: w.joined, Op: sched.OpWGWait})
	b.Outcome(w.joined, sched.OpWGWait, 1)
	raceAcquire(unsafe.Pointer(w.joined))
}

// Finally registers f to run when every task has ended: the place for assertions about the end.
func (w *World) Finally(f func()) { w.finals = append(w.finals, f) }

// Choose draws from [0,n): a choice of the check's own, explored, recorded and replayed.
func (w *World) Choose(name string, n int) int {
	v := w.draw(uint64(n))
	w.hash = mix(w.hash, uint64(sched.OpChoose)<<56|uint64(w.current.id), v)
	if w.tracing {
		w.note("choose " + name + " = " + strconv.Itoa(int(v)) + " of " + strconv.Itoa(n))
	}
	return int(v)
}

// closeScope ends the root scope when the check's own tasks are done.
func (w *World) closeScope() {
	if w.phase != working {
		return
	}
	w.phase = closing
	if w.scope != nil {
		scope := w.scope
		t := w.spawn("end of the check", func() { scope.Cancel(sched.ErrCanceled) }, false)
		t.key = keyClosing
		w.afterAll(t)
	}
}

// afterAll orders t after everything that ended or crashed, not only after the last of it.
func (w *World) afterAll(t *task) {
	if !w.clocksOn && !batons {
		return
	}
	for _, other := range w.tasks {
		if other.state == ended || other.state == dead {
			t.clock.join(&other.clock)
			raceAcquire(unsafe.Pointer(other))
		}
	}
	raceRelease(unsafe.Pointer(t))
}

// idle is called when no task can go on. It reports whether something changed: a timer fired, or the last phase
// began.
func (w *World) idle() bool {
	switch {
	case len(w.timers) > 0 && w.live > 0:
		if !w.rests(true) {
			return false
		}
		w.fireNext()
		return true
	case w.live > 0:
		w.stuck()
		return false
	case w.phase != final && len(w.finals) > 0:
		w.phase = final
		w.rests(false)
		t := w.spawn("finally", func() {
			for _, f := range w.finals {
				f()
			}
		}, false)
		t.key = keyFinal
		w.afterAll(t)
		return true
	default:
		return false
	}
}

// rests tells a search that keeps an account of it that nobody can go on, and a timer fires or the last phase begins. It reports false
// when the search ends the execution here.
func (w *World) rests(fires bool) bool {
	s, ok := w.strategy.(interface {
		rest(w *World, fires bool) bool
	})
	w.pruned = ok && !s.rest(w, fires)
	return !w.pruned
}

// takeFootprints begins to note what steps touch. A search needs it of those that it has not seen yet.
func (w *World) takeFootprints() { w.footprints, w.slow, w.alert = true, true, true }

// pick chooses the task that goes on. Nil ends the execution. The common case comes first: a random walk among several tasks.
func (w *World) pick() *task {
	if w.quick && w.steps < w.limit {
		n := len(w.ready)
		for _, g := range w.open {
			n += len(g.tasks)
		}
		if n > 1 {
			w.steps++
			var t *task
			if i := w.random.below(n); i < len(w.ready) {
				t = w.ready[i]
			} else {
				t = w.candidate(i)
			}
			w.schedule = append(w.schedule, t.id)
			return t
		}
	}
	return w.pickAny()
}

// pickAny is pick for every strategy, for forced steps and for the clock.
func (w *World) pickAny() *task {
	for {
		w.steps++
		if w.steps > w.limit {
			w.fail("steps", "", fmt.Sprintf("more than %d steps: a livelock, or a check that is too large", w.opts.steps))
			return nil
		}
		n := len(w.ready)
		for _, g := range w.open {
			n += len(g.tasks)
		}
		early := w.opts.early && len(w.timers) > 0
		if early && n > 0 {
			n++
		}
		if n == 0 {
			if !w.idle() {
				return nil
			}
			continue
		}
		i := 0
		if n > 1 || w.always {
			if i = w.choose(n); i < 0 {
				return nil
			}
		}
		t := w.candidate(i)
		switch {
		case n == 1:
		case t != nil:
			w.schedule = append(w.schedule, t.id)
		default:
			w.schedule = append(w.schedule, -1)
		}
		if t != nil {
			return t
		}
		w.fireNext()
	}
}

// choose asks the strategy.
func (w *World) choose(n int) int {
	if w.random != nil {
		return w.random.below(n)
	}
	return w.strategy.pick(w, n)
}

// candidate returns the i-th task that can go on, or nil for the clock. The order depends on the schedule alone.
func (w *World) candidate(i int) *task {
	if i < len(w.ready) {
		return w.ready[i]
	}
	i -= len(w.ready)
	for _, g := range w.open {
		if i < len(g.tasks) {
			return g.tasks[i]
		}
		i -= len(g.tasks)
	}
	return nil
}

// draw asks the strategy for a value below n, or any value when n is 0, and records it.
func (w *World) draw(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	v := w.strategy.draw(w, n)
	w.schedule = append(w.schedule, dataChoice)
	w.data = append(w.data, v)
	return v
}

// dataChoice stands in the schedule for the next entry of World.data.
const dataChoice int32 = -2
