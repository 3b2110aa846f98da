package mail_test

import (
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L16", "mail box", (*mail.Box)(nil),
	inventory.Sim("L16/kept-message-finds-its-waiter", "L16/messages-arrive-in-order", "L16/what-is-there-finds-its-waiter", "L16/kept-messages-take-effect-once-through-power-cuts"),
	inventory.Mutant("mark-is-lost", "a mark for which there is no room is dropped",
		inventory.RejectedBy("L16/kept-message-finds-its-waiter", "assertion L16.arrived")),
	inventory.Mutant("some-behind-the-look", "a look at all slots says that something is kept when it has looked",
		inventory.RejectedBy("L16/what-is-there-finds-its-waiter", "assertion L16.arrived")),
	inventory.Mutant("overtake", "a message that could not be brought is passed over",
		inventory.RejectedBy("L16/messages-arrive-in-order", "invariant L16.I1")),
	inventory.Mutant("bring-expired", "a message is brought after its time",
		inventory.RejectedBy("L16/messages-arrive-in-order", "invariant L16.I2")),
	inventory.Reason(inventory.LaneExhaustive, "its task polls and times out, so its schedules have no end to search to"),
	inventory.Reason(inventory.LaneModel, "the order of a slot is its key order; the transcripts of the engine tell the rest"),
	inventory.Reason(inventory.LaneLinear, "no operation returns what it read"),
	inventory.Reason(inventory.LaneDeadlock, "it takes no lock, and each of its waits ends with its scope"),
	inventory.Reason(inventory.LaneSpec, "the orders that matter are those of commits (L6)"),
)
