package claim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/lease"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/lease/Lease.tla: of replicas that compete on a bad store, whose answers come late,
// and whose store crashes under them.
func TestTraceL4ContestedRole(t *testing.T) {
	sim.Trace(t, "L4/trace-of-a-contested-role", roleIsHeldByOne, sim.Steps(60_000))
}

func TestTraceL4LateAnswers(t *testing.T) {
	sim.Trace(t, "L4/trace-of-late-answers", lateAnswers, sim.Steps(40_000))
}

func TestTraceL4CrashesOfTheStore(t *testing.T) {
	sim.Trace(t, "L4/trace-of-crashes-of-the-store", roleOutlivesCrashes, sim.Steps(40_000), sim.Runs(200))
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheLeaseSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L4/wrong-specification", "../../tla/lease", spec.Load, map[string]string{
		"believe-for-all-of-the-watch": "mismatch Lease.Believe", "free-keeps-epoch": "mismatch Lease.LandFree",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newTroupe(w, memory.Options{Latency: poll / 10})
		spec.AttachTo(w, wrong, r.engine)
		a, b := r.enter("a"), r.enter("b")
		w.Go("operator", func() {
			first := r.holder(3*poll, a, b)
			first.leave()
			r.holder(2*ttl, other(first, a, b)).leave()
		})
		w.Join()
	})
}
