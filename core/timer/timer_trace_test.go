package timer_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/timer"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/timer/Timer.tla: of timers that are refused, and of a node and a store that crash.
func TestTraceL10RefusedTimers(t *testing.T) {
	sim.Trace(t, "L10/trace-of-refused-timers", dueTimerFiresOnce)
}

func TestTraceL10Restart(t *testing.T) {
	sim.Trace(t, "L10/trace-of-a-restart", overdueFires)
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L10/wrong-specification", "../../tla/timer", spec.Load, map[string]string{
		"commit-keeps-the-wait": "mismatch Timer.Commit", "refused-is-forgotten": "mismatch Timer.Offer",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, memory.Options{Refuse: 1, Budget: 1, Only: []string{"take"}})
		r.park("a", time.Second)
		spec.AttachTo(w, wrong, r.engine)
		r.start(w.Scope(), timer.Options{})
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
	})
}
