package outbox_test

import (
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L11", "outbox", (*outbox.Sender)(nil),
	inventory.Sim("L11/every-emission-arrives-in-order", "L11/nothing-leaves-before-its-commit-is-durable",
		"L11/silent-receiver-times-out", "L11/thrown-messages-arrive-once-through-power-cuts", "L11/receipts-outlive-their-rows",
		"L11/failing-instance-holds-up-nobody", "L11/full-book-goes-on", "L11/mark-is-noticed", "L11/horizon-is-behind-every-row"),
	inventory.Model("L11/model"),
	inventory.Spec("L11/trace-of-failing-sends", "L11/trace-of-a-crash-of-the-store"),
	inventory.Mutant("send-before-commit", "emissions are sent before the commit that wrote them is durable",
		inventory.RejectedBy("L11/every-emission-arrives-in-order", "assertion L11.I2"),
		inventory.RejectedBy("L11/nothing-leaves-before-its-commit-is-durable", "assertion L11.I2"),
		inventory.RejectedBy("L11/trace-of-a-crash-of-the-store", "mismatch Outbox.Secure")),
	inventory.Mutant("go-on-after-failure", "a failed emission is skipped and its row removed",
		inventory.RejectedBy("L11/every-emission-arrives-in-order", "assertion L11.arrived"),
		inventory.RejectedBy("L11/model", "assertion L11.model")),
	inventory.Mutant("horizon-does-not-wait", "what remembers an emission goes by the clock, whether its row is there or not",
		inventory.RejectedBy("L11/receipts-outlive-their-rows", "assertion L11.once")),
	inventory.Mutant("horizon-is-the-arrival", "the horizon is when a walk arrived, not when it began",
		inventory.RejectedBy("L11/horizon-is-behind-every-row", "assertion L11.horizon")),
	inventory.Mutant("rest-of-a-cut-instance", "an instance that a page has cut is handed out from the middle",
		inventory.RejectedBy("L11/every-emission-arrives-in-order", "assertion L11.order")),
	inventory.Mutant("bound-off", "one instance more is remembered than may be",
		inventory.RejectedBy("L11/full-book-goes-on", "invariant L11.I5")),
	inventory.Mutant("never-forget-idle", "an instance whose rows somebody else has sent is remembered for ever",
		inventory.RejectedBy("L11/full-book-goes-on", "assertion L11.rows")),
	inventory.Mutant("full-book-rests", "a full book looks at nothing, not even for those that it remembers",
		inventory.RejectedBy("L11/full-book-goes-on", "assertion L11.bound")),
	inventory.Mutant("cursor-lost", "a look begins at the start again after each page",
		inventory.RejectedBy("L11/failing-instance-holds-up-nobody", "assertion L11.arrived")),
	inventory.Mutant("mark-lost-while-looking", "a mark that is left during a look is lost",
		inventory.RejectedBy("L11/mark-is-noticed", "assertion L11.rows")),
	inventory.Reason(inventory.LaneExhaustive, "its tasks poll and time out, so its schedules have no end to search to"),
	inventory.Reason(inventory.LaneLinear, "no operation returns what it read"),
	inventory.Reason(inventory.LaneDeadlock, "it takes no lock, and each of its waits ends with its scope"),
)
