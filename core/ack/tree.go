package ack

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// Tree (A1) is the acknowledgement of one attempt. It owns the number of shares that are not resolved, the
// number of shares that still work, the outcome, and the one-shot right to report it. It knows nothing of what is
// acknowledged, never waits, and never reports while a share could still see the outcome undecided.
//
//	         last share acked, or first one failed              leave
//	Open ─────────────(resolve)──────────────▶ Settling ──────(settle)──────▶ Settled ──▶ Receiver.Resolved
//	 │ Attach adds shares                          │ the one winner writes the cause        Cause answers
//	 └─ Attach is refused from here on ────────────┘ and takes the receiver
//
// Words
//
//	pending   decided bit, failed bit, number of shares not resolved
//	tracking  phase (Open, Settling, Settled), number of active shares
//
// Invariants
//
//	I1  active ≥ unresolved: who reads no active share knows that no share is left to resolve. It may
//	    overcount for a moment, on both ways.
//	I2  a phase other than Open implies decided; there is one winner: the phase never passes Settled.
//	I3  decided and not failed implies that no share is unresolved: what is attached after completion owns nothing.
//	I4  the receiver is there exactly until the phase is Settled.
//	I5  whoever is notified finds the tree settled.
//
//	Orders        resolve: pending is lowered → active is lowered. Attach: active is raised → pending is
//	              raised. settle: cause is written → receiver is taken → the guard is left → the receiver is
//	              notified.
//	Linearization a resolution that counts, and Attach, at their compare-and-swap of pending (one that does
//	              not count says only that another one of its share has begun); Outcome at its load of
//	              pending; Cause at its load of tracking.
//	Waits         none. The guard is the phase Settling: nobody waits for it, it only delays what Cause
//	              answers.
//	Loops         a compare-and-swap is repeated only when another share of the tree succeeded meanwhile.
//	Hot path      a resolution is four atomic operations, an Attach two and one allocation, whatever n is.
//
// Spec tla/ack/Ack.tla · Model models/ack.go · History linearizability/ack.go · Checks TestSimA1*, TestExhaustA1*,
// TestModelA1*, TestLinearA1*, TestTraceA1*
// Mutants A1.resolve-load-store, A1.share-load-store, A1.lower-active-first, A1.attach-after-completion,
// A1.notify-under-guard, A1.cause-while-settling
type Tree struct {
	s        sched.Scheduler
	pending  sched.Uint64
	tracking sched.Uint64

	// Both belong to the winner while the phase is Settling; cause may be read once it is Settled.
	cause    sched.Cell[error]
	receiver sched.Cell[Receiver]

	duplicates sched.Int64
}

// MaxShares is the largest number of unresolved shares of one tree. More is a programming fault.
const MaxShares = 1 << 31

const (
	countMask uint64 = 1<<32 - 1

	decidedBit uint64 = 1 << 63 // of pending
	failedBit  uint64 = 1 << 62

	phaseOne  uint64 = 1 << 62 // of tracking: adding it moves to the next phase
	phaseMask uint64 = 3 << 62
	settling         = phaseOne
	settled          = 2 * phaseOne
)

// Outcome is what a receiver learns.
type Outcome struct {
	// Err is nil when every share was acknowledged, else the cause of the first share that failed.
	Err error
	// Duplicates counts the rows that consumers reported as already processed. It is complete when Err is nil.
	Duplicates int64
}

// Receiver learns the outcome of a tree, once, in the task of whoever decided it. Resolved must not wait.
type Receiver interface {
	Resolved(o Outcome)
}

// State is what can be read of a tree at any time.
type State uint8

// The states of a tree.
const (
	Open State = iota
	Succeeded
	Failed
)

// String returns the state in lower case.
func (s State) String() string { return [...]string{"open", "succeeded", "failed"}[s] }

// NewTree returns a tree with n shares, all held, and the receiver of its outcome, which may be nil. A tree without
// shares has succeeded at once: the receiver is told before NewTree returns.
func NewTree(s sched.Scheduler, n int, r Receiver) (*Tree, []Share) {
	t := &Tree{
		s:          s,
		pending:    sched.NewUint64(s, "ack pending", count(n)),
		tracking:   sched.NewUint64(s, "ack tracking", count(n)),
		cause:      sched.NewCell[error](s, "ack cause", nil),
		receiver:   sched.NewCell(s, "ack receiver", r),
		duplicates: sched.NewInt64(s, "ack duplicates", 0),
	}
	if n == 0 {
		t.pending.Store(decidedBit)
	}
	if s.Traced() {
		s.Own("A1", t, t.check)
		t.emit("New")
	}
	if n == 0 {
		t.settle(nil)
		return t, nil
	}
	return t, t.shares(n, held)
}

// New returns a tree with one share and its receiver: how a source begins an attempt.
func New(s sched.Scheduler, r Receiver) *Share {
	_, shares := NewTree(s, 1, r)
	return &shares[0]
}

func count(n int) uint64 {
	if n < 0 || n >= MaxShares {
		panic(fmt.Sprintf("ack: %d shares", n))
	}
	return uint64(n)
}

