package lane_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/lane"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every lane of every execution are steps of tla/lane/Lane.tla.
func TestTraceL1Steps(t *testing.T) { sim.Trace(t, "L1/trace-of-steps", stepsDoNotOverlap) }

func TestTraceL1RequestsInOrder(t *testing.T) {
	sim.Trace(t, "L1/trace-of-requests-in-order", acceptedInOrder)
}

func TestTraceL1Closing(t *testing.T) { sim.Trace(t, "L1/trace-of-closing", closeAnswersEverybody) }

func TestTraceL2CrossingDeliveries(t *testing.T) {
	sim.Trace(t, "L2/trace-of-crossing-deliveries", crossingDeliveries)
}

func TestTraceL2SpawnsAndTimers(t *testing.T) {
	sim.Trace(t, "L2/trace-of-spawns-and-timers", spawnsAndTimers)
}

// Every edge of the specification's graph is taken by lanes: their requests go on when the sequence says so.
func TestTraceL1Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L1/sequences-of-the-specification", plan, followLanes)
}

func followLanes(w *sim.World, each func(do func(spec.Call))) {
	s := w.Scheduler()
	var order [2]*sched.Chan[string] // what a lane does with the request that it has taken; closed: whatever ends it
	for l := range order {
		order[l] = sched.NewChan[string](s, "order", 1)
	}
	r, err := lane.NewRouter(s, lane.Options{Lanes: 2, Queue: 1}, func(id int, _ work) lane.Step[work, int] {
		switch what, _ := order[id].Receive(); what {
		case "Resolve":
			other := fmt.Sprintf("i%d", 1-id)
			return lane.Step[work, int]{Answer: lane.Answer[work, int]{Hop: &lane.Hop[work]{Instance: other}}}
		case "Begin":
			return lane.Step[work, int]{Commit: func() lane.Answer[work, int] {
				order[id].Receive()
				return lane.Answer[work, int]{}
			}}
		default:
			return lane.Step[work, int]{}
		}
	})
	w.NoError(err)
	w.Require(r.Owner("i0") == 0 && r.Owner("i1") == 1, "L2.owner", "i0 and i1 belong to lanes %d and %d", r.Owner("i0"), r.Owner("i1"))
	spec.AttachAlways(w)
	r.Start(w.Scope())
	each(func(c spec.Call) {
		if c.Action == "Arrive" {
			w.Go("caller", func() {
				_, err := r.Deliver(w.Scope(), work{})
				w.NoError(err)
			})
		} else {
			order[c.Lane].Send(c.Action)
		}
		w.NoError(s.Sleep(w.Scope(), "until everybody waits", time.Millisecond))
	})
	for l := range order {
		order[l].Close()
	}
	w.Join()
	r.Close()
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L1/wrong-specification", "../../tla/lane", spec.Load, map[string]string{
		"reply-before-commit": "mismatch Lane.L1I1_ReplyAfterCommit", "lane-enqueues": "mismatch Lane.Hop",
	}, func(w *sim.World, wrong *trace.Spec) {
		spec.AttachTo(w, wrong)
		c := newCounters(w, "i0", "i1")
		var r *router
		r = start(w, lane.Options{Lanes: 2}, func(id int, q work) lane.Step[work, int] {
			if r.Owner(q.instance) != id {
				return lane.Step[work, int]{Answer: lane.Answer[work, int]{Hop: &lane.Hop[work]{Instance: q.instance, Request: q}}}
			}
			return c.prepare(id, q)
		})
		for range 2 { // one of the two arrives on the other lane
			_, err := r.Deliver(w.Scope(), work{instance: "i0"})
			w.NoError(err)
		}
		r.Close()
	})
}
