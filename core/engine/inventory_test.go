package engine_test

import (
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L13", "lane lifecycle", (*engine.Engine)(nil),
	inventory.Sim("L13/successor-starts-at-once", "L13/stop-ends-an-activation"),
	inventory.Deadlock("L13/replicas-activate-and-stop"),
	inventory.Mutant("stop-leaves-changes", "who waits for the lanes to learn a deployment is left waiting when they have ended",
		inventory.RejectedBy("L13/stop-ends-an-activation", "deadlock lanes told")),
	inventory.Mutant("follows-inside-a-decision", "who loses a decision follows the winner before it gives up its turn to change",
		inventory.RejectedBy("L13/replicas-activate-and-stop", "deadlock order deployment changes,following deployments")),
	inventory.Mutant("store-closed-with-the-lanes", "the store handle is closed with the lanes",
		inventory.RejectedBy("L13/successor-starts-at-once", "assertion error")),
	inventory.Mutant("stop-cuts-the-lanes", "the lanes' scope ends before they have run what they took in",
		inventory.RejectedBy("L13/successor-starts-at-once", "assertion L13.told")),
	inventory.Mutant("stop-leaves-holders", "who waits for the end of an instance is left waiting",
		inventory.RejectedBy("L13/successor-starts-at-once", "assertion L13.told")),
	inventory.Reason(inventory.LaneExhaustive, "a whole engine has too many schedules; closing one lane is searched for L1"),
	inventory.Reason(inventory.LaneModel, "stopping has no sequential history"),
	inventory.Reason(inventory.LaneLinear, "what requests return is judged for L1 and L3"),
	inventory.Reason(inventory.LaneSpec, "the order of a stop is that of lane loops, specified in tla/lane"),
)

// L17 is the whole execution plane: several replicas of the engine over one store, as one.
var _ = inventory.Owner("L17", "replica set", (*engine.Engine)(nil),
	inventory.Sim("L17/fleet-loses-nothing", "L17/schedules-are-one-for-all-replicas", "L17/claim-of-the-dead-is-freed"),
	inventory.Mutant("spawn-is-the-replicas", "the id of a started instance depends on the replica that starts it",
		inventory.RejectedBy("L17/fleet-loses-nothing", "assertion L17.spawn")),
	inventory.Mutant("schedule-is-the-replicas", "every replica has a schedule of its own",
		inventory.RejectedBy("L17/schedules-are-one-for-all-replicas", "assertion L10.once")),
	inventory.Mutant("end-is-told-where-it-happens", "a held delivery is not compared with durable state",
		inventory.RejectedBy("L17/fleet-loses-nothing", "assertion L17.calm")),
	inventory.Mutant("tasks-are-told-where-they-are-offered", "a worker does not look for what other replicas offer",
		inventory.RejectedBy("L17/fleet-loses-nothing", "assertion L17.calm")),
	inventory.Mutant("kept-here-only", "a replica does not look for messages that another one keeps",
		inventory.RejectedBy("L17/fleet-loses-nothing", "assertion L17.calm")),
	inventory.Mutant("end-is-told-before-its-commit", "the end of an instance is told to those who wait for it, then it is committed",
		inventory.RejectedBy("L5/nobody-is-answered-inside-the-commit", "assertion L5.early"),
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("refused-is-unsettled", "a delivery that a full registry refused is told that it took effect",
		inventory.RejectedBy("L5/full-registry-refuses-before-the-commit", "assertion L5.told")),
	inventory.Mutant("start-does-not-rest-on-the-decision", "a replica starts instances on the deployment that it knows, whatever was decided",
		inventory.RejectedBy("L17/fleet-loses-nothing", "assertion L9.flip")),
	inventory.Mutant("stay-bounces", "a delivery that could stay where it arrived, but for the claim, is sent back to its start",
		inventory.RejectedBy("L2/busy-owner-is-not-waited-for", "assertion error")),
	inventory.Mutant("nobody-sweeps", "the claims of a silent replica stay",
		inventory.RejectedBy("L17/claim-of-the-dead-is-freed", "assertion L17.progress")),
	inventory.Reason(inventory.LaneExhaustive, "several nodes have too many schedules; their parts are searched under their owners' ids"),
	inventory.Reason(inventory.LaneModel, "what one engine answers is compared with a reference for L14, and replicas with one engine here"),
	inventory.Reason(inventory.LaneLinear, "histories of claims, lanes and locks are judged for L3, L1 and L12"),
	inventory.Reason(inventory.LaneDeadlock, "L13 has the workload of two replicas that meet, activate and stop"),
	inventory.Reason(inventory.LaneSpec, "composed of the specifications of claim, step, settle and lane, which are checked apart"),
)
