package step

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Committer (L6) commits the steps of one owner and decides those whose outcome got lost.
//
// It owns the one transaction that its owner may have undecided, and the memory of the record to forget next. It never
// guesses: an epoch that moved proves nothing, because the step itself moves it, and a missing record proves
// nothing, because the step may still be on its way.
//
//	Idle ──Commit──▶ Sent ──answer──▶ Idle
//	  ▲               │ outcome unknown
//	  │               ▼
//	  │    ┌───▶ Fencing ──▶ Reading the row ──▶ Reading the record
//	  │    └───────no record, row still ours──────────┘ │
//	  └──record: committed · no record, row has left: failed
//
// Invariants
//
//	D1  An answer "committed" is given only for a step whose record exists and is durable.
//	D2  An answer "failed" is given only for a step that never took and never will take effect.
//	D3  At most one transaction is undecided; the fence is the only other one sent meanwhile.
//	D4  At most one decided record is kept per owner, here and in the store.
//	D5  It sends the steps of its owner only: nobody else's are among those that it may have undecided.
//
//	Orders         fence (synced) → read the row → read the record → answer. With the record read first, a step that
//	               lands in between is called failed; with the fence last, one that lands after it.
//	Linearization  Of a decided step: its commit in the store, or the fence that shut it out.
//	Waits          For the store; between two rounds for Backoff, doubled up to MaxBackoff. Ends with scope: then the
//	               step stays undecided, and its owner must not go on under its name.
//	Hot path       A step whose outcome is known costs one access of a Cell.
//
// Spec tla/step/Step.tla · Model models/step.go · Checks TestSimL6*, TestModelL6*, TestLinearL6*,
// TestTraceL6* ·
// Mutants L6.*
type Committer struct {
	s     sched.Scheduler
	store store.Store
	me    store.Owner
	state sched.Cell[committerState] // owned by the task that commits; two at once are a race
}

// committerState is guarded by ownership: a lane is one task.
type committerState struct {
	undecided bool
	forget    []store.Record // decided, its row still in the store; at most one
}

// Backoff between two rounds of a decision.
const (
	Backoff    = 10 * time.Millisecond
	MaxBackoff = time.Second
)

// ErrUndecided means that scope ended before the outcome was decided. It wraps store.ErrUnknown.
var ErrUndecided = fmt.Errorf("step: undecided: %w", store.ErrUnknown)

// NewCommitter returns a committer for the steps of me.
func NewCommitter(s sched.Scheduler, st store.Store, me store.Owner) *Committer {
	c := &Committer{s: s, store: st, me: me, state: sched.NewCell(s, "step/committer", committerState{})}
	s.Own("L6", c, c.checkInvariants)
	return c
}

// Commit commits the step and returns nil when it is durable. A definite error ([store.Definite]) means that it had
// no effect and will have none; it wraps store.ErrFenced when the claim is lost, which is also what becomes
// of a step that was undecided and fenced: the claim is gone, and the cause starts over. ErrUndecided means that
// scope ended, or the store halted, first; then the committer refuses to be used again.
//
// The step belongs to the committer from here on.
func (c *Committer) Commit(scope *sched.Scope, st *store.Step) error {
	state := c.state.Edit()
	if state.undecided {
		return fmt.Errorf("commit %s of %v after an undecided step: %w", st.Cause, st.Claim, ErrUndecided)
	}
	if st.Claim.Owner != c.me {
		return fmt.Errorf("commit %s of %v as %v: %w: not the owner", st.Cause, st.Claim, c.me, store.ErrInvalid)
	}
	st.Forget = append(st.Forget[:len(st.Forget):len(st.Forget)], state.forget...)
	state.undecided = true
	_, err := c.store.Commit(scope, st)
	if errors.Is(err, store.ErrUnknown) {
		c.emit("LoseCommit", st)
		err = c.decide(scope, st)
	}
	c.settle(st, err)
	return err
}

