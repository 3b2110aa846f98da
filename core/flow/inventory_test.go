package flow_test

import (
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L14", "single-lane identity", (*flow.Definition)(nil),
	inventory.Model("L14/restart-after-every-step"),
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
