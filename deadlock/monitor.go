package deadlock

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// monitor watches one execution of a program. It is a [sched.Backend].
type monitor struct {
	seed   uint64
	second bool          // go-deadlock's locks stand in
	silent bool          // of the findings only those of go-deadlock count
	ticks  atomic.Uint64 // decides with the seed who gives way
	dead   chan struct{} // closed with the first finding after which the program cannot go on
	first  chan struct{} // closed with the first finding
	opined chan struct{} // one is put in when go-deadlock reported something

	mu       sync.Mutex // guards the rest, and every task and object
	tasks    map[int64]*task
	live     []*task // in order of their start
	started  int
	objects  []*object
	running  int        // tasks that do not wait
	timers   int        // armed, or firing
	rng      *rand.Rand // of what the program draws
	order    graph
	findings []inventory.Verdict
	over     bool          // dead is closed
	idle     chan struct{} // closed when the last task has ended; nil from then on
}

// newMonitor returns a monitor of a program that has not begun. The seed draws where its tasks give way to others.
func newMonitor(seed uint64) *monitor {
	return &monitor{
		seed: seed, dead: make(chan struct{}), first: make(chan struct{}), opined: make(chan struct{}, 1), idle: make(chan struct{}),
		tasks: map[int64]*task{}, order: newGraph(), rng: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // a run is begun again by its seed
	}
}

// Scheduler returns the scheduler whose primitives this monitor watches.
func (m *monitor) Scheduler() sched.Scheduler { return sched.With(m) }

// found returns what was found so far, in order.
func (m *monitor) found() []inventory.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.findings)
}

// begin registers a task before its goroutine exists, so that there is no moment in which nobody seems to be left.
func (m *monitor) begin(name string) *task {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(name)
}

func (m *monitor) add(name string) *task {
	m.started++
	t := &task{id: m.started, name: name}
	m.live = append(m.live, t)
	m.running++
	return t
}

// run is the goroutine of a task.
func (m *monitor) run(t *task, f func()) {
	gid := goid.Get()
	m.mu.Lock()
	m.tasks[gid] = t
	m.mu.Unlock()
	defer m.end(gid, t)
	defer func() {
		if p := recover(); p != nil {
			m.panicked(t, p)
		}
	}()
	f()
}

func (m *monitor) end(gid int64, t *task) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unblock(t)
	delete(m.tasks, gid)
	m.live = slices.DeleteFunc(m.live, func(x *task) bool { return x == t })
	for _, o := range t.counted {
		o.counted = slices.DeleteFunc(o.counted, func(x *task) bool { return x == t })
	}
	m.running--
	m.rest()
}

// current returns the task of the calling goroutine. One that nobody announced is a library's. The guard is held.
func (m *monitor) current() *task {
	gid := goid.Get()
	t := m.tasks[gid]
	if t == nil {
		t = m.add("goroutine of a library")
		t.foreign = true
		m.tasks[gid] = t
	}
	m.unblock(t)
	return t
}

// enter takes the guard for an operation of the current task. When the program is dead it does not return, unless the task is
// on its way out already: its deferred calls free what others may still wait for.
func (m *monitor) enter() *task {
	m.mu.Lock()
	t := m.current()
	if m.over && !t.foreign && !t.leaving {
		m.leave(t)
	}
	return t
}

// leave ends the current task. The guard is held, and is free when its deferred calls run.
func (m *monitor) leave(t *task) {
	m.unblock(t)
	t.leaving = true
	m.mu.Unlock()
	runtime.Goexit()
}

func (m *monitor) unblock(t *task) {
	if !t.blocked {
		return
	}
	t.blocked = false
	m.running++
}

func (m *monitor) of(h *sched.Hook) *object { return m.objects[h.ID] }

// giveWay lets others go on, here and there.
func (m *monitor) giveWay() {
	x := (m.ticks.Add(1) + m.seed<<32) * 0x9E3779B97F4A7C15
	if x>>61 == 0 {
		runtime.Gosched()
	}
}
