// Package sched is the boundary between code that shares state and whatever runs it.
//
// An owner starts tasks, waits, reads time, draws random numbers and shares memory only through the
// primitives of this package. Each primitive is made from a [Scheduler] and behaves as its counterpart of
// the standard library. With the zero Scheduler it is that counterpart behind one predictable nil
// check. With a [Backend] every operation is announced first, so that a simulator can decide who
// goes on, and a deadlock monitor can see who waits for whom.
//
// The protocol between a primitive and a backend is "point, then the real operation":
//
//   - an operation that cannot block calls Point, executes, and reports its result with Outcome;
//   - an operation that may block calls Block (or Select) first; in a simulator it returns when the real
//     operation can no longer block, in a monitor it returns at once and the real operation blocks;
//   - a hand-off to one chosen waiter goes through a [Waiter] and Wake.
//
// Owners here: I3, the primitives themselves. Their conformance scripts (package conform) run on
// every backend. Mutants I3.*
package sched

import (
	"sync/atomic"
	"time"
)

// Scheduler makes primitives. The zero value is the real runtime. It is a small value: copy it.
type Scheduler struct{ b Backend }

// With returns a scheduler whose primitives announce every operation to b.
func With(b Backend) Scheduler {
	atomic.StoreUint32(&hooked.any, 1)
	return Scheduler{b}
}

// hooked.any is 1 once this process may hold a primitive with a hook. A pointer's compare-and-swap asks it before the hook: the hook lies
// beside the value, on a line that another task may have taken since the load, and reading it would fetch that line once
// more than the bare operation does. It has a line of its own, which nobody writes in production.
var hooked struct {
	_   [64]byte
	any uint32
	_   [60]byte
}

// Real reports whether s is the real runtime, where no operation is announced.
func (s Scheduler) Real() bool { return s.b == nil }

// Backend is the slow path behind every primitive that was made from a non-zero Scheduler: a simulated
// world or a monitor. Owners never call it. Methods are called by the task that performs the
// operation.
type Backend interface {
	// Object registers a shared object. IDs count up in construction order; they are never addresses.
	Object(kind Kind, name string, capacity int) *Hook
	// Own registers an owner by its catalogue id and its invariant, evaluated after every step.
	Own(id string, owner any, check func() error)

	// Point announces an operation that cannot block. When it returns, the caller performs it.
	Point(h *Hook, op Op)
	// Outcome reports what an operation did: the value read or written, or 0 and 1 for failure and
	// success. It never switches tasks. Without a Point before it, it only reports a change of state.
	Outcome(h *Hook, op Op, result uint64)
	// Block parks the caller until a can be taken.
	Block(a Arm) Grant
	// Try takes a when that is possible at once; otherwise the grant's Index is [NotReady].
	Try(a Arm) Grant
	// Select parks until one of arms can be taken and takes it.
	Select(arms []Arm) Grant
	// Wake hands a permit to w, which a Block or Select of another task waits for.
	Wake(h *Hook, w *Waiter)
	// Access is a plain read or write of the memory behind a Cell. It is no scheduling point.
	Access(h *Hook, write bool)

	// Go starts a task. scope is the hook of the scope that joins it.
	Go(scope *Hook, name string, f func())
	// Now is the current time.
	Now() time.Time
	// Timer calls fire once, d from now, unless StopTimer comes first. fire never blocks.
	Timer(h *Hook, d time.Duration, fire func())
	// StopTimer disarms the timer of h and reports whether it was armed.
	StopTimer(h *Hook) bool
	// Choose draws from [0,n), or from all 64-bit values when n is 0.
	Choose(h *Hook, n uint64) uint64

	// Violated ends the execution: an owner found its invariant broken.
	Violated(owner string, err error)
	// Event is a step of a specification, taken by the current task on owner.
	Event(owner any, action string, args []any)
}

// Hook ties one primitive to its backend. A primitive without one is invisible to it.
type Hook struct {
	B    Backend
	ID   uint32
	Kind Kind
	Name string
	// Delayed says that B is a [Delayer] and takes over the atomic's stores.
	Delayed bool
}

// Delayer is a backend in which a store may reach memory later than the operations that follow it.
type Delayer interface {
	// Delay takes over a store that was just announced. Each call of exchange swaps memory and the stored value: the first lets
	// the store happen, a second undoes it.
	Delay(h *Hook, exchange func())
}

// delay hands the store of v to the backend of h.
func delay[T any](h *Hook, v T, swap func(T) T) {
	h.B.(Delayer).Delay(h, func() { v = swap(v) })
}

// Arm is one thing that a task may wait for.
type Arm struct {
	H  *Hook
	Op Op
	W  *Waiter // for hand-offs: ready when woken; nil: ready by the state of the object
	// Slot is *T of an unbuffered channel's operand, so that the task that completes a rendezvous can
	// move the value. It is nil elsewhere.
	Slot any
}

// Grant tells which arm was taken.
type Grant struct {
	// Index of the arm, or [NotReady] or [Native].
	Index int
	// Peer is the Slot of the rendezvous partner: the caller moves the value. Nil: use the channel.
	Peer any
	// Done says that the partner already moved the value.
	Done bool
}

// Special values of Grant.Index.
const (
	NotReady = -1 // Try found nothing to take
	Native   = -2 // the backend only watches: perform the real, possibly blocking, operation
)

// object registers a primitive, or returns nil on the real runtime.
func (s Scheduler) object(kind Kind, name string, capacity int) *Hook {
	if s.b == nil {
		return nil
	}
	return s.b.Object(kind, name, capacity)
}

// Now returns the current time: wall time on the real runtime, virtual time in a simulation.
func (s Scheduler) Now() time.Time {
	if s.b != nil {
		return s.b.Now()
	}
	return time.Now()
}

// Yield is a scheduling point without an operation. On the real runtime it does nothing: code that needs
// it to make progress is wrong.
func (s Scheduler) Yield() {
	if s.b != nil {
		s.b.Point(nil, OpYield)
	}
}

// External runs f, a call into a dependency that synchronizes internally (a store, a codec). It is one
// step with a scheduling point before and after; nothing is claimed about its inside.
func (s Scheduler) External(name string, f func()) {
	if s.b == nil {
		f()
		return
	}
	h := s.b.Object(KindExternal, name, 0)
	s.b.Point(h, OpExternal)
	f()
	s.b.Outcome(h, OpExternal, 1)
	s.b.Point(h, OpExternal)
}

// Own registers owner by its catalogue id. A simulation then refuses primitives in it that were made
// without a scheduler, and evaluates check after every step; check may be nil. The real runtime ignores it.
func (s Scheduler) Own(id string, owner any, check func() error) {
	if s.b != nil {
		s.b.Own(id, owner, check)
	}
}

// Check evaluates an owner's invariant on entry to or exit from a transition, while its guard is held. It
// is free on the real runtime.
func (s Scheduler) Check(owner string, check func() error) {
	if s.b == nil {
		return
	}
	if err := check(); err != nil {
		s.b.Violated(owner, err)
	}
}

// Traced reports whether Emit has a listener. Guard calls of Emit with it, so that arguments cost nothing
// when nobody listens.
func (s Scheduler) Traced() bool { return s.b != nil }

// Emit reports one action of the owner's specification, at the point where it takes effect.
func (s Scheduler) Emit(owner any, action string, args ...any) {
	if s.b != nil {
		s.b.Event(owner, action, args)
	}
}
