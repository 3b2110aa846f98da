package sink_test

import (
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("G6", "sink payload", (*sink.Payload)(nil),
	inventory.Sim("G6/teardown-is-no-delivery", "G6/late-answer-counts-for-nothing",
		"G6/crash-keeps-what-was-acknowledged", "G6/point-fails-honestly"),
	inventory.Model("G6/model"),
	inventory.Mutant("resolve-on-teardown", "teardown acknowledges the delivery",
		inventory.RejectedBy("G6/teardown-is-no-delivery", "assertion G6.I3")),
	inventory.Mutant("stale-answer", "an answer to an older attempt resolves the row",
		inventory.RejectedBy("G6/late-answer-counts-for-nothing", "assertion G6.I1")),
	inventory.Mutant("reject-resolves", "a rejected row counts as resolved",
		inventory.RejectedBy("G6/late-answer-counts-for-nothing", "assertion G6.I1")),
	inventory.Mutant("row-load-store", "a row is resolved by a load and a store",
		inventory.RejectedBy("G6/late-answer-counts-for-nothing", "assertion G6.I1")),
	inventory.Mutant("lower-before-mark", "the count is lowered before the row is marked",
		inventory.RejectedBy("G6/teardown-is-no-delivery", "invariant G6.I1")),
	inventory.Mutant("acknowledge-before-commit", "units are settled before they are committed",
		inventory.RejectedBy("G6/crash-keeps-what-was-acknowledged", "assertion G6.I4")),
	inventory.Mutant("skip-truncate", "what stands behind the committed length stays in the file",
		inventory.RejectedBy("G6/crash-keeps-what-was-acknowledged", "assertion G6.I4")),
	inventory.Mutant("sync-first-file", "only the first file of a group is synced",
		inventory.RejectedBy("G6/point-fails-honestly", "assertion G6.I4")),
	inventory.Mutant("skip-fsync", "the commit does not wait for the data",
		inventory.RejectedBy("G6/crash-keeps-what-was-acknowledged", "assertion G6.I4")),
	inventory.Mutant("commit-before-write", "the lengths are committed before the data is written",
		inventory.RejectedBy("G6/crash-keeps-what-was-acknowledged", "assertion G6.I4")),
	inventory.Mutant("adopt-after-write", "a new file is written to before its length is known",
		inventory.RejectedBy("G6/crash-keeps-what-was-acknowledged", "assertion G6.I4")),
	inventory.Mutant("unknown-is-failure", "a commit with an unknown outcome is treated as refused",
		inventory.RejectedBy("G6/point-fails-honestly", "assertion G6.I5")),
	inventory.Mutant("keep-refused-data", "the data of a refused unit stays in the file",
		inventory.RejectedBy("G6/point-fails-honestly", "assertion G6.I5")),
	inventory.Mutant("undo-first-file", "a refused group is cut from its first file only",
		inventory.RejectedBy("G6/point-fails-honestly", "assertion G6.I5")),
	inventory.Reason(inventory.LaneExhaustive, "the catalogue asks for none; a payload's words are single compare-and-swaps, and the point is one task"),
	inventory.Reason(inventory.LaneLinear, "the catalogue asks for none: G6/model has every order of answers, and G6/late-answer-counts-for-nothing their races"),
	inventory.Reason(inventory.LaneDeadlock, "neither takes a lock: a payload never waits, and nothing that the point waits for waits for the point"),
	inventory.Reason(inventory.LaneSpec, "the catalogue asks for none"),
)
