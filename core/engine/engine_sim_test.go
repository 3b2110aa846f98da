package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// Messages with amounts are added up by instances, one step each, on 1 to 4 lanes, over a store that refuses and loses
// answers; transports redeliver until they have an answer, and once more after it. Every message counts exactly once, every
// answer is true when it is given, and what was emitted is every total in between.
func TestSimL1EveryDeliveryTakesEffectOnce(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L1/every-delivery-takes-effect-once", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{
			Refuse: 12, Lose: 8, Budget: 5, Scope: w.Scope(), Only: []string{"take", "load", "commit", "head", "release", "resolve", "receipt", "recorded"},
		})
		e := x.node(w.Scope(), engine.Options{Lanes: 1 + w.Choose("lanes", 4), Queue: 1})
		running := func() *engine.Engine { return e }
		for _, account := range []string{"a", "b"} {
			w.Go("account "+account, func() { x.fill(running, account) })
		}
		w.Join()
		x.settle(e)
	}, sim.Steps(40_000))
}

// fill opens an account with a wait for its end, and adds three amounts concurrently.
func (x *outside) fill(node func() *engine.Engine, account string) {
	open := message("open", "open-"+account, "", text("account", account), integer("wanted", 3))
	opened := x.transport(x.Scope(), open, node)
	x.Require(opened.Outcome == engine.Accepted, "L1.reply", "open %s: %+v", account, opened)
	x.Require(x.durable(opened.Instance).Status.String() != "absent", "L7.durable", "open %s was answered and is not durable", account)
	for i := range 3 {
		x.Go("add to "+account, func() {
			d := message("add", fmt.Sprintf("%s-%d", account, i), account, integer("amount", 1<<i))
			for again := range 1 + x.Choose("redeliver", 2) {
				r := x.transport(x.Scope(), d, node)
				x.Require(r.Outcome == engine.Accepted && r.Instance == opened.Instance, "L1.reply", "add %s: %+v; the instance is %s", d.ID, r, x.durable(opened.Instance).Snapshot)
				x.Require(again == 0 || r.Duplicate, "L7.duplicate", "redelivery of %s: %+v", d.ID, r)
				x.Require(x.received(d.ID), "L7.durable", "add %s was answered and is not durable", d.ID)
			}
		})
	}
}

// received reports whether the worst crash would leave the receipt of a delivery.
func (x *outside) received(id string) bool {
	for _, r := range x.dump(x.engine.PeekDurable).Receipts {
		if r.ID == id {
			return true
		}
	}
	return false
}

// A delivery whose id was forgotten comes twice at once, to two lanes. One of them starts its instance anew; both are answered
// with the end of that one, and not with what the other lane has taken away.
func TestSimL7ForgottenDeliveryOnTwoLanes(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L7/forgotten-delivery-on-two-lanes", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		e := x.node(w.Scope(), engine.Options{Lanes: 2})
		running := func() *engine.Engine { return e }
		d := message("brief-and-wait", "d", "", integer("amount", 5))
		first := x.transport(w.Scope(), d, running)
		_, _, err := x.st.Expire(w.Scope(), store.InboxSpace, w.Scheduler().Now().Add(time.Hour), 100)
		w.NoError(err)
		var replies []engine.Reply
		for range 2 {
			w.Go("transport", func() {
				r, err := e.Deliver(w.Scope(), d)
				w.Require(err == nil, "L7.forgotten", "not answered: %v", err)
				replies = append(replies, r)
			})
		}
		w.Join()
		anew := 0
		for _, r := range replies {
			w.Require(r.Outcome == engine.Completed && string(r.Result) == string(first.Result), "L7.forgotten", "answered with %+v, at first with %+v", r, first)
			if !r.Duplicate {
				anew++
			}
		}
		w.Require(anew == 1, "L7.forgotten", "started anew %d times: %+v", anew, replies)
		e.Close()
	}, sim.Runs(300), sim.Steps(40_000))
}

// settle ends the engine and requires that everything has come to its end.
func (x *outside) settle(e *engine.Engine) {
	x.NoError(x.Scheduler().Sleep(x.Scope(), "settle", 20*time.Second))
	e.Close()
	x.settled()
}
