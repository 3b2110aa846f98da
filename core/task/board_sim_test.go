package task_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/task"
	"github.com/millrace-dev/millrace/sim"
)

// A worker that waits is woken by an offer, whenever that is made: nothing is left to the poll, which comes after the worker's
// patience is over.
func TestSimL12WaitingWorkerIsWoken(t *testing.T) {
	sim.Check(t, "L12/waiting-worker-is-woken", func(w *sim.World) {
		s := w.Scheduler()
		b := task.NewBoard(s, time.Hour)
		offers := sched.NewInt64(s, "offers", 0)
		for range 2 {
			w.Go("worker", func() {
				scope := w.Scope().ChildTimeout("patience", time.Minute)
				defer scope.Close()
				got := false
				w.NoError(b.Wait(scope, func() (bool, error) {
					for n := offers.Load(); n > 0 && !got; n = offers.Load() {
						got = offers.CompareAndSwap(n, n-1)
					}
					return got, nil
				}))
				w.Require(got, "L12.woken", "there was an offer, and a worker gave up")
			})
		}
		w.Go("flow", func() {
			for range 2 {
				offers.Add(1)
				b.Announce()
			}
		})
	})
}

// What another replica offers is announced by nobody here: a worker looks for it by itself, and is answered soon after it was offered. When
// there is nothing it has waited all its patience, and that is no error.
func TestSimL12PatientWorkerLooksAgain(t *testing.T) {
	const poll, patience = 10 * time.Second, time.Minute
	sim.Check(t, "L12/patient-worker-looks-again", func(w *sim.World) {
		s := w.Scheduler()
		b, begun := task.NewBoard(s, poll), s.Now()
		offered := time.Duration(w.Choose("offered", 9)) * 7 * time.Second
		scope := w.Scope().ChildTimeout("patience", patience)
		defer scope.Close()
		got := false
		w.NoError(b.Wait(scope, func() (bool, error) {
			got = s.Now().Sub(begun) >= offered
			return got, nil
		}))
		waited := s.Now().Sub(begun)
		w.Require(got || waited == patience && offered+poll > patience, "L12.patience", "an offer after %v, and a worker gave up after %v", offered, waited)
		w.Require(!got || waited < offered+poll, "L12.looks", "an offer after %v was found after %v", offered, waited)
	}, sim.Runs(50))
}
