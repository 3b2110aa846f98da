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
	inventory.Reason(inventory.LaneDeadlock, "the catalogue asks for none: the table's only wait is explored by E1/work-or-evict"),
	inventory.Reason(inventory.LaneSpec, "the catalogue asks for none"),
)

var _ = inventory.Owner("E2", "deduplicator keyspace", (*branch.Keyspace)(nil),
	inventory.Sim("E2/crash-anywhere", "E2/failed-output-passes-again", "E2/released-before-the-source-learns",
		"E2/kept-from-first-sight", "E2/observers-see-generations"),
	inventory.Model("E2/model"),
	inventory.Linear("E2/histories"),
	inventory.Mutant("refresh-on-hit", "a repetition prolongs the time of its key",
		inventory.RejectedBy("E2/kept-from-first-sight", "assertion E2.keep")),
	inventory.Mutant("keep-on-failure", "the keys of a failed output stay",
		inventory.RejectedBy("E2/failed-output-passes-again", "assertion E2.once")),
	inventory.Mutant("publish-live-map", "observers are given the map that the task goes on changing",
		inventory.RejectedBy("E2/observers-see-generations", "invariant E2.I4")),
	inventory.Mutant("commit-at-reservation", "a key counts as committed as soon as it is reserved",
		inventory.RejectedBy("E2/crash-anywhere", "assertion E2.once"),
		inventory.RejectedBy("E2/failed-output-passes-again", "assertion E2.once")),
	inventory.Mutant("acknowledge-held", "a repetition of a reserved key is acknowledged at once",
		inventory.RejectedBy("E2/crash-anywhere", "assertion E2.once"),
		inventory.RejectedBy("E2/failed-output-passes-again", "assertion E2.once")),
	inventory.Mutant("source-first", "the source learns of a failure before the lane does",
		inventory.RejectedBy("E2/released-before-the-source-learns", "assertion E2.released")),
	inventory.Mutant("start-empty", "a branch begins without the keys of earlier lives",
		inventory.RejectedBy("E2/crash-anywhere", "assertion E2.once")),
	inventory.Reason(inventory.LaneExhaustive, "the catalogue asks for none: the keyspace is one task's, and its lane is explored by E1/work-or-evict"),
	inventory.Reason(inventory.LaneDeadlock, "the keyspace never waits"),
	inventory.Reason(inventory.LaneSpec, "the catalogue asks for none"),
)
