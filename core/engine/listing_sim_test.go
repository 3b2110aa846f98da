package engine_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// An operator who lists deployments while instances start is told of none that a loss of power would take back.
func TestSimL17ListingsTellWhatIsDurable(t *testing.T) {
	flows := definitions(t, "remind.bpmn")
	sim.Check(t, "L17/listings-tell-what-is-durable", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		e := x.node(w.Scope(), engine.Options{Lanes: 2})
		for _, id := range []string{"a", "b"} {
			w.Go("opener "+id, func() {
				x.transport(w.Scope(), message("remind", id, "", text("what", id)), func() *engine.Engine { return e })
			})
		}
		w.Go("operator", func() {
			for range 4 {
				all, err := e.Deployments(w.Scope())
				w.NoError(err)
				told := 0
				for _, d := range all {
					told += d.Instances
				}
				kept := 0
				for id, in := range x.dump(x.engine.PeekDurable).Instances {
					if in.Status == store.Running && !engine.Internal(id) {
						kept++
					}
				}
				w.Require(told <= kept, "L17.told", "%d instances were listed, and %d are durable", told, kept)
			}
		})
		w.Join()
		e.Close()
	}, sim.Steps(60_000))
}
