package lane_test

import (
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L1", "lane loop", (*lane.Lane[work, int])(nil),
	inventory.Sim("L1/steps-do-not-overlap", "L1/reply-follows-commit", "L1/accepted-in-order-runs-in-order", "L1/close-answers-everybody", "L1/accepted-before-close-runs",
		"L1/every-delivery-takes-effect-once", "L1/acknowledged-deliveries-survive-a-power-cut", "L1/held-delivery-is-answered-with-the-end", "L1/cases-end-the-same-on-any-lanes"),
	inventory.Exhaustive("L1/two-callers"),
	inventory.Linear("L1/histories", "L1/real-histories"),
	inventory.Spec("L1/trace-of-steps", "L1/trace-of-requests-in-order", "L1/trace-of-closing",
		"L1/sequences-of-the-specification"),
	inventory.Mutant("reply-before-commit", "the reply leaves, then the transaction is committed",
		inventory.RejectedBy("L1/reply-follows-commit", "invariant L1.I2"),
		inventory.RejectedBy("L1/every-delivery-takes-effect-once", "invariant L1.I2"),
		inventory.RejectedBy("L1/two-callers", "invariant L1.I2")),
	inventory.Mutant("two-workers", "two tasks run one lane",
		inventory.RejectedBy("L1/steps-do-not-overlap", "race lane loop"),
		inventory.RejectedBy("L1/two-callers", "race lane loop")),
	inventory.Mutant("dequeue-before-reply", "the next request is taken and run before the reply to the last one",
		inventory.RejectedBy("L1/accepted-in-order-runs-in-order", "invariant L1.I3"),
		inventory.RejectedBy("L1/two-callers", "invariant L1.I3")),
	inventory.Mutant("close-drops-the-queue", "a closing lane ends without running what it had accepted",
		inventory.RejectedBy("L1/accepted-before-close-runs", "assertion L1.close")),
	inventory.Mutant("newest-first", "of two requests that wait the one that came last runs first",
		inventory.RejectedBy("L1/accepted-in-order-runs-in-order", "assertion L1.order"),
		inventory.RejectedBy("L1/trace-of-requests-in-order", "mismatch Lane.Dequeue")),
	inventory.Reason(inventory.LaneModel, "a lane's sequential history is its queue; P judges it with that model"),
	inventory.Reason(inventory.LaneDeadlock, "a lane waits for its queue alone and takes no lock; L2 has the workload of queues"),
)

var _ = inventory.Owner("L2", "lane router", (*lane.Router[work, int])(nil),
	inventory.Sim("L2/crossing-deliveries-arrive", "L2/spawns-stay-and-timers-go-straight", "L2/full-queue-pushes-back-on-the-caller", "L2/slow-lane-delays-its-own-instances-only"),
	inventory.Exhaustive("L2/crossing-deliveries"),
	inventory.Spec("L2/trace-of-crossing-deliveries", "L2/trace-of-spawns-and-timers"),
	inventory.Mutant("lane-enqueues", "a lane loop puts the hop into the other lane's queue itself",
		inventory.RejectedBy("L2/crossing-deliveries-arrive", "deadlock lane reply"),
		inventory.RejectedBy("L2/trace-of-crossing-deliveries", "mismatch Lane.Dequeue")),
	inventory.Mutant("arrivals-ignore-load", "arrivals go round, whatever the lanes have to do",
		inventory.RejectedBy("L2/slow-lane-delays-its-own-instances-only", "assertion L2.arrivals")),
	inventory.Mutant("answered-is-load", "a request that was answered counts as load for ever",
		inventory.RejectedBy("L2/slow-lane-delays-its-own-instances-only", "assertion L2.arrivals")),
	inventory.Mutant("arrivals-do-not-go-round", "of idle lanes the first takes every arrival",
		inventory.RejectedBy("L2/spawns-stay-and-timers-go-straight", "assertion L2.arrivals")),
	inventory.Mutant("resolve-again", "the receiver of a hop resolves again",
		inventory.RejectedBy("L2/crossing-deliveries-arrive", "assertion L2.I3")),
	inventory.Reason(inventory.LaneModel, "routing has no sequential state but a counter"),
	inventory.Reason(inventory.LaneLinear, "the order of requests is the lane's (L1), which P judges through the router"),
	inventory.Reason(inventory.LaneDeadlock, "arrives with issue 3"),
)

var _ = inventory.Owner("L15", "handoff of a resolved delivery", (*lane.Handoff[string, string])(nil),
	inventory.Sim("L15/receiver-uses-what-travelled"),
	inventory.Mutant("decode-again", "the receiver decodes the body again",
		inventory.RejectedBy("L15/receiver-uses-what-travelled", "assertion L15.I1")),
	inventory.Reason(inventory.LaneExhaustive, "the value belongs to one task at a time; the search of L2 moves it through every schedule"),
	inventory.Reason(inventory.LaneModel, "a handoff is written once and read once"),
	inventory.Reason(inventory.LaneLinear, "one task at a time uses it"),
	inventory.Reason(inventory.LaneDeadlock, "it never waits"),
	inventory.Reason(inventory.LaneSpec, "what travels is values; the hop itself is an action of L2's specification"),
)
