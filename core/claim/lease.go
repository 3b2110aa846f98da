package claim

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Lease (L4) is one replica's hold on a role: what one replica at a time does for all of a store, such as freeing the claims of the silent.
//
// It owns the belief "this replica has the role" and the claim that the belief rests on: the claim of a row of its own, which it
// renews. Nobody's clock is compared with another's: a holder believes for TTL from before it asked for what it was granted,
// and a candidate frees the claim of a holder only after it has watched the very same claim for TTL. Since every renewal raises the
// epoch, a candidate that watches a holder which renews never frees anything. It stops nobody: who works under a role
// asks Held before each piece, and what a late one does is refused by claims (L3) or happens again under the same id.
//
//	candidate ──nobody has it: Take──▶ holder ──Renew──▶ holder
//	    ▲  │ another has it: watch        │ │ scope ended: Release ─▶ over
//	    │  └─ for TTL the same: free it   │ │
//	    └───TTL over, or the row is another's
//
// Invariants
//
//	I3  Held is true of one lease of a role at a time.
//	I4  A lease that ended, or never began, is not held.
//
//	Orders         note the time → ask for the claim → it is durable → believe until that time + TTL.
//	               Read the claim → it is durable → note the time → watch for TTL, or free it.
//	               At the end: believe no more → release.
//	Linearization  Taking: the store's commit. Losing: the clock.
//	Waits          Run: between two rounds, and for the store. Its last release does not depend on the scope that has just ended;
//	               it is bounded by TTL, after which a candidate frees the claim anyway.
//	Hot path       Held is one atomic load and one look at the clock.
//
// Spec tla/lease/Lease.tla · Checks TestSimL4*, TestTraceL4* · Mutants L4.*
type Lease struct {
	s       sched.Scheduler
	store   LeaseStore
	options LeaseOptions
	role    store.InstanceID
	me      store.Owner
	born    time.Time              // what believed counts from, so that no step of a wall clock matters
	until   sched.Int64            // since born, in nanoseconds: Held until then; 0: not held
	state   sched.Cell[leaseState] // of the one task that runs
}

// LeaseStore is the part of a store that a lease uses.
type LeaseStore interface {
	store.Claims
	Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
}

// LeaseOptions of a lease. A zero field means its default.
type LeaseOptions struct {
	// TTL is how long a holder that fell silent keeps the role. 100 ms … 1 h. Default 10 s.
	TTL time.Duration
	// Poll is the time between two rounds: renewals of a holder, looks of a candidate. 1 ms … half of TTL. Default a tenth of TTL.
	Poll time.Duration
	// Taken is called in the lease's own task when the role has come to this replica. Nil: nobody is told.
	Taken func()
}

// Validate returns every field that is out of its range, joined.
func (o LeaseOptions) Validate() error {
	o = o.withDefaults()
	var faults []error
	if o.TTL < 100*time.Millisecond || o.TTL > time.Hour {
		faults = append(faults, fmt.Errorf("lease option TTL: %v is not in 100ms … 1h", o.TTL))
	}
	if o.Poll < time.Millisecond || o.Poll > o.TTL/2 {
		faults = append(faults, fmt.Errorf("lease option Poll: %v is not in 1ms … half of the TTL", o.Poll))
	}
	return errors.Join(faults...)
}

func (o LeaseOptions) withDefaults() LeaseOptions {
	if o.TTL == 0 {
		o.TTL = 10 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = o.TTL / 10
	}
	if o.Taken == nil {
		o.Taken = func() {}
	}
	return o
}

// rateMargin is the part of TTL by which a holder believes for less: clocks need not agree, but they run at one rate only so nearly.
const rateMargin = 16

// leaseState is plain memory of the one task.
type leaseState struct {
	claim store.Claim // while this replica has the role, the zero claim else
	doubt bool        // a take was sent, and what became of it is not known
	asked time.Time   // before the first renewal whose outcome is unknown; zero when there is none
	watch watchedClaim
}

// RolePrefix begins the ids of the rows of roles.
const RolePrefix = "role-"

