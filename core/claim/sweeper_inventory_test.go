package claim_test

import (
	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L4", "claim sweep", (*claim.Sweeper)(nil),
	inventory.Sim("L4/silent-owner-is-freed", "L4/woken-owner-cannot-commit", "L4/busy-instance-is-left-alone"),
	inventory.Mutant("watch-the-instance", "an instance that is found claimed for the age is freed, whoever claims it",
		inventory.RejectedBy("L4/busy-instance-is-left-alone", "assertion L4.early")),
	inventory.Mutant("free-on-sight", "a claim is freed when it is seen first",
		inventory.RejectedBy("L4/busy-instance-is-left-alone", "invariant L4.I1")),
	inventory.Mutant("look-forgets", "every look begins to watch anew",
		inventory.RejectedBy("L4/silent-owner-is-freed", "assertion L4.progress")),
	inventory.Reason(inventory.LaneExhaustive, "the sweep of one claim against a step is searched for L3"),
	inventory.Reason(inventory.LaneModel, "the row's state machine is the model of L3"),
	inventory.Reason(inventory.LaneLinear, "histories with sweeps are judged for L3"),
	inventory.Reason(inventory.LaneDeadlock, "no lock and no wait but for the store"),
	inventory.Reason(inventory.LaneSpec, "the claims' specification has the sweep as an action; its own traces arrive with issue 5"),
)
