package engine

import (
	"errors"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// roleSweep is the role of a shared store that one replica has at a time: freeing the claims of the silent. Timers and emissions are
// reserved row by row. That two replicas do the same work at once does no harm, a late holder included: timers and sweeps are decided by
// claims, and an emission that leaves twice has the same id.
const roleSweep = "sweep"

var errNotHeld = errors.New("the reservation of the instance is over: another replica may send its emissions")

// roleLane is the lane number of the role's owner; it lies above those of lanes.
const roleLane = 1 << 20

// In a shared store what another replica left is noticed by looking, so all look more often.
const (
	sharedTimerPoll  = 500 * time.Millisecond
	sharedOutboxPoll = 200 * time.Millisecond
	sharedSettlePoll = time.Second
)

// makeRole makes the lease of the role that a shared store has. Without one there is nobody to share it with.
func (e *Engine) makeRole(incarnation uint64) (err error) {
	if !e.options.Shared {
		return nil
	}
	me := store.Owner{Replica: e.options.Replica, Lane: roleLane, Incarnation: incarnation}
	e.sweeping, err = claim.NewLease(e.s, e.options.Role, e.store, roleSweep, me)
	return err
}

// dueTimers is the source of the timers. In a shared store what is due is reserved, so that two replicas do not bring the same timers; what
// comes later is only looked at.
type dueTimers struct{ *Engine }

// Timers implements timer.Source.
func (d dueTimers) Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) ([]store.Timer, store.Ticket, error) {
	if !d.options.Shared || until.After(d.s.Now()) {
		return d.store.Timers(scope, after, until, limit)
	}
	return d.store.ReserveTimers(scope, d.options.Replica, after, until, d.options.Hold, limit)
}

// emissions is the source of the outbox. In a shared store an instance is reserved, so that two replicas do not send the same emissions.
type emissions struct {
	store.Store
	e *Engine
}

// Emissions implements outbox.Source. The sender asks for whole instances, behind the last one that it has seen.
func (x emissions) Emissions(scope *sched.Scope, after store.Emission, limit int) ([]store.Emission, store.Ticket, error) {
	o := x.e.options
	if !o.Shared {
		return x.Store.Emissions(scope, after, limit)
	}
	until := x.e.s.Now().Add(o.Hold / 2) // so much is left at least of what it had before
	rows, ticket, err := x.Store.ReserveEmissions(scope, o.Replica, after.Instance, o.Hold, limit)
	for i := range rows {
		rows[i].Until = until
	}
	return rows, ticket, err
}

// sendHeld sends an emission while its instance is reserved: afterwards it is another replica's.
func (e *Engine) sendHeld(scope *sched.Scope, x store.Emission) error {
	if !x.Until.IsZero() && !e.s.Now().Before(x.Until) {
		return errNotHeld
	}
	return e.send(scope, x)
}

// giveBackPatience bounds how long a stop waits for its reservations to end; without that they end with their time.
const giveBackPatience = time.Second

// giveBack ends the reservations of an engine that stops.
func (e *Engine) giveBack() {
	if !e.options.Shared {
		return
	}
	scope := e.s.NewScope("give back").ChildTimeout("give back", giveBackPatience)
	defer scope.Close()
	_ = e.store.GiveBack(scope, e.options.Replica) // they end with their time
}
