package group_test

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/group"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/group/Group.tla: of groups whose answers get lost beside an early sweep, and of groups
// with a guilty member.
func TestTraceS3LostAnswers(t *testing.T) {
	sim.Trace(t, "S3/trace-of-lost-answers", everyMemberIsToldTheTruth, sim.Runs(300))
}

func TestTraceS3GuiltyMembers(t *testing.T) {
	sim.Trace(t, "S3/trace-of-guilty-members", func(w *sim.World) { newGuiltyRig(w).onlyTheGuiltyFails() }, sim.Runs(200))
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "S3/wrong-specification", "../../../tla/group", spec.Load, map[string]string{
		"all-fail": "mismatch Group.S3I3_OnlyTheGuiltyFail", "part-of-a-group-lands": "mismatch Group.LandGroup",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newGuiltyRig(w)
		spec.AttachTo(w, wrong, r.engine)
		r.onlyTheGuiltyFails()
	})
}
