// Package sct holds the 23 classic programs of the CS, CB and Inspect families of SCTBench (Thomson, Donaldson, Betts 2014),
// written anew on core/sched as the builds that PERIOD's benchmark set gave to the published comparison of Zhao et al.
// (ASPLOS 2025): with its thread counts and its order of creating and joining. One of them, bbuf, has no bug that anybody found.
//
// What counts as a step decides how hard a bug is for a random walk. The published harness schedules before every operation
// of the thread library, before and after it creates a thread, when a thread exits, and before every memory access of
// unoptimized code, locals included. So here too: shared memory is an atomic, and an access to a local is a scheduling point
// without an object. Without the latter, threads would start nearly together, and the walk would find in three schedules what
// takes it hundreds.
package sct

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// Program is one program.
type Program struct {
	Name string
	Body func(w *sim.World)
}

// Programs returns all of them, in the order in which they were published.
func Programs() []Program {
	return []Program{
		{"CS/twostage", twoStage(1, 1)},
		{"CS/twostage_20", twoStage(10, 10)},
		{"CS/twostage_50", twoStage(40, 10)},
		{"CS/twostage_100", twoStage(99, 1)},
		{"CS/reorder_3", reorder(2, 1)},
		{"CS/reorder_4", reorder(3, 1)},
		{"CS/reorder_5", reorder(4, 1)},
		{"CS/reorder_10", reorder(9, 1)},
		{"CS/reorder_20", reorder(10, 10)},
		{"CS/reorder_50", reorder(40, 10)},
		{"CS/reorder_100", reorder(99, 1)},
		{"CS/stack", stack},
		{"CS/token_ring", tokenRing},
		{"CS/lazy01", lazy},
		{"CS/deadlock01", deadlock},
		{"CS/bluetooth_driver", bluetooth},
		{"CS/account", account},
		{"CS/wronglock", wrongLock(7)},
		{"CS/wronglock_3", wrongLock(3)},
		{"CB/stringbuffer-jdk1.4", stringBuffer},
		{"Inspect_benchmarks/bbuf", bbuf},
		{"Inspect_benchmarks/boundedBuffer", boundedBuffer},
		{"Inspect_benchmarks/qsort_mt", quickSort},
	}
}

// machine is what a program runs on: threads that take a step for everything they do.
type machine struct {
	w *sim.World
	s sched.Scheduler
}

func newMachine(w *sim.World) *machine { return &machine{w, w.Scheduler()} }

// local is n accesses to the stack.
func (m *machine) local(n int) {
	for range n {
		m.s.Yield()
	}
}

// create starts a thread: the harness schedules before and after, and when the thread exits.
func (m *machine) create(name string, f func()) {
	m.s.Yield()
	m.w.Go(name, func() {
		m.local(1) // the argument is stored
		f()
		m.s.Yield()
	})
	m.s.Yield()
}

// loop is the creation of n threads in a loop that checks for errors.
func (m *machine) loop(n int, name string, f func()) {
	for range n {
		m.local(4) // the counter, its bound, the counter as an index, the pool
		m.create(name, f)
		m.local(3) // the error, the counter
	}
	m.local(2)
}

// shared is one word of shared memory.
func (m *machine) shared(name string, v int64) *sched.Int64 {
	x := sched.NewInt64(m.s, name, v)
	return &x
}

// mutex is a lock whose calls store their result.
type mutex struct {
	m *machine
	sched.Mutex
}

func (m *machine) mutex(name string) *mutex { return &mutex{m, sched.NewMutex(m.s, name)} }

func (x *mutex) lock() {
	x.Lock()
	x.m.local(1)
}

func (x *mutex) unlock() {
	x.Unlock()
	x.m.local(1)
}

// add is x += v as two accesses.
func add(x *sched.Int64, v int64) { x.Store(x.Load() + v) }
