package ack_test

import (
	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("A1", "acknowledgement tree", (*ack.Tree)(nil),
	inventory.Sim("A1/every-share-counts", "A1/share-resolves-once", "A1/late-attach-owns-nothing", "A1/drained-tree-is-answered",
		"A1/cause-is-known-once-settled"),
	inventory.Exhaustive("A1/two-resolutions", "A1/attach-or-complete"),
	inventory.Model("A1/model"),
	inventory.Linear("A1/histories", "A1/real-histories"),
	inventory.Spec("A1/trace-of-every-share", "A1/trace-of-one-share", "A1/trace-of-late-attach", "A1/trace-of-a-drain",
		"A1/trace-of-no-share",
		"A1/sequences-of-the-specification"),
	inventory.Mutant("resolve-load-store", "a share is taken off by a load and a store",
		inventory.RejectedBy("A1/two-resolutions", "invariant A1.I1"),
		inventory.RejectedBy("A1/trace-of-every-share", "mismatch Ack.Lower")),
	inventory.Mutant("share-load-store", "a share is resolved by a load and a store",
		inventory.RejectedBy("A1/share-resolves-once", "assertion A1.once"),
		inventory.RejectedBy("A1/trace-of-one-share", "mismatch Ack.Take")),
	inventory.Mutant("lower-active-first", "active is lowered before pending",
		inventory.RejectedBy("A1/every-share-counts", "invariant A1.I1"),
		inventory.RejectedBy("A1/drained-tree-is-answered", "invariant A1.I1"),
		inventory.RejectedBy("A1/trace-of-every-share", "mismatch Ack.Retire")),
	inventory.Mutant("attach-after-completion", "a completed tree still gives shares out",
		inventory.RejectedBy("A1/late-attach-owns-nothing", "invariant A1.I3"),
		inventory.RejectedBy("A1/attach-or-complete", "invariant A1.I3"),
		inventory.RejectedBy("A1/trace-of-late-attach", "mismatch Ack.Reserve"),
		inventory.RejectedBy("A1/model", "assertion A1.model")),
	inventory.Mutant("notify-under-guard", "the receiver is notified before the guard is left",
		inventory.RejectedBy("A1/every-share-counts", "assertion A1.I5"),
		inventory.RejectedBy("A1/trace-of-every-share", "mismatch Ack.Notify")),
	inventory.Mutant("cause-while-settling", "the cause is read while the winner still writes it",
		inventory.RejectedBy("A1/cause-is-known-once-settled", "race ack cause")),
	inventory.Reason(inventory.LaneDeadlock, "the tree never waits and takes no lock, so it is in no wait cycle"),
)
