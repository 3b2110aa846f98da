package pebble_test

import (
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// S1 is not one of the catalogue's owners: it is the embedded engine, which no simulation looks inside of.
var _ = inventory.Owner("S1", "embedded store engine", (*pebble.Engine)(nil),
	inventory.Model("S1/acknowledged-commits-survive", "S1/remembered-rows-are-the-rows"),
	inventory.Linear("S1/compare-and-write-is-one-step", "S1/a-ticket-covers-what-was-read",
		"S1/nothing-is-durable-before-its-sync", "S1/a-view-is-of-whole-commits"),
	inventory.Mutant("skip-the-fsync", "a durable commit is handed over without a sync",
		inventory.RejectedBy("S1/acknowledged-commits-survive", "assertion S1.durable")),
	inventory.Mutant("any-sync-covers", "a ticket counts as durable after any earlier sync",
		inventory.RejectedBy("S1/acknowledged-commits-survive", "assertion S1.durable")),
	inventory.Mutant("no-commit-section", "transactions compare and write beside each other",
		inventory.RejectedBy("S1/compare-and-write-is-one-step", "assertion S1.linear")),
	inventory.Mutant("ticket-before-snapshot", "a view's ticket is read before its snapshot is taken",
		inventory.RejectedBy("S1/a-ticket-covers-what-was-read", "assertion S1.P3")),
	inventory.Mutant("count-after-apply", "a commit is counted after it became visible",
		inventory.RejectedBy("S1/a-ticket-covers-what-was-read", "assertion S1.P3")),
	inventory.Mutant("durable-before-wait", "commits are said to be durable before the wait for their sync",
		inventory.RejectedBy("S1/nothing-is-durable-before-its-sync", "assertion S1.durable")),
	inventory.Mutant("old-rows-are-not-followed", "a commit brings up to date what was read lately only",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("deletes-are-not-followed", "a row that is remembered outlives its deletion",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("long-rows-stay", "a row that became too long to be remembered is remembered as it was",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("written-rows-stay-held", "a held row stands before what was written of it later",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("held-rows-are-not-listed", "a listing is of the database alone",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("refused-transaction-holds", "a transaction that fails holds its rows all the same",
		inventory.RejectedBy("S1/remembered-rows-are-the-rows", "assertion S1.P5")),
	inventory.Mutant("view-out-of-turn", "a view is taken while a commit has written and not held",
		inventory.RejectedBy("S1/a-view-is-of-whole-commits", "assertion S1.P6")),
	inventory.Mutant("commit-out-of-turn", "a commit writes and holds without the turn, so a view comes in between",
		inventory.RejectedBy("S1/a-view-is-of-whole-commits", "assertion S1.P6")),
	inventory.Reason(inventory.LaneSim, "an edge package: it calls a library that synchronizes internally; the simulated engine stands for it"),
	inventory.Reason(inventory.LaneExhaustive, "as for the simulated lane"),
	inventory.Reason(inventory.LaneDeadlock, "one section, one goroutine that waits for syncs, no lock held across either"),
	inventory.Reason(inventory.LaneSpec, "the specifications describe the store's contract, not its engine"),
)
