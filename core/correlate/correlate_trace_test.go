package correlate_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
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

// Every edge of the specification's graph is taken by a correlator and those who move its instances.
func TestTraceL8Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L8/sequences-of-the-specification", plan, followCorrelator)
}

func followCorrelator(w *sim.World, each func(do func(spec.Call))) {
	r := newRig(w, memory.Options{})
	for _, id := range []store.InstanceID{"a", "b"} {
		r.plant(id, spec.Given[id][0], spec.Given[id][1])
	}
	spec.AttachAlways(w, r.engine)
	c, lane, mover := correlate.New(w.Scheduler(), r.st), r.lane(), r.lane()
	var (
		resolved correlate.Target
		entered  correlate.Entered
		holds    = map[store.InstanceID]*claim.Hold{}
	)
	other := func(call spec.Call) {
		switch hold := holds[call.Instance]; call.Name {
		case "take":
			h, err := mover.Take(w.Scope(), call.Instance)
			w.NoError(err)
			holds[call.Instance] = h
		case "free":
			w.NoError(hold.Free())
		default:
			in, _, err := hold.Load(w.Scope())
			w.NoError(err)
			var to []target
			if call.Channel != "" {
				to = append(to, target{call.Channel, call.Key})
			}
			w.NoError(r.move(hold, in, to))
		}
	}
	// A task of its own: what it does is not the delivery's.
	orders := sched.NewChan[spec.Call](w.Scheduler(), "orders", 1)
	w.Go("other", func() {
		for call, open := orders.Receive(); open; call, open = orders.Receive() {
			other(call)
		}
	})
	defer orders.Close()
	each(func(call spec.Call) {
		switch call.Name {
		case "resolve": // what it answers is judged by the events that it told
			resolved, _ = c.Resolve(w.Scope(), "paid", "k")
		case "enter":
			entered, _ = c.Enter(w.Scope(), lane, resolved)
		case "resume":
			w.NoError(r.move(entered.Hold, entered.Instance, nil))
		default:
			orders.Send(call)
			w.NoError(w.Scheduler().Sleep(w.Scope(), "until the other is done", time.Millisecond))
		}
	})
}

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
