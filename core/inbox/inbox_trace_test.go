package inbox_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/step"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/step/Inbox.tla: of lanes that bring the same deliveries, of answers that get lost
// beside a power cut, and of a lane that crashes.
func TestTraceL7EffectOnce(t *testing.T) { sim.Trace(t, "L7/trace-of-effects", effectOnce) }

func TestTraceL7LostAnswersAndCrash(t *testing.T) {
	sim.Trace(t, "L7/trace-of-lost-answers-and-crash", lostAnswersAndCrash, sim.Runs(300))
}

func TestTraceL7CrashedLane(t *testing.T) {
	sim.Trace(t, "L7/trace-of-a-crashed-lane", crashedStaysDeliverable)
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L7/wrong-specification", "../../tla/step", spec.LoadInbox, map[string]string{
		"duplicates-are-dropped": "mismatch Inbox.Ack",
	}, func(w *sim.World, wrong *trace.Spec) {
		r, err := newRig(w.Scheduler(), memory.Options{Latency: 3 * time.Millisecond, Only: []string{"commit", "sync"}})
		w.NoError(err)
		spec.AttachInboxTo(w, wrong, r.engine, instance)
		l := r.lane(w.Scheduler(), 1)
		for n := range 2 {
			_, err := l.bring(w.Scope(), delivery(1), n, false)
			w.NoError(err)
		}
	})
}
