package inbox_test

import (
	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L7", "inbox", (*inbox.Inbox)(nil),
	inventory.Sim("L7/effect-once", "L7/lost-answers-and-crash", "L7/refused-stays-deliverable", "L7/crashed-stays-deliverable",
		"L7/duplicate-needs-a-receipt", "L7/absence-is-durable", "L7/forgotten-delivery-on-two-lanes"),
	inventory.Model("L7/inbox-against-model"),
	inventory.Linear("L7/deliveries-are-linearizable", "L7/deliveries-are-linearizable-on-the-real-runtime"),
	inventory.Spec("L7/trace-of-effects", "L7/trace-of-lost-answers-and-crash", "L7/trace-of-a-crashed-lane",
		"L7/sequences-of-the-specification"),
	inventory.Mutant("mark-before-commit", "a delivery is marked as seen in a commit before its step",
		inventory.RejectedBy("L7/refused-stays-deliverable", "assertion L7.I3"),
		inventory.RejectedBy("L7/effect-once", "assertion L7.I2")),
	inventory.Mutant("duplicate-from-unsynced-read", "a duplicate is acknowledged on a receipt that is not durable",
		inventory.RejectedBy("L7/effect-once", "assertion L7.I2"),
		inventory.RejectedBy("L7/trace-of-effects", "mismatch Inbox.Ack")),
	inventory.Mutant("no-key-in-the-step", "only the read before decides, the step carries another key",
		inventory.RejectedBy("L7/effect-once", "invariant L7.I1"),
		inventory.RejectedBy("L7/trace-of-effects", "mismatch Inbox.LandCommit")),
	inventory.Mutant("duplicate-counts-as-effect", "an attempt that came second is told that it was first",
		inventory.RejectedBy("L7/deliveries-are-linearizable", "assertion L7.linear")),
	inventory.Mutant("refusal-is-acknowledged", "an attempt that did not commit is acknowledged",
		inventory.RejectedBy("L7/refused-stays-deliverable", "assertion L7.I3"),
		inventory.RejectedBy("L7/inbox-against-model", "assertion L7.model"),
		inventory.RejectedBy("L7/trace-of-effects", "mismatch Inbox.Ack")),
	inventory.Mutant("duplicate-without-receipt", "a commit that says duplicate is acknowledged although there is no receipt",
		inventory.RejectedBy("L7/duplicate-needs-a-receipt", "assertion L7.I2")),
	inventory.Mutant("absence-at-once", "an answer from absence does not wait for the removal",
		inventory.RejectedBy("L7/absence-is-durable", "assertion L7.I4")),
	inventory.Reason(inventory.LaneExhaustive, "the inbox holds no state; what races is the step's commit, which L6 explores exhaustively"),
	inventory.Reason(inventory.LaneDeadlock, "no lock and no wait but for the store"),
)
