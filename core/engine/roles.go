package engine

import (
	"errors"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/timer"
)

// The roles of a shared store: each is with one replica at a time. That two replicas do the work of one at once does no harm, a late
// holder included: timers and sweeps are decided by claims, and an emission that leaves twice has the same id.
const (
	roleTimers = "timers" // bringing due timers
	roleOutbox = "outbox" // sending emissions
	roleSweep  = "sweep"  // freeing the claims of the silent
)

var errNotHeld = errors.New("another replica sends emissions now")

// roleLane is the lane number of the first role's owner; it lies above those of lanes.
const roleLane = 1 << 20

// In a shared store rows of other replicas are noticed by looking, so the holder of a role looks more often.
const (
	sharedTimerPoll  = 500 * time.Millisecond
	sharedOutboxPoll = 200 * time.Millisecond
	sharedSettlePoll = time.Second
)

// roles are the leases of an engine, in the order of their names above. Without a shared store there are none, and every role is held.
type roles struct {
	names  []string
	leases []*claim.Lease
}

func (e *Engine) makeRoles(incarnation uint64) error {
	if !e.options.Shared {
		return nil
	}
	for i, name := range []string{roleTimers, roleOutbox, roleSweep} {
		o := e.options.Role
		o.Taken = func() { e.roleTaken(name) }
		me := store.Owner{Replica: e.options.Replica, Lane: roleLane + uint32(i), Incarnation: incarnation}
		lease, err := claim.NewLease(e.s, o, e.store, name, me)
		if err != nil {
			return err
		}
		e.roles.names, e.roles.leases = append(e.roles.names, name), append(e.roles.leases, lease)
	}
	return nil
}

func (e *Engine) startRoles(scope *sched.Scope) {
	for i, lease := range e.roles.leases {
		e.s.Go(scope, "lease of "+e.roles.names[i], func() { lease.Run(scope) })
	}
}

// roleTaken begins what waited for the role.
func (e *Engine) roleTaken(name string) {
	switch name {
	case roleTimers:
		e.timers.Armed(e.s.Now())
	case roleOutbox:
		e.outbox.Emitted()
	default: // the sweeper looks by itself
	}
}

func (r *roles) held(name string) bool {
	for i, n := range r.names {
		if n == name {
			return r.leases[i].Held()
		}
	}
	return true
}

// Roles returns the roles that this replica has now. Without a shared store it has none to share.
func (e *Engine) Roles() []string {
	held := []string{}
	for i, name := range e.roles.names {
		if e.roles.leases[i].Held() {
			held = append(held, name)
		}
	}
	return held
}

// dueTimers is the source of the timers: while another replica has the role there are none.
type dueTimers struct {
	timer.Source
	roles *roles
}

// Timers implements timer.Source.
func (d dueTimers) Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) ([]store.Timer, store.Ticket, error) {
	if !d.roles.held(roleTimers) {
		return nil, 0, nil
	}
	return d.Source.Timers(scope, after, until, limit)
}

// emissions is the source of the outbox: while another replica has the role there are none.
type emissions struct {
	outbox.Source
	roles *roles
}

// Emissions implements outbox.Source.
func (x emissions) Emissions(scope *sched.Scope, after store.Emission, limit int) ([]store.Emission, store.Ticket, error) {
	if !x.roles.held(roleOutbox) {
		return nil, 0, nil
	}
	return x.Source.Emissions(scope, after, limit)
}

// sendHeld sends an emission while this replica has the role: one that it read before it lost the role is its successor's.
func (e *Engine) sendHeld(scope *sched.Scope, x store.Emission) error {
	if !e.roles.held(roleOutbox) {
		return errNotHeld
	}
	return e.send(scope, x)
}
