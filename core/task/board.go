package task

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// Board is where workers wait for tasks to be offered. It carries no tasks: the store has them, and a worker that is woken looks
// there. What another replica offers is found by looking again from time to time.
//
//	Orders  Wait: register → look → wait.  Announce: the offer is committed → announce.
type Board struct {
	offers sched.Watch[uint64]
	poll   time.Duration
}

// NewBoard returns a board whose waiters look again at least every poll.
func NewBoard(s sched.Scheduler, poll time.Duration) *Board {
	return &Board{offers: sched.NewWatch(s, "task offers", uint64(0)), poll: poll}
}

// Announce wakes everybody who waits. It never waits.
func (b *Board) Announce() { b.offers.Update(func(n uint64) uint64 { return n + 1 }) }

// Wait calls look until it reports that it is done, fails, or the scope has ended, which is no error: whoever polls for long learns
// that there is nothing. Between two looks it waits for an offer.
func (b *Board) Wait(scope *sched.Scope, look func() (done bool, err error)) error {
	offers := b.offers.Subscribe()
	for {
		done, err := look()
		if done || err != nil || scope.Err() != nil {
			return err
		}
		patience := scope.ChildTimeout("task poll", b.poll)
		if offers.Changed(patience) != nil && scope.Err() != nil {
			patience.Close()
			return nil
		}
		patience.Close()
	}
}
