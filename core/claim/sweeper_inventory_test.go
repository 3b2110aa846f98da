package claim_test

import (
	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L4", "claim sweep and role lease", (*claim.Lease)(nil),
	inventory.Sim("L4/silent-owner-is-freed", "L4/woken-owner-cannot-commit", "L4/busy-instance-is-left-alone",
		"L4/role-is-held-by-one", "L4/clean-stop-hands-over", "L4/role-of-the-dead-moves", "L4/woken-holder-has-lost-the-role",
		"L4/renewed-role-stays", "L4/late-answers"),
	inventory.Mutant("watch-the-instance", "an instance that is found claimed for the age is freed, whoever claims it",
		inventory.RejectedBy("L4/busy-instance-is-left-alone", "assertion L4.early")),
	inventory.Mutant("free-on-sight", "a claim is freed when it is seen first",
		inventory.RejectedBy("L4/busy-instance-is-left-alone", "invariant L4.I1")),
	inventory.Mutant("look-forgets", "every look begins to watch anew",
		inventory.RejectedBy("L4/silent-owner-is-freed", "assertion L4.progress")),
	inventory.Mutant("release-within-the-ended-scope", "a stopped holder releases within the scope that has just ended",
		inventory.RejectedBy("L4/clean-stop-hands-over", "assertion L4.handover")),
	inventory.Mutant("no-release", "a stopped holder leaves its claim to be found",
		inventory.RejectedBy("L4/clean-stop-hands-over", "assertion L4.handover")),
	inventory.Mutant("believe-from-the-answer", "a holder believes from when it was told, not from when it asked",
		inventory.RejectedBy("L4/late-answers", "invariant L4.I3")),
	inventory.Mutant("believe-for-ever", "a holder believes until it is told otherwise",
		inventory.RejectedBy("L4/woken-holder-has-lost-the-role", "invariant L4.I3")),
	inventory.Mutant("watch-the-role", "a candidate watches that the role is held, not by which claim",
		inventory.RejectedBy("L4/renewed-role-stays", "invariant L4.I3")),
	inventory.Mutant("free-on-sight-of-a-role", "a candidate watches for one look instead of TTL",
		inventory.RejectedBy("L4/role-is-held-by-one", "invariant L4.I3")),
	inventory.Mutant("keep-what-was-found", "a take whose answer was lost counts from when it was found",
		inventory.RejectedBy("L4/role-is-held-by-one", "invariant L4.I3")),
	inventory.Mutant("lost-renewal-counts-from-now", "a renewal whose answer was lost counts from when it was found",
		inventory.RejectedBy("L4/late-answers", "invariant L4.I3")),
	inventory.Mutant("lost-role-is-kept", "a holder that finds another in the row believes on",
		inventory.RejectedBy("L4/woken-holder-has-lost-the-role", "assertion L4.progress")),
	inventory.Mutant("renew-keeps-epoch", "renewing does not raise the epoch",
		inventory.RejectedBy("L4/renewed-role-stays", "assertion L4.stays")),
	inventory.Reason(inventory.LaneExhaustive, "the sweep of one claim against a step is searched for L3"),
	inventory.Reason(inventory.LaneModel, "the row's state machine is the model of L3"),
	inventory.Reason(inventory.LaneLinear, "histories with sweeps are judged for L3"),
	inventory.Reason(inventory.LaneDeadlock, "no lock and no wait but for the store"),
	inventory.Reason(inventory.LaneSpec, "the claims' specification has the sweep as an action; its own traces arrive with issue 5"),
)
