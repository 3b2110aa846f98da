package deploy_test

import (
	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L9", "activation flip", (*deploy.Flip[int])(nil),
	inventory.Sim("L9/nothing-is-lost-through-an-activation", "L9/crash-finds-old-or-new-whole", "L9/abort-leaves-nothing",
		"L9/aborted-rollback-keeps-the-tail", "L9/unknown-decision-is-left-alone", "L9/replica-follows",
		"L9/retirement-waits-for-the-spawn-under-way", "L9/replicas-activate", "L9/activation-through-power-cuts",
		"L9/lost-answers-of-decisions"),
	inventory.Exhaustive("L9/two-lanes-one-activation"),
	inventory.Model("L9/activation-survives-a-loss-of-power"),
	inventory.Spec("L9/trace-of-an-activation-under-load", "L9/trace-of-crashes"),
	inventory.Mutant("single-phase", "hole 3: one message makes a lane know and spawn",
		inventory.RejectedBy("L9/nothing-is-lost-through-an-activation", "assertion L9.back")),
	inventory.Mutant("phase-two-through-queues", "phase 2 travels through the queues",
		inventory.RejectedBy("L9/trace-of-an-activation-under-load", "mismatch Flip.Post")),
	inventory.Mutant("abort-beside-the-queue", "an abort is applied at once, beside the queues",
		inventory.RejectedBy("L9/abort-leaves-nothing", "race known deployments")),
	inventory.Mutant("acknowledgement-without-attempt", "what a lane said of an aborted attempt counts for the next one",
		inventory.RejectedBy("L9/abort-leaves-nothing", "invariant L9.I2")),
	inventory.Mutant("durable-after-publication", "the decision becomes durable after lanes spawn by it",
		inventory.RejectedBy("L9/trace-of-crashes", "mismatch Flip.Publish")),
	inventory.Mutant("retire-before-all-flipped", "a deployment retires while a lane is in the middle of a spawn of it",
		inventory.RejectedBy("L9/retirement-waits-for-the-spawn-under-way", "assertion L9.lost"),
		inventory.RejectedBy("L9/trace-of-an-activation-under-load", "mismatch Flip.Occupied")),
	inventory.Mutant("no-barrier", "phase 2 does not wait for the lanes",
		inventory.RejectedBy("L9/two-lanes-one-activation", "invariant L9.I2"),
		inventory.RejectedBy("L9/trace-of-an-activation-under-load", "mismatch Flip.Decide")),
	inventory.Mutant("aborted-rollback-forgets", "an aborted rollback makes lanes forget a deployment that drains",
		inventory.RejectedBy("L9/aborted-rollback-keeps-the-tail", "invariant L9.I3")),
	inventory.Mutant("follow-before-lanes-know", "a replica spawns what another one decided before its lanes know it",
		inventory.RejectedBy("L9/replica-follows", "invariant L9.I2")),
	inventory.Mutant("follow-an-older-view", "a replica goes back to a view that is older than its own",
		inventory.RejectedBy("L9/replica-follows", "invariant L9.I1")),
	inventory.Mutant("unknown-is-aborted", "a decision that may be durable is taken back",
		inventory.RejectedBy("L9/unknown-decision-is-left-alone", "assertion L9.unknown")),
	inventory.Mutant("drop-before-the-publication", "lanes drop a deployment that is still in the view",
		inventory.RejectedBy("L9/nothing-is-lost-through-an-activation", "invariant L9.I3")),
	inventory.Reason(inventory.LaneLinear, "one change at a time publishes, and readers load one word"),
	inventory.Reason(inventory.LaneDeadlock, "lanes never wait; the coordinator's waits end with its scope"),
)