// Load reads an instance under its claim. It is here so that a committer is all that package claim needs.
func (c *Committer) Load(scope *sched.Scope, held store.Claim) (store.Instance, store.Ticket, error) {
	return c.store.Load(scope, held)
}

// settle notes the outcome. The record of a step that committed is forgotten with the next one.
func (c *Committer) settle(st *store.Step, err error) {
	state := c.state.Edit()
	state.undecided = errors.Is(err, store.ErrUnknown)
	if err == nil {
		state.forget = []store.Record{st.Record()}
	}
}

// decide repeats rounds until one decides, scope ends or the store halts.
func (c *Committer) decide(scope *sched.Scope, st *store.Step) error {
	for pause := Backoff; ; pause = min(2*pause, MaxBackoff) {
		committed, err := c.round(scope, st)
		if committed || errors.Is(err, store.ErrFenced) {
			return err
		}
		if errors.Is(err, store.ErrHalted) || errors.Is(err, store.ErrClosed) {
			return fmt.Errorf("decide %s of %v: %w: %w", st.Cause, st.Claim, ErrUndecided, err)
		}
		if err := c.s.Sleep(scope, "step/decide", pause); err != nil {
			return fmt.Errorf("decide %s of %v: %w: %w", st.Cause, st.Claim, ErrUndecided, err)
		}
	}
}

// round is one pass of the procedure. It returns committed, or an error that wraps ErrFenced: failed; anything else is
// no decision.
func (c *Committer) round(scope *sched.Scope, st *store.Step) (committed bool, err error) {
	held := asserted(st)
	if err := c.fence(scope, st, held); err != nil {
		return false, err
	}
	head, seen, err := c.store.Head(scope, held.Instance)
	if err != nil {
		return false, err
	}
	c.emit("ReadRow", st, head.Claim == held)
	recorded, covered, err := c.store.Recorded(scope, st.Record())
	if err != nil {
		return false, err
	}
	c.emit("ReadRecord", st, recorded)
	if !recorded && head.Claim == held {
		return false, nil // neither landed nor shut out: the fence got lost
	}
	if err := c.store.WaitDurable(scope, max(seen, covered)); err != nil {
		return false, err
	}
	if recorded {
		return true, nil
	}
	return false, fmt.Errorf("decide %s of %v: row is %v: %w", st.Cause, held, head.Claim, store.ErrFenced)
}

// fence frees the claim that the step asserts, in a transaction of its own, so that the step can land no more. What
// became of the fence itself does not matter: the reads that follow tell. Only a store that will never answer again
// ends the decision.
func (c *Committer) fence(scope *sched.Scope, st *store.Step, held store.Claim) error {
	c.emit("FenceCommit", st)
	_, t, err := c.store.Release(scope, held)
	if err == nil {
		err = c.store.WaitDurable(scope, t)
	}
	if errors.Is(err, store.ErrHalted) || errors.Is(err, store.ErrClosed) {
		return err
	}
	return nil
}

// emit reports an action of the specifications Claim and Step, a read with what it found.
func (c *Committer) emit(action string, st *store.Step, found ...bool) {
	if !c.s.Traced() {
		return
	}
	args := []any{st.Claim, st.Cause}
	for _, f := range found {
		args = append(args, f)
	}
	c.s.Emit(c, action, args...)
}

// asserted is the row's claim that the step compares with: a spawn asserts a row that nobody owns.
func asserted(st *store.Step) store.Claim {
	if st.Spawn {
		return store.Claim{Instance: st.Claim.Instance, Epoch: st.Claim.Epoch}
	}
	return st.Claim
}

// checkInvariants is D4. D1 and D2 are judged by the checks, which know what landed.
func (c *Committer) checkInvariants() error {
	if n := len(c.state.Peek().forget); n > 1 {
		return sched.Broken("L6.D4", "%v keeps %d decided records", c.me, n)
	}
	return nil
}
