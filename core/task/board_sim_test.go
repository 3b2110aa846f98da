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