// Attach adds n shares. When the tree is decided already the shares own nothing: their holders may work on and
// read the outcome, and resolving them changes nothing. Attach of a tree that can still succeed requires an
// unresolved share of it, which keeps it open meanwhile.
func (t *Tree) Attach(n int) []Share {
	if n == 0 {
		return nil
	}
	if t.reserve(count(n)) {
		return t.shares(n, held)
	}
	return t.shares(n, unowned)
}

// reserve raises active before pending, so that I1 holds on the way, and rolls back when the tree is decided.
func (t *Tree) reserve(n uint64) bool {
	t.tracking.Add(n)
	if t.s.Traced() {
		t.emit("Raise", n)
	}
	for {
		p := t.pending.Load()
		if p&decidedBit != 0 {
			t.tracking.Add(-n)
			if t.s.Traced() {
				t.emit("Refuse", n)
			}
			return false
		}
		if p&countMask+n >= MaxShares {
			panic(fmt.Sprintf("ack: attach %d shares to %d", n, p&countMask))
		}
		if t.pending.CompareAndSwap(p, p+n) {
			if t.s.Traced() {
				t.emit("Reserve", n)
			}
			return true
		}
	}
}

func (t *Tree) shares(n int, state uint32) []Share {
	shares := make([]Share, n)
	for i := range shares {
		shares[i].tree = t
		shares[i].state = sched.NewUint32(t.s, "ack share", state)
	}
	return shares
}

// resolve takes one share off and reports nothing: a share that loses its own race never gets here.
func (t *Tree) resolve(err error) {
	if t.lower(err != nil) {
		t.settle(err)
	}
	t.tracking.Add(^uint64(0))
	t.emit("Retire")
}

// lower takes a share off pending and reports whether that decided the tree.
func (t *Tree) lower(failed bool) bool {
	for {
		p := t.pending.Load()
		next := p - 1
		decides := p&decidedBit == 0 && (failed || next&countMask == 0)
		if decides {
			next |= decidedBit
		}
		if decides && failed {
			next |= failedBit
		}
		if t.pending.CompareAndSwap(p, next) {
			if t.s.Traced() {
				t.emit("Lower", failed)
			}
			return decides
		}
	}
}

// settle is run by the one winner.
func (t *Tree) settle(err error) {
	t.tracking.Add(phaseOne)
	t.emit("Enter")
	*t.cause.Edit() = err
	r := *t.receiver.View()
	*t.receiver.Edit() = nil
	t.emit("Keep")
	t.tracking.Add(phaseOne)
	t.emit("Leave")
	t.emit("Notify")
	if r != nil {
		r.Resolved(Outcome{Err: err, Duplicates: t.duplicates.Load()})
	}
}

// Outcome returns the state of the tree. It never waits.
func (t *Tree) Outcome() State {
	switch p := t.pending.Load(); {
	case p&decidedBit == 0:
		return Open
	case p&failedBit == 0:
		return Succeeded
	default:
		return Failed
	}
}

// Cause returns the error that the tree failed with, or nil when it succeeded; known is false while it is not
// settled. Between the decision and the settlement Outcome has answered already and Cause has not.
func (t *Tree) Cause() (err error, known bool) { //nolint:revive // the error is the answer here, not the failure of asking
	if t.tracking.Load()&phaseMask != settled {
		return nil, false
	}
	return *t.cause.View(), true
}

// Active returns the number of shares that still work. It may overcount for a moment and never undercounts.
func (t *Tree) Active() int { return int(t.tracking.Load() & countMask) }

// Words is what a tree's words say at one instant.
type Words struct {
	Left            int // shares not resolved
	Decided, Failed bool
	Phase           int // 0 open, 1 settling, 2 settled
	Active          int
	Receiver        bool // there is one, and it has not been taken
}

// Peek returns the words of a simulated tree without being an operation: for what checks its events.
func (t *Tree) Peek() Words {
	pending, tracking := t.pending.Peek(), t.tracking.Peek()
	return Words{
		Left: int(pending & countMask), Decided: pending&decidedBit != 0, Failed: pending&failedBit != 0,
		Phase: int(tracking >> 62), Active: int(tracking & countMask), Receiver: *t.receiver.Peek() != nil,
	}
}

// emit reports an action of the specification; an event with arguments is guarded, so that they cost nothing.
func (t *Tree) emit(action string, args ...any) {
	if t.s.Traced() {
		t.s.Emit(t, action, args...)
	}
}

// check is the invariant of A1. It reads two words that change in separate steps, in the order that the owner keeps.
func (t *Tree) check() error {
	pending, tracking := t.pending.Peek(), t.tracking.Peek()
	unresolved, active, phase := pending&countMask, tracking&countMask, tracking&phaseMask
	switch {
	case active < unresolved:
		return sched.Broken("A1.I1", "%d active shares, %d unresolved", active, unresolved)
	case phase != 0 && pending&decidedBit == 0:
		return sched.Broken("A1.I2", "phase %d of an undecided tree", phase>>62)
	case phase == phaseMask:
		return sched.Broken("A1.I2", "two winners")
	case pending&decidedBit != 0 && pending&failedBit == 0 && unresolved != 0:
		return sched.Broken("A1.I3", "completed with %d unresolved shares", unresolved)
	case phase == settled && *t.receiver.Peek() != nil:
		return sched.Broken("A1.I4", "settled with its receiver")
	}
	return nil
}
