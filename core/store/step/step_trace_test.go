package step_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/step"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/step/Step.tla: of steps whose answers, fences and reads get lost beside an
// early sweep.
func TestTraceL6LostAnswers(t *testing.T) {
	sim.Trace(t, "L6/trace-of-lost-answers", unknownIsDecided, sim.Runs(500))
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L6/wrong-specification", "../../../tla/step", spec.Load, map[string]string{
		"moved-epoch-is-failed":  "mismatch Step.L6D2_FailedIsTrue",
		"step-forgets-its-owner": "mismatch Step.Committed",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, memory.Options{Lose: 1, Budget: 1, Only: []string{"commit"}})
		spec.AttachTo(w, wrong, r.engine, instance)
		w.Go("lane", func() {
			l := r.lane(1)
			for i := range 2 {
				r.refused(l.advance(w.Scope(), cause(1, i), nil), store.ErrFenced)
			}
		})
	})
}
