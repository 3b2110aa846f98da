package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// A replica takes an instance and dies for ever inside of its step: the others free its claim, and what comes for the instance is
// carried out. (In the fleet's own runs a replica that died begins a next life, and few deaths lie inside of a step.)
func TestSimL17ClaimOfTheDeadIsFreed(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "nap.bpmn", "charge.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L17/claim-of-the-dead-is-freed", func(w *sim.World) {
		f := newFleet(newOutside(w, flows, memory.Options{Scope: w.Scope()}), 2*time.Second)
		f.account("a")
		f.task("dying replica", func() {
			id := openedBy(message("open-and-wait", "open-a", ""))
			for {
				head, _, err := f.st.Head(w.Scope(), id)
				w.NoError(err)
				if head.Status != store.Running && head.Status != store.Absent {
					return
				}
				_, _, err = f.st.Take(w.Scope(), id, head.Epoch, store.Owner{Replica: "dead", Incarnation: 1})
				if err == nil {
					return
				}
				w.Require(errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict), "error", "%v", err)
				f.sleep(10 * time.Millisecond)
			}
		})
		f.wait()
		f.sleep(3 * sweepAge)
		f.calm()
		f.ended()
		f.added("a")
	}, sim.Runs(20), sim.Steps(400_000))
}
