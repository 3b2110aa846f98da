package flow_test

import (
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L14", "single-lane identity", (*flow.Definition)(nil),
	inventory.Model("L14/restart-after-every-step", "L14/one-lane-is-one-actor", "L14/another-engine-after-every-delivery", "L14/lanes-in-turn"),
	inventory.Mutant("reorder-one-release", "of the waits behind one that a message has ended, the youngest is found next",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference"),
		inventory.RejectedBy("L14/lanes-in-turn", "mismatch L14.lanes")),
	inventory.Mutant("who-waits-again-is-first", "an event that waits again does not stand behind those that wait",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("resolved-token-stays-stuck", "a token whose incident was resolved keeps it where it waits next",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("refused-key-hides-who-waits-behind", "a wait behind one whose key was refused waits on, where no message finds it",
		inventory.RejectedBy("L1/cases-end-the-same-on-any-lanes", "assertion L1.case")),
	inventory.Mutant("result-goes-outside", "a result becomes a variable of the process although a scope around has one of its name",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("any-error-event-first", "the event that catches every error wins over the one that names the code",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("terminate-ends-the-token", "a terminate end event ends its own token alone",
		inventory.RejectedBy("L14/one-lane-is-one-actor", "mismatch L14.reference")),
	inventory.Mutant("snapshot-forgets-the-way", "the snapshot does not keep by which flow a token came to a join",
		inventory.RejectedBy("L14/restart-after-every-step", "assertion L14.restart")),
	inventory.Mutant("snapshot-forgets-the-cycle", "the snapshot does not keep the rest of a cycle",
		inventory.RejectedBy("L14/restart-after-every-step", "assertion L14.restart")),
	inventory.Mutant("event-outlives-its-host", "a boundary event stays armed after its activity has ended",
		inventory.RejectedBy("L14/restart-after-every-step", "assertion L14.restart")),
	inventory.Reason(inventory.LaneSim, "a step is a pure function; the lanes' schedules are explored by the checks of L1, which tell the same transcripts on any number of lanes"),
	inventory.Reason(inventory.LaneExhaustive, "it has no tasks"),
	inventory.Reason(inventory.LaneLinear, "it has no concurrent operations"),
	inventory.Reason(inventory.LaneDeadlock, "it never waits"),
	inventory.Reason(inventory.LaneSpec, "it has no protocol"),
)
