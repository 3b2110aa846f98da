package branch_test

import (
	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("E1", "branch lane", (*branch.Lane[int, int])(nil),
	inventory.Sim("E1/one-work-at-a-time", "E1/eviction-takes-idle-branches", "E1/held-branch-stays",
		"E1/branches-are-independent", "E1/idle-branch-ends-by-time"),
	inventory.Exhaustive("E1/work-or-evict"),
	inventory.Mutant("take-first", "eviction takes the runtime before it detaches the lane",
		inventory.RejectedBy("E1/eviction-takes-idle-branches", "race branch runtime"),
		inventory.RejectedBy("E1/work-or-evict", "race branch runtime")),
	inventory.Mutant("evict-held", "eviction ignores that something will come back to the branch",
		inventory.RejectedBy("E1/held-branch-stays", "invariant E1.I2")),
	inventory.Mutant("look-before-waiting", "the table looks for an idle lane before it says that it waits for one",
		inventory.RejectedBy("E1/work-or-evict", "deadlock table idled")),
	inventory.Mutant("schedule-always", "every admission puts the lane into the ready list",
		inventory.RejectedBy("E1/eviction-takes-idle-branches", "invariant E1.I1")),
	inventory.Reason(inventory.LaneModel, "a lane is a queue with one taker: C6/queue-model has its sequences, and its races are what matters here"),
	inventory.Reason(inventory.LaneLinear, "the table belongs to one task and a lane returns nothing: there is no history to judge but the order of works, which E1/one-work-at-a-time requires"),
	inventory.Reason(inventory.LaneDeadlock, "arrives with issue 3"),
	inventory.Reason(inventory.LaneSpec, "the catalogue asks for none"),
)
