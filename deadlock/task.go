package deadlock

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// task is one goroutine that uses primitives. Everything in it is guarded by its monitor.
type task struct {
	id   int
	name string
	// foreign says that it is not ours to end: the goroutine of a library, of which nobody tells whether it still runs, or of a timer.
	foreign bool
	// leaving says that it was told to end because the program is dead: what its deferred calls do is not judged.
	leaving bool

	blocked bool
	arms    []sched.Arm
	where   []uintptr // of the wait

	held []hold
	// shadowed is the lock whose second opinion it took, before it took the lock itself.
	shadowed *object
	// announced is the operation that Point announced and Outcome has not reported yet.
	announced   *sched.Hook
	announcedOp sched.Op
	// raised are the scopes whose counts it has just raised for the task that it starts next.
	raised []*object
	// counted are the scopes that this task counts in.
	counted []*object
}

// hold is one lock that a task has.
type hold struct {
	o      *object
	read   bool
	shadow bool // its second opinion is locked too
	where  []uintptr
}

func (t *task) String() string { return fmt.Sprintf("task %d %q", t.id, t.name) }

// holds returns the position of the task's hold on o, or -1.
func (t *task) holds(o *object) int {
	return slices.IndexFunc(t.held, func(h hold) bool { return h.o == o })
}

// waitsFor reports whether one of the task's arms is op on o.
func (t *task) waitsFor(o *object, op sched.Op) bool {
	return t.blocked && slices.ContainsFunc(t.arms, func(a sched.Arm) bool { return a.H == &o.hook && a.Op == op })
}

// object is the state behind a hook: what the monitor has to know to tell whether a wait can end.
type object struct {
	hook     sched.Hook
	capacity int
	holder   *task   // of a mutex, of a write lock, of a semaphore of size one; who runs a Once
	readers  []*task // of a read-write lock
	n        int     // values in a channel or of a timer, the count of a wait group
	closed   bool    // a channel, a scope
	scoped   bool    // the wait group of a scope
	counted  []*task // in it
	timer    *timer
	second   opinion // nil without a second opinion
}

// excludes reports whether o is held by one task at a time, which is what an order among locks is about.
func (o *object) excludes() bool {
	return o.isLock() || o.hook.Kind == sched.KindSemaphore && o.capacity == 1
}

// isLock reports whether o is a mutex or read-write lock: nobody may wait for anything else while holding one.
func (o *object) isLock() bool {
	return o.hook.Kind == sched.KindMutex || o.hook.Kind == sched.KindRWMutex
}

func (o *object) String() string { return fmt.Sprintf("%s %s#%d", o.hook.Kind, o.hook.Name, o.hook.ID) }

// stackDepth is how much of a stack is kept; what a report shows of it are the first frames outside of the boundary.
const stackDepth = 24

func callers() []uintptr {
	var pcs [stackDepth]uintptr
	return slices.Clone(pcs[:runtime.Callers(3, pcs[:])])
}
