package outbox_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

// A walk waits for a row, and another one is written before it arrives: in front of the cursor or behind it. The horizon is never later than
// the writing of a row that is there, or that a crash of the store would bring back; and when both have gone it passes them.
func TestSimL11HorizonIsBehindEveryRow(t *testing.T) {
	sim.Check(t, "L11/horizon-is-behind-every-row", func(w *sim.World) {
		r := newRig(w, memory.Options{}, 0)
		late := []store.InstanceID{"a", "z"}[w.Choose("late", 2)]
		down := map[store.InstanceID]bool{"m": true, late: true}
		r.startTo(outbox.Options{MaxBackoff: time.Second, Poll: time.Second}, r.reachable(down))
		h, written := outbox.NewHorizon(w.Scheduler(), r.st), map[store.InstanceID]time.Time{}
		emit := func(id store.InstanceID) {
			written[id] = w.Scheduler().Now()
			w.NoError(r.emit(id, 1))
		}
		emit("m")
		r.horizon(h, written)
		emit(late)
		r.horizon(h, written)
		clear(down)
		down[late] = true
		r.horizon(h, written)
		clear(down)
		known := r.horizon(h, written)
		w.Require(known.After(written[late]), "L11.horizon", "everything has gone, and nothing is known but of %v", known)
	})
}

// horizon looks for a while, and judges each answer by the rows that are there.
func (r *rig) horizon(h *outbox.Horizon, written map[store.InstanceID]time.Time) (known time.Time) {
	for range 8 {
		var err error
		known, err = h.Look(r.Scope())
		r.NoError(err)
		for _, peek := range []func(func(step.View) error) error{r.engine.Peek, r.engine.PeekDurable} {
			for _, e := range r.dump(peek).Emissions {
				r.Require(!written[e.Instance].Before(known), "L11.horizon", "the row of %s was written before %v", e.Instance, known)
			}
		}
		r.NoError(r.Scheduler().Sleep(r.Scope(), "looks", time.Second))
	}
	return known
}
