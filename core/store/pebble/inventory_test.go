package pebble_test

import (
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// S1 is not one of the catalogue's owners: it is the embedded engine, which no simulation looks inside of.
var _ = inventory.Owner("S1", "embedded store engine", (*pebble.Engine)(nil),
	inventory.Model("S1/acknowledged-commits-survive"),
	inventory.Linear("S1/compare-and-write-is-one-step"),
	inventory.Mutant("skip-the-fsync", "a durable commit is handed over without a sync",
		inventory.RejectedBy("S1/acknowledged-commits-survive", "assertion S1.durable")),
	inventory.Mutant("any-sync-covers", "a ticket counts as durable after any earlier sync",
		inventory.RejectedBy("S1/acknowledged-commits-survive", "assertion S1.durable")),
	inventory.Mutant("no-commit-section", "transactions compare and write beside each other",
		inventory.RejectedBy("S1/compare-and-write-is-one-step", "assertion S1.linear")),
	inventory.Reason(inventory.LaneSim, "an edge package: it calls a library that synchronizes internally; the simulated engine stands for it"),
	inventory.Reason(inventory.LaneExhaustive, "as for the simulated lane"),
	inventory.Reason(inventory.LaneDeadlock, "one section, one goroutine that waits for syncs, no lock held across either"),
	inventory.Reason(inventory.LaneSpec, "the specifications describe the store's contract, not its engine"),
)