// NewLease returns a lease of the role for me, which must be nobody else's name. Run starts it.
func NewLease(s sched.Scheduler, o LeaseOptions, st LeaseStore, role string, me store.Owner) (*Lease, error) {
	err := o.Validate()
	if me.Nobody() {
		err = errors.Join(err, errors.New("nobody cannot have a role"))
	}
	if err != nil {
		return nil, fmt.Errorf("make lease of %s: %w", role, err)
	}
	l := &Lease{
		s: s, store: st, options: o.withDefaults(), role: store.InstanceID(RolePrefix + role), me: me, born: s.Now(),
		until: sched.NewInt64(s, "lease/until", 0), state: sched.NewCell(s, "lease/state", leaseState{}),
	}
	s.Own("L4", l, nil)
	return l, nil
}

// Held reports whether this replica has the role. It may be asked by any task, and never waits.
func (l *Lease) Held() bool { return l.within(l.until.Load(), l.s.Now()) }

// PeekHeld is Held at a time, for checks.
func (l *Lease) PeekHeld(now time.Time) bool { return l.within(l.until.Peek(), now) }

func (l *Lease) within(until int64, now time.Time) bool {
	return until != 0 && now.Sub(l.born) < time.Duration(until)
}

// Run takes the role when it is free, keeps it, and gives it back when scope ends. Whatever works under the role has ended before.
func (l *Lease) Run(scope *sched.Scope) {
	for scope.Err() == nil {
		if l.round(scope) {
			continue
		}
		if l.s.Sleep(scope, "lease/round", l.options.Poll) != nil {
			break
		}
	}
	l.giveBack()
}

// round renews what is held, or looks for what is free. It reports whether the next round should come at once.
func (l *Lease) round(scope *sched.Scope) (again bool) {
	if l.state.View().claim != (store.Claim{}) {
		l.renew(scope)
		return false
	}
	return l.look(scope)
}

func (l *Lease) renew(scope *sched.Scope) {
	state, before := l.state.Edit(), l.s.Now()
	l.emit("Ask", state.claim)
	next, ticket, err := l.store.Renew(scope, state.claim)
	if l.durable(scope, ticket, &err) {
		l.believe(next, before)
		return
	}
	l.unanswered(err)
	if errors.Is(err, store.ErrUnknown) && state.asked.IsZero() {
		state.asked = before
	}
	// Whatever went wrong, the row tells whose the role is.
	head, known := l.read(scope)
	switch {
	case !known:
	case head.Claim == state.claim: // not renewed yet: the next round asks again
	case head.Owner == l.me && head.Epoch > state.claim.Epoch && !state.asked.IsZero():
		l.believe(head.Claim, state.asked) // one of those landed, no sooner than the first of them was sent
	default: // it is another's: look anew
		l.lose()
	}
}

// read returns the role's row, once it is durable. A crash of the store may take back a claim that is not, and grant it again: it
// would be watched for longer than it is believed in, and a request to free what was taken back would free what was granted anew.
func (l *Lease) read(scope *sched.Scope) (head store.Head, known bool) {
	head, ticket, err := l.store.Head(scope, l.role)
	return head, l.durable(scope, ticket, &err)
}

// durable waits until an answer is durable, and reports whether it is one. A crash of the store must not take back what somebody
// believes: the role would be free for others then.
func (l *Lease) durable(scope *sched.Scope, t store.Ticket, err *error) bool {
	if *err != nil {
		return false
	}
	if lost := l.store.WaitDurable(scope, t); lost != nil {
		*err = fmt.Errorf("%w: %w", store.ErrUnknown, lost)
	}
	return *err == nil
}

// believe notes a claim that was asked for at the earliest at a time.
func (l *Lease) believe(c store.Claim, asked time.Time) {
	state := l.state.Edit()
	first := state.claim == (store.Claim{})
	*state = leaseState{claim: c}
	l.until.Store(int64(asked.Sub(l.born) + l.options.TTL - l.options.TTL/rateMargin))
	l.emit("Believe", c)
	if first {
		l.options.Taken()
	}
}

