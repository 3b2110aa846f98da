package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// An engine is stopped in the middle of its work. What its lanes had taken in is run, who waits for an end is told that it must ask
// again, no claim is left; and a successor over the same store, which no sweep helps, goes on at once.
func TestSimL13SuccessorStartsAtOnce(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L13/successor-starts-at-once", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{Latency: time.Second, Only: []string{"commit"}})
		o := engine.Options{
			Replica: "first", Shared: true, Lanes: 1 + w.Choose("lanes", 4), Queue: 1 + w.Choose("queue", 3),
			Sweep: claim.SweepOptions{Age: time.Hour}, SettleTimeout: time.Hour,
		}
		first := x.node(w.Scheduler().NewScope("first"), o)
		e := first
		running := func() *engine.Engine { return e }
		for _, account := range []string{"a", "b"} {
			w.Go("account "+account, func() { x.fill(running, account) })
		}
		told := false
		w.Go("holder", func() {
			_, err := first.Deliver(w.Scope(), message("open-and-wait", "held", "", text("account", "c"), integer("wanted", 1)))
			w.Require(errors.Is(err, engine.ErrUnsettled) || errors.Is(err, lane.ErrStopped), "L13.told", "the holder was told %v", err)
			told = true
		})
		for range w.Choose("steps", 300) {
			w.Scheduler().Yield()
		}
		first.Close()
		x.unclaimed("first")
		o.Replica = "second"
		e = x.node(w.Scheduler().NewScope("second"), o)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "a moment", time.Millisecond))
		w.Require(told, "L13.told", "the engine was stopped, and who waits for an end was not told")
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "settle", 20*time.Second))
		e.Close()
		x.unclaimed("second")
		x.settled(openedBy(message("open-and-wait", "held", "")))
	}, sim.Steps(60_000))
}

// An engine is stopped in the middle of an activation whose own scope does not end. A word that comes into the queue of a lane that has
// just ended is never taken: whoever waits for the answer of the lanes is told that they have ended.
func TestSimL13StopEndsAnActivation(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L13/stop-ends-an-activation", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		e := x.node(w.Scheduler().NewScope("node"), engine.Options{Lanes: 1 + w.Choose("lanes", 2), Queue: 1})
		w.Go("activation", func() { x.expect(e.Activate(w.Scope(), x.deployment("d2")), nil, lane.ErrStopped) })
		for range w.Choose("steps", 60) {
			w.Scheduler().Yield()
		}
		e.Close()
		w.Join()
	})
}

// unclaimed requires that no claim of a replica is left. The role of an incarnation that crashed is free after its TTL.
func (x *outside) unclaimed(replica string) {
	for id, in := range x.dump(x.engine.Peek).Instances { //order:the first one found fails
		x.Require(in.Owner.Replica != replica || engine.Internal(id), "L13.claims", "replica %s was stopped, and %s is still claimed by %v", replica, id, in.Owner)
	}
}

// The process died in the middle of a step, and its store did not: the claim is still there. A node that shares its store with nobody frees it
// at its start, so that what comes for the instance is carried out at once.
func TestSimL13StartFreesClaimsOfTheDead(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L13/start-frees-claims-of-the-dead", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		open, id := account("a")
		first := x.node(w.Scheduler().NewScope("first"), engine.Options{})
		x.deliver(first, open)
		first.Close()
		head, _, err := x.st.Head(w.Scope(), id)
		w.NoError(err)
		_, _, err = x.st.Take(w.Scope(), id, head.Epoch, store.Owner{Replica: "dead", Incarnation: 1})
		w.NoError(err)
		second := x.node(w.Scheduler().NewScope("second"), engine.Options{Lanes: 1 + w.Choose("lanes", 2)})
		_, err = second.Deliver(w.Scope(), message("add", "one", "a", integer("amount", 1)))
		w.Require(err == nil, "L13.start", "the node has started, and a delivery was told %v", err)
		second.Close()
	}, sim.Runs(30), sim.Steps(20_000))
}
