package settle_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Deliveries, their duplicates, the ends of their instances and the stop of the node meet in a small registry on real threads. Nobody
// waits for another while it has the guard, the guard is taken once and in one order with whatever else there may be, and everybody is
// answered without a timeout.
func TestDeadlockL5GuardIsHeldOverNoWait(t *testing.T) {
	inventory.Run(t, inventory.LaneDeadlock, "L5/guard-is-held-over-no-wait", deadlock.Workload(everybodyMeets, deadlock.Runs(200)))
}

func everybodyMeets(w *deadlock.Run) {
	r := newRig(w, 1+w.Choose("capacity", 3))
	known := []error{nil, settle.ErrFull, settle.ErrEvicted, settle.ErrClosing}
	for _, id := range instances {
		w.Go("delivery", func() {
			r.expect(r.deliver(id, w.Choose("commit fails", 4) == 0, patient), append(known, errRefused)...)
			r.committed[id].Set(false) // or the instance never began
		})
		for range 2 {
			w.Go("duplicate", func() {
				_, err := r.committed[id].Wait(w.Scope())
				w.NoError(err)
				r.expect(r.duplicate(id, patient), known...)
			})
		}
		w.Go("rest of "+string(id), func() { r.finish(id, true) })
	}
	if w.Choose("stops", 2) == 0 {
		w.Go("stop", r.registry.Close)
	}
}
