package engine

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// RememberSent is how long it is remembered at least that an emission has arrived, counted from its arrival. It is remembered for as
// long as the emission's row is there in any case; see Forgettable.
const RememberSent = 24 * time.Hour

// clockSkew is how far the clocks of replicas may be apart.
const clockSkew = time.Minute

// Forgettable returns up to which expiry receipts of the inbox, and marks of emissions that were to be kept for RememberSent, may be
// removed now: never one whose emission may still be sent again, however long the node was down. It is called by one task, again
// and again, and waits for the store.
func (e *Engine) Forgettable(scope *sched.Scope) (time.Time, error) {
	now := e.s.Now()
	known, err := e.horizon.Look(scope)
	if known.IsZero() {
		return known, err
	}
	if until := known.Add(RememberSent - clockSkew); until.Before(now) {
		return until, err
	}
	return now, err
}
