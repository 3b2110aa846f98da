package relay_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/relay"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every queue of every execution are steps of tla/relay/Relay.tla.
func TestTraceC6FreedRoom(t *testing.T) { sim.Trace(t, "C6/trace-of-freed-room", freedRoom) }

func TestTraceC6Shrinking(t *testing.T) { sim.Trace(t, "C6/trace-of-shrinking", shrinking) }

func TestTraceC6Removal(t *testing.T) { sim.Trace(t, "C6/trace-of-removal", removal) }

func TestTraceC6Snapshots(t *testing.T) { sim.Trace(t, "C6/trace-of-snapshots", snapshots) }

// A consumer whose wait ends before anything comes, and that comes back.
func TestTraceC6Patience(t *testing.T) {
	sim.Trace(t, "C6/trace-of-patience", func(w *sim.World) {
		spec.Attach(w)
		s := w.Scheduler()
		q := relay.NewQueue[int](s, "q", 1)
		w.Go("receive", func() {
			got := 0
			for got < 2 {
				patience := w.Scope().ChildTimeout("patience", time.Millisecond)
				v, err := q.Receive(patience, nil)
				patience.Close()
				if err == nil {
					got++
					w.Require(v == got, "C6.order", "item %d is %d", got, v)
				}
			}
		})
		for v := 1; v <= 2; v++ {
			w.NoError(s.Sleep(w.Scope(), "a while", 3*time.Millisecond))
			w.NoError(q.Push(w.Scope(), v))
		}
	})
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "C6/wrong-specification", "../../tla/relay", spec.Load, map[string]string{
		"waiting-read-first": "mismatch Relay.FreePlace", "linked-behind-its-back": "mismatch Relay.Link",
		"room-read-first": "mismatch Relay.ReadCapacity", "place-is-kept": "mismatch Relay.FreePlace",
	}, func(w *sim.World, wrong *trace.Spec) {
		spec.AttachTo(w, wrong)
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.Go("receive", func() {
			for range 3 {
				_, err := q.Receive(w.Scope(), nil)
				w.NoError(err)
			}
		})
		for v := range 3 {
			w.NoError(q.Push(w.Scope(), v))
		}
	})
}
