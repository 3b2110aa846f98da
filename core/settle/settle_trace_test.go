package settle_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/settle"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/settle/Settle.tla: of deliveries that race with ends, timeouts, evictions and the
// stop of the node, and of a registry that is full of pending ones.
func TestTraceL5WhateverRaces(t *testing.T) {
	sim.Trace(t, "L5/trace-of-races", settledOnceWhateverRaces, sim.Runs(300), sim.EarlyTimeouts())
}

func TestTraceL5FullOfPending(t *testing.T) {
	sim.Trace(t, "L5/trace-of-a-full-registry", fullOfPendingRefuses)
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L5/wrong-specification", "../../tla/settle", spec.Load, map[string]string{
		"arm-forgets-the-entry": "mismatch Settle.Arm", "timeout-does-not-take": "mismatch Settle.Timeout",
		"no-deregister": "mismatch Settle.Drop",
	}, func(w *sim.World, wrong *trace.Spec) {
		spec.AttachTo(w, wrong)
		r := newRig(w, 2)
		w.Require(r.deliver("b", true, patient) != nil, "L5.I4", "a commit that fails was told nothing")
		r.expect(r.deliver("a", false, settle.Patience{Timeout: 1, Poll: 1}), settle.ErrTimeout)
	})
}
