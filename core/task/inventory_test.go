package task_test

import (
	"github.com/millrace-dev/millrace/core/task"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L12", "external task lease", (*task.Lease)(nil),
	inventory.Sim("L12/waiting-worker-is-woken", "L12/patient-worker-looks-again", "L12/late-holder-settles-nothing"),
	inventory.Model("L12/model"),
	inventory.Linear("L12/locks-are-linearizable"),
	inventory.Mutant("checks-only-the-id", "a completion is checked for its task, not for its lock",
		inventory.RejectedBy("L12/late-holder-settles-nothing", "assertion L12.I1"),
		inventory.RejectedBy("L12/model", "assertion L12.model"),
		inventory.RejectedBy("L12/locks-are-linearizable", "assertion L12.linear")),
	inventory.Mutant("expired-holder-settles", "a lock settles after its time, as long as nobody took another",
		inventory.RejectedBy("L12/late-holder-settles-nothing", "assertion L12.expired"),
		inventory.RejectedBy("L12/model", "assertion L12.model")),
	inventory.Mutant("lock-is-taken-over", "another worker takes a task whose lock has not expired",
		inventory.RejectedBy("L12/late-holder-settles-nothing", "assertion L12.I3"),
		inventory.RejectedBy("L12/locks-are-linearizable", "assertion L12.linear")),
	inventory.Mutant("number-is-used-again", "a task that was given back starts to count its locks anew",
		inventory.RejectedBy("L12/model", "assertion L12.model"),
		inventory.RejectedBy("L12/locks-are-linearizable", "assertion L12.linear")),
	inventory.Mutant("look-then-register", "a worker looks for tasks before it registers for offers",
		inventory.RejectedBy("L12/waiting-worker-is-woken", "assertion L12.woken")),
	inventory.Mutant("offers-elsewhere-are-not-looked-for", "a worker that waits looks again when it is woken, and only then",
		inventory.RejectedBy("L12/patient-worker-looks-again", "assertion L12.patience")),
	inventory.Mutant("worker-looks-twice-at-most", "a worker gives up when the time between two looks is over",
		inventory.RejectedBy("L12/patient-worker-looks-again", "assertion L12.patience")),
	inventory.Mutant("nothing-is-an-error", "a worker that has waited all its patience is told an error",
		inventory.RejectedBy("L12/patient-worker-looks-again", "assertion error")),
	inventory.Reason(inventory.LaneExhaustive, "a lease is a value that one lane changes under a claim; L3 searches the claim"),
	inventory.Reason(inventory.LaneDeadlock, "a lease never waits; a worker's wait ends with its scope and holds nothing"),
	inventory.Reason(inventory.LaneSpec, "the orders that matter are those of claims and commits (L3, L6)"),
)
