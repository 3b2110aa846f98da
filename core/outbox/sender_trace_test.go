package outbox_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/outbox"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/outbox/Outbox.tla: of sends and removals that fail, and of a store that crashes.
func TestTraceL11FailingSends(t *testing.T) {
	sim.Trace(t, "L11/trace-of-failing-sends", everyEmissionArrives)
}

func TestTraceL11CrashOfTheStore(t *testing.T) {
	sim.Trace(t, "L11/trace-of-a-crash-of-the-store", nothingLeavesEarly)
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L11/wrong-specification", "../../tla/outbox", spec.Load, map[string]string{
		"nothing-is-removed": "mismatch Outbox.Remove", "remove-what-failed": "mismatch Outbox.Done",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, memory.Options{}, 3)
		spec.AttachTo(w, wrong, r.engine)
		r.start(w.Scope(), outbox.Options{Workers: 1, Batch: 4, Poll: patience})
		w.NoError(r.emit("a", 3))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
	})
}
