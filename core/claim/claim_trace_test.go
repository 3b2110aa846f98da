package claim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/claim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/claim/Claim.tla: of lanes that only compete, of lanes whose answers get
// lost and that crash beside an early sweep, and of holds that end in every way.
func TestTraceL3CompetingLanes(t *testing.T) {
	sim.Trace(t, "L3/trace-of-competing-lanes", oneHolder)
}

func TestTraceL3LostAnswersAndCrashes(t *testing.T) {
	sim.Trace(t, "L3/trace-of-lost-answers-and-crashes", lostAnswersAndCrashes, sim.Runs(500))
}

func TestTraceL3EveryExit(t *testing.T) {
	sim.Trace(t, "L3/trace-of-every-exit", everyExitFrees, sim.Runs(500))
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L3/wrong-specification", "../../tla/claim", spec.Load, map[string]string{
		"sweep-keeps-epoch": "mismatch Claim.LandFree", "release-outside-commit": "mismatch Claim.LandCommit",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, memory.Options{Refuse: 2, Budget: 1, Only: []string{"commit"}}, instance)
		spec.AttachTo(w, wrong, r.engine)
		r.work(1, 0)
	})
}
