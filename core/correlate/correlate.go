package correlate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// ErrNoWait answers a message that nothing waits for. It is permanent, and given only by Resolve: a fresh read found no
// alias row, and that read is durable.
var ErrNoWait = errors.New("nothing waits for this message")

// ErrMoved means that what Resolve found no longer holds. It is never an answer: the delivery goes back to Resolve.
var ErrMoved = errors.New("the wait has moved")

// Target is what a correlation key resolved to: a hint, until Enter.
type Target struct {
	Channel, Key string
	Instance     store.InstanceID
	Generation   uint64
}

// String shows the target for errors and traces.
func (t Target) String() string {
	return fmt.Sprintf("%s %q → %s/%d", t.Channel, t.Key, t.Instance, t.Generation)
}

// Reads is the part of a store that correlation reads.
type Reads interface {
	Resolve(scope *sched.Scope, channel, key string) (store.Alias, store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
}

// Correlator (L8) turns a message's key into the one wait that the message may resume.
//
// It owns the rule when what was resolved may be acted on. It writes nothing: alias rows are written by the steps of the
// instance they name, which hold its claim, and each lives exactly as long as its wait.
//
//	key ──Resolve──▶ target ──Enter: claim → load → alias row and wait again──▶ held, with its wait
//	 ▲        │                │ claimed by somebody      │ differs: freed
//	 │        └─no row, durable: ErrNoWait (permanent)    │
//	 └─────────────────────────┴──ErrClaimed, ErrMoved────┘
//
// Invariants
//
//	I1  an alias row exists exactly while the wait that it names is open, committed together.
//	I2  Enter returns a wait only if, under the claim, the alias row is (instance, generation), that generation is open,
//	    and its channel and key are the message's.
//	I3  a miss under the claim is ErrMoved, with the claim freed; only a fresh Resolve answers for good.
//
//	Orders         claim taken → alias row and wait read again → step. Absence read → that read durable → ErrNoWait.
//	Linearization  Resolve at its read of the row; Enter at the claim: nothing it read can change while it is held.
//	Waits          for the store, within scope; never for another holder of the claim.
//	Hot path       one read to resolve and one to revalidate. Nothing is decoded, validated or evaluated again.
//
// Spec tla/correlate/Correlate.tla · Model models/correlate.go · Checks TestSimL8*, TestModelL8*, TestTraceL8*
// Mutants L8.*
type Correlator struct {
	s     sched.Scheduler
	reads Reads
}

// New returns a correlator over a store.
func New(s sched.Scheduler, reads Reads) *Correlator {
	c := &Correlator{s: s, reads: reads}
	s.Own("L8", c, nil)
	return c
}

// Resolve returns what the key resolves to now. ErrNoWait is a permanent answer; every other error is of the store, and
// says nothing about the message.
func (c *Correlator) Resolve(scope *sched.Scope, channel, key string) (Target, error) {
	alias, t, err := c.reads.Resolve(scope, channel, key)
	if errors.Is(err, store.ErrNotFound) {
		c.resolved(channel, key, false)
		if err := c.reads.WaitDurable(scope, t); err != nil {
			return Target{}, fmt.Errorf("resolve %s %q: %w", channel, key, err)
		}
		return Target{}, fmt.Errorf("resolve %s %q: %w", channel, key, ErrNoWait)
	}
	if err != nil {
		return Target{}, fmt.Errorf("resolve %s %q: %w", channel, key, err)
	}
	c.resolved(channel, key, true)
	return Target{Channel: channel, Key: key, Instance: alias.Instance, Generation: alias.Generation}, nil
}

// Entered is an instance that is held for a message.
type Entered struct {
	Hold     *claim.Hold
	Instance store.Instance
	Wait     store.Wait // what the message resumes
}

// Enter claims the target's instance, reads it and looks whether the target still holds. The caller ends the hold. With an
// error nothing is held. claim.ErrClaimed and ErrMoved send the delivery back to Resolve; so do errors of the store.
func (c *Correlator) Enter(scope *sched.Scope, claims *claim.Claims, t Target) (Entered, error) {
	hold, err := claims.Take(scope, t.Instance)
	if err != nil {
		c.back()
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("the instance is gone: %w", ErrMoved)
		}
		return Entered{}, fmt.Errorf("enter %v: %w", t, err)
	}
	in, wait, err := c.guard(scope, hold, t)
	if err != nil {
		err = errors.Join(err, hold.Free())
		c.back()
		return Entered{}, fmt.Errorf("enter %v: %w", t, err)
	}
	return Entered{Hold: hold, Instance: in, Wait: wait}, nil
}

// guard reads the instance and the alias row under the claim, and compares both with the target.
func (c *Correlator) guard(scope *sched.Scope, hold *claim.Hold, t Target) (store.Instance, store.Wait, error) {
	in, _, err := hold.Load(scope)
	if err != nil {
		return in, store.Wait{}, err
	}
	if err := c.sameAlias(scope, t); err != nil {
		return in, store.Wait{}, err
	}
	i := slices.IndexFunc(in.Waits, func(w store.Wait) bool {
		return w.Generation == t.Generation && w.Channel == t.Channel && w.Key == t.Key
	})
	if i < 0 {
		return in, store.Wait{}, fmt.Errorf("its generation is not open: %w", ErrMoved)
	}
	return in, in.Waits[i], nil
}

// sameAlias requires that the alias row still is what was resolved.
func (c *Correlator) sameAlias(scope *sched.Scope, t Target) error {
	alias, _, err := c.reads.Resolve(scope, t.Channel, t.Key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("the key is free: %w", ErrMoved)
	case err != nil:
		return err
	case alias.Instance != t.Instance || alias.Generation != t.Generation:
		return fmt.Errorf("the key belongs to %s/%d: %w", alias.Instance, alias.Generation, ErrMoved)
	}
	return nil
}

// resolved and back report actions of the specification on the delivery of the current task.
func (c *Correlator) resolved(channel, key string, found bool) {
	if c.s.Traced() {
		c.s.Emit(c, "Resolve", channel, key, found)
	}
}

func (c *Correlator) back() {
	if c.s.Traced() {
		c.s.Emit(c, "Back")
	}
}
