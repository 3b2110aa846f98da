package sct

import (
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// machine is what a program runs on: threads that take a step for everything they do.
type machine struct {
	w *sim.World
	s sched.Scheduler
}

func newMachine(w *sim.World) *machine { return &machine{w, w.Scheduler()} }

// local is n accesses to the stack, or to shared memory that is never written again.
func (m *machine) local(n int) {
	for range n {
		m.s.Yield()
	}
}

// thread is a thread that may be waited for.
type thread struct {
	m    *machine
	ends *sched.Scope
}

// create starts a thread: the harness schedules before and after, and when the thread exits.
func (m *machine) create(name string, f func()) *thread {
	t := &thread{m, m.s.NewScope(name)}
	m.local(1)
	m.s.Go(t.ends, name, func() {
		m.local(1) // the argument is stored
		f()
		m.local(1)
	})
	m.local(1)
	return t
}

// join waits for the thread's end.
func (t *thread) join() {
	t.m.local(1)
	t.ends.Join()
}

// start is create where nobody looks at its result: the compiler of the published builds stores it nonetheless.
func (m *machine) start(name string, f func()) *thread {
	t := m.create(name, f)
	m.local(1)
	return t
}

// joinAll loads the handle of each thread and waits for it, and a result that nobody looks at is stored: the end of a program that keeps
// the handles in variables.
func (m *machine) joinAll(threads ...*thread) {
	for _, t := range threads {
		m.local(1)
		t.join()
		m.local(1)
	}
}

// pool is the creation of n threads in a loop that checks for errors. It returns the loop that joins them.
func (m *machine) pool(n int, name string, f func()) (join func()) {
	var threads []*thread
	m.local(1) // the counter
	for range n {
		m.local(4) // the counter and its bound, the counter as an index, the pool
		threads = append(threads, m.create(name, f))
		m.local(3) // the error, the counter
	}
	m.local(2)
	return func() {
		m.local(1)
		for _, t := range threads {
			m.local(5)
			t.join()
			m.local(3)
		}
		m.local(2)
	}
}

// shared is one word of shared memory.
func (m *machine) shared(name string, v int64) *sched.Int64 {
	x := sched.NewInt64(m.s, name, v)
	return &x
}

// add is x += v as two accesses.
func add(x *sched.Int64, v int64) { x.Store(x.Load() + v) }

// mutex is a lock that is handed over when it is freed: one of those who wait for it, drawn at random, owns it then.
type mutex struct {
	m       *machine
	calls   *sched.Int64 // what a call of lock or unlock touches
	held    bool
	waiters waiters
}

func (m *machine) mutex(name string) *mutex { return &mutex{m: m, calls: m.shared(name, 0)} }

func (x *mutex) lock() {
	if x.calls.Add(1); x.held {
		await(x.waiters.join(x.m))
	}
	x.held = true
}

// release is unlock where nobody looks at its result nor at that of lock: the compiler of the published builds stores each of them before
// the next call.
func (x *mutex) release() {
	x.m.local(1)
	x.unlock()
	x.m.local(1)
}

func (x *mutex) unlock() {
	x.calls.Add(-1)
	x.held = x.waiters.wake(x.m)
}

// waiters are threads of which one is woken at a time.
type waiters []*sched.Notify

func (q *waiters) join(m *machine) *sched.Notify {
	n := sched.NewNotify(m.s, "wake-up")
	*q = append(*q, &n)
	return &n
}

func await(n *sched.Notify) {
	if err := n.Wait(nil); err != nil {
		panic(err) // without a scope there is no end of the wait
	}
}

// wake reports whether there was one to wake.
func (q *waiters) wake(m *machine) bool {
	if len(*q) == 0 {
		return false
	}
	i := m.w.Choose("waiter", len(*q))
	n := (*q)[i]
	*q = slices.Delete(*q, i, i+1)
	n.One()
	return true
}

// cond is a condition over a mutex; a signal wakes one of those who wait.
type cond struct {
	m       *machine
	mutex   *mutex
	waiters waiters
}

func (x *mutex) cond() *cond { return &cond{m: x.m, mutex: x} }

// wait frees the mutex in the step in which it begins to wait.
func (c *cond) wait() {
	c.m.local(1)
	n := c.waiters.join(c.m)
	c.mutex.held = c.mutex.waiters.wake(c.m)
	await(n)
	c.mutex.lock()
}

func (c *cond) signal() {
	c.m.local(1)
	c.waiters.wake(c.m)
}
