package postgres_test

import (
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// S2 is not one of the catalogue's owners: it is the store that replicas share, whose inside is a server.
var _ = inventory.Owner("S2", "shared store", (*postgres.Store)(nil),
	inventory.Model("S2/store-against-model", "S2/calls-share-a-statement", "S2/statements-find-by-key", "S2/calls-sent-again"),
	inventory.Linear("S2/compare-and-write-is-one-step"),
	inventory.Mutant("take-without-compare", "a claim is taken whoever has it",
		inventory.RejectedBy("S2/compare-and-write-is-one-step", "assertion S2.linear")),
	inventory.Mutant("take-reads-all", "to take a claim all instances are read",
		inventory.RejectedBy("S2/statements-find-by-key", "assertion S2.plan")),
	inventory.Mutant("commit-without-epoch", "a commit asserts its owner and not its epoch",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("zero-rows-commit", "a step whose claim is lost writes all but its row",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("free-keeps-epoch", "a claim is freed at the epoch it has",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("step-alone-without-epoch", "a step that commits by itself asserts its owner and not its epoch",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("step-alone-without-row", "a step that commits by itself and whose claim is lost writes all but its row",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("step-alone-leaves-waits", "a terminal step that commits by itself leaves waits open",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("collect-unsent", "an instance is collected while an emission has not left",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("terminal-leaves-waits", "a terminal step leaves waits open",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("emissions-numbered-backwards", "emissions of one step are numbered from the last one",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("reservation-ignored", "a replica reserves the emissions that another one has",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("timers-behind-are-reserved", "with a timer all timers of its instance are reserved",
		inventory.RejectedBy("S2/store-against-model", "assertion S2.model")),
	inventory.Mutant("rows-of-another-call", "of calls that share a statement each is given the rows of another one",
		inventory.RejectedBy("S2/calls-share-a-statement", "assertion S2.shared")),
	inventory.Mutant("rows-are-read-twice", "a call that is sent again keeps the rows that it was given before",
		inventory.RejectedBy("S2/calls-sent-again", "assertion S2.again")),
	inventory.Mutant("refusal-is-everybodys", "a call that the server refuses fails all that travelled with it",
		inventory.RejectedBy("S2/calls-sent-again", "assertion S2.again")),
	inventory.Reason(inventory.LaneSim, "an edge package: a server is another process; the simulated engine stands for it"),
	inventory.Reason(inventory.LaneExhaustive, "as for the simulated lane"),
	inventory.Reason(inventory.LaneDeadlock, "a transaction is one statement, and takes its rows in one order"),
	inventory.Reason(inventory.LaneSpec, "the specifications describe the store's contract, not its engine"),
)
