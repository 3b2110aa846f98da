package correlate_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/correlate"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/correlate/Correlate.tla: of messages whose instances are moved between their
// resolution and their claim, and of an instance that waits again and again.
func TestTraceL8OwnWait(t *testing.T) {
	sim.Trace(t, "L8/trace-of-moved-instances", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		resumeOwnWait(w, r, rests)
	}, sim.Runs(200))
}

func TestTraceL8ReParkedWait(t *testing.T) { sim.Trace(t, "L8/trace-of-a-re-parked-wait", reParked) }

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L8/wrong-specification", "../../tla/correlate", spec.Load, map[string]string{
		"alias-outlives-its-wait": "mismatch Correlate.LandCommit", "miss-is-dropped": "mismatch Correlate.L8I3_NoSilentLoss",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, memory.Options{})
		r.plant("a", "paid", "k")
		spec.AttachTo(w, wrong, r.engine)
		c, mover, lane := correlate.New(w.Scheduler(), r.st), r.lane(), r.lane()
		w.Go("other steps", func() {
			for range 3 {
				r.advance(mover, "a", target{"paid", "k"})
			}
		})
		w.Go("delivery", func() { r.deliver(c, lane, "paid", "k") })
	})
}
