package inbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Inbox (L7) brings deliveries to their one effect.
//
// It owns the path of an attempt and the rule what may be answered when. It holds no state: what took effect is what the
// store says. It never marks a delivery: only the step's commit does (L6), so an attempt that was refused, or whose node
// crashed, leaves the delivery deliverable. It makes no lock around check and write either: two lanes may run the same
// delivery; the commit section of the store lets one key through, and the other lane comes back here.
//
//	        ┌──receipt found: wait until it is durable──▶ duplicate
//	Attempt ┤                    ▲
//	        └─none─▶ run ────────┤ ErrDuplicate: somebody was first
//	                  │          │
//	                  ├─committed──▶ effect
//	                  └─any other error: nothing is marked, bring it again
//
// Invariants
//
//	I1  A delivery takes effect at most once per channel.
//	I2  A delivery is acknowledged, as effect or as duplicate, only when its effect is durable.
//	I3  An attempt that did not commit leaves no trace: a later attempt takes effect.
//	I4  An answer that rests on absence leaves only when what made it absent is durable.
//
//	Orders         read the receipt → wait for its ticket → answer. Commit durable → answer.
//	Linearization  An effect at the step's commit; a duplicate at the read of the receipt.
//	Waits          For the store, within scope, and for run.
//	Hot path       One read; the key is written by the step.
//
// Spec tla/step/Inbox.tla · Model models/inbox.go · Checks TestSimL7*, TestModelL7*, TestLinearL7*,
// TestTraceL7* · Mutants L7.*
type Inbox struct {
	s     sched.Scheduler
	store Store
}

// Store is what the inbox needs of a store.
type Store interface {
	Receipt(scope *sched.Scope, d store.Delivery) (store.Receipt, store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
	Visible() store.Ticket
}

// Answer is what a delivery may be told.
type Answer struct {
	Duplicate bool          // it took effect before
	Receipt   store.Receipt // of the effect
}

// New returns an inbox over st.
func New(s sched.Scheduler, st Store) *Inbox {
	b := &Inbox{s: s, store: st}
	s.Own("L7", b, nil)
	return b
}

// Seen returns the receipt of a delivery that took effect, once that is durable. Without one it returns false: then
// nothing may be answered yet; see Absent.
func (b *Inbox) Seen(scope *sched.Scope, d store.Delivery) (store.Receipt, bool, error) {
	receipt, ticket, err := b.store.Receipt(scope, d)
	if errors.Is(err, store.ErrNotFound) {
		b.emit("Check", d, false)
		return store.Receipt{}, false, nil
	}
	if err != nil {
		return store.Receipt{}, false, err
	}
	b.emit("Check", d, true)
	if err := b.store.WaitDurable(scope, ticket); err != nil {
		return store.Receipt{}, false, fmt.Errorf("answer duplicate %q on %q: %w", d.ID, d.Channel, err)
	}
	return receipt, true, nil
}

// Absent waits until an answer that rests on something not being there may leave: a crash could bring back what
// a commit removed.
func (b *Inbox) Absent(scope *sched.Scope) error {
	if err := b.store.WaitDurable(scope, b.store.Visible()); err != nil {
		return fmt.Errorf("answer from absence: %w", err)
	}
	return nil
}

// Attempt brings a delivery to its effect, or finds that it had one. run claims, runs and commits one step; it must put
// the receipt that it is given into the step, and return the commit's error. keep is how long the delivery is
// remembered, longer than its transport redelivers; 0 is for ever.
//
// On an error nothing may be acknowledged. If it is definite the delivery had no effect; in any case it may be brought
// again. run is called at most once.
func (b *Inbox) Attempt(scope *sched.Scope, d store.Delivery, keep time.Duration, run func(*store.Receipt) error) (Answer, error) {
	b.emit("Take", d)
	answer, err := b.attempt(scope, d, keep, run)
	if err != nil {
		b.emit("Refuse", d)
		return Answer{}, err
	}
	b.emit("Ack", d)
	return answer, nil
}

func (b *Inbox) attempt(scope *sched.Scope, d store.Delivery, keep time.Duration, run func(*store.Receipt) error) (Answer, error) {
	if receipt, seen, err := b.Seen(scope, d); seen || err != nil {
		return Answer{Duplicate: seen, Receipt: receipt}, err
	}
	receipt := &store.Receipt{Delivery: d}
	if keep > 0 {
		receipt.Expires = b.s.Now().Add(keep)
	}
	err := run(receipt)
	if err == nil {
		return Answer{Receipt: *receipt}, nil
	}
	if !errors.Is(err, store.ErrDuplicate) {
		return Answer{}, err
	}
	b.emit("Duplicate", d)
	first, seen, again := b.Seen(scope, d)
	switch {
	case again != nil:
		return Answer{}, again
	case !seen:
		// The instance exists and the receipt does not: it has expired, or a crash took the first one back.
		return Answer{}, fmt.Errorf("attempt %q on %q: %w", d.ID, d.Channel, err)
	}
	return Answer{Duplicate: true, Receipt: first}, nil
}

// emit reports an action of the specification in the attempt of the current task, a look with what it found. What it is given is
// typed: values in an any would be allocated also when nobody listens.
func (b *Inbox) emit(action string, d store.Delivery, found ...bool) {
	if !b.s.Traced() {
		return
	}
	args := []any{d}
	for _, f := range found {
		args = append(args, f)
	}
	b.s.Emit(b, action, args...)
}