func (l *Lease) lose() {
	l.until.Store(0)
	*l.state.Edit() = leaseState{doubt: l.state.View().doubt}
	l.emit("Lose", store.Claim{})
}

// look is the round of a candidate.
func (l *Lease) look(scope *sched.Scope) (again bool) {
	head, known := l.read(scope)
	if !known {
		return false
	}
	state, now := l.state.Edit(), l.s.Now()
	switch {
	case head.Status != store.Running:
		return l.makeRow(scope, head)
	case head.Owner.Nobody():
		l.emit("Ask", head.Claim)
		taken, ticket, err := l.store.Take(scope, l.role, head.Epoch, l.me)
		if l.durable(scope, ticket, &err) {
			l.believe(taken, now)
			return false
		}
		l.unanswered(err)
		// With the outcome unknown the next look finds the row free, or claimed in this name.
		state.doubt = state.doubt || errors.Is(err, store.ErrUnknown)
		return false
	case head.Owner == l.me:
		// A take whose answer was lost. When it was sent is not remembered, so it is given back.
		return l.free(scope, head.Claim)
	case head.Claim != state.watch.claim:
		state.watch = watchedClaim{head.Claim, now}
		l.emit("Look", head.Claim)
		return false
	case now.Sub(state.watch.since) < l.options.TTL:
		return false
	}
	return l.free(scope, head.Claim)
}

// free frees a claim, and reports whether it did: then the role is there to take.
func (l *Lease) free(scope *sched.Scope, c store.Claim) bool {
	l.emit("Free", c)
	freed, _, err := l.store.Release(scope, c)
	return err == nil && freed
}

// makeRow makes the row of a role that nobody had before. Another replica may be faster.
func (l *Lease) makeRow(scope *sched.Scope, head store.Head) bool {
	_, err := l.store.Commit(scope, &store.Step{
		Cause: string(l.role), Claim: store.Claim{Instance: l.role, Owner: l.me, Epoch: head.Epoch}, Spawn: true, Status: store.Running,
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: RolePrefix, ID: fmt.Sprintf("%s/%d", l.role, head.Epoch)}},
	})
	return err == nil
}

// giveBack ends the belief and frees the claim. The scope that has just ended must not matter, or the role would stay where nobody
// works until TTL is over.
func (l *Lease) giveBack() {
	held, doubt := l.state.View().claim, l.state.View().doubt
	if held == (store.Claim{}) && !doubt {
		return
	}
	l.until.Store(0)
	*l.state.Edit() = leaseState{}
	l.emit("End", store.Claim{})
	last := l.s.NewScope("lease/release").ChildTimeout("lease/release", l.options.TTL)
	defer last.Close()
	for last.Err() == nil {
		if held != (store.Claim{}) && l.free(last, held) {
			return
		}
		head, _, err := l.store.Head(last, l.role)
		switch {
		case err == nil && head.Owner == l.me:
			held = head.Claim // a renewal or a take whose answer was lost
		case err == nil && head.Owner.Nobody() && doubt:
			held = head.Claim // a take that may be on its way: it is shut out by moving the epoch past it
		case err == nil:
			return
		case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrHalted):
			return
		}
		_ = l.s.Sleep(last, "lease/release", Backoff) // the loop looks whether the scope has ended
	}
}

// unanswered reports what the specification distinguishes: whether what was asked may have happened, or happen yet.
func (l *Lease) unanswered(err error) {
	if errors.Is(err, store.ErrUnknown) {
		l.emit("Unsure", store.Claim{})
	} else {
		l.emit("Refused", store.Claim{})
	}
}

// emit reports an action of the specification: who takes it, and the claim that it is about, if it is about one.
func (l *Lease) emit(action string, about store.Claim) {
	if l.s.Traced() {
		l.s.Emit(l, action, l.me, about)
	}
}

// PeekRest is for how long after now this replica has the role, for checks.
func (l *Lease) PeekRest(now time.Time) time.Duration {
	return max(0, time.Duration(l.until.Peek())-now.Sub(l.born))
}
