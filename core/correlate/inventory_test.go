package correlate_test

import (
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L8", "correlation", (*correlate.Correlator)(nil),
	inventory.Sim("L8/message-resumes-its-own-wait", "L8/re-parked-wait-is-not-missed",
		"L8/absence-is-durable-before-it-is-answered", "L8/failed-read-answers-nothing"),
	inventory.Model("L8/model"),
	inventory.Spec("L8/trace-of-moved-instances", "L8/trace-of-a-re-parked-wait",
		"L8/sequences-of-the-specification"),
	inventory.Mutant("no-revalidation", "the resolved instance is resumed wherever it waits now",
		inventory.RejectedBy("L8/message-resumes-its-own-wait", "assertion L8.I2"),
		inventory.RejectedBy("L8/trace-of-a-re-parked-wait", "mismatch Correlate.LandCommit")),
	inventory.Mutant("before-the-claim", "alias row and wait are validated before the claim is taken",
		inventory.RejectedBy("L8/message-resumes-its-own-wait", "assertion L8.I2")),
	inventory.Mutant("instance-only", "the alias must name the instance, but not its wait and channel",
		inventory.RejectedBy("L8/message-resumes-its-own-wait", "assertion L8.I2"),
		inventory.RejectedBy("L8/trace-of-moved-instances", "mismatch Correlate.LandCommit"),
		inventory.RejectedBy("L8/model", "assertion L8.model")),
	inventory.Mutant("miss-is-permanent", "a miss under the claim is answered for good",
		inventory.RejectedBy("L8/re-parked-wait-is-not-missed", "assertion L8.I3")),
	inventory.Mutant("absence-not-durable", "nothing waits is answered before that read is durable",
		inventory.RejectedBy("L8/absence-is-durable-before-it-is-answered", "assertion L8.durable")),
	inventory.Mutant("guard-error-keeps-hold", "an entry that a failed read ends keeps its claim",
		inventory.RejectedBy("L8/failed-read-answers-nothing", "assertion L8.held")),
	inventory.Mutant("failed-sync-is-durable", "nothing waits is answered although the store failed to tell that this is durable",
		inventory.RejectedBy("L8/failed-read-answers-nothing", "assertion L8.answer")),
	inventory.Mutant("read-error-is-miss", "a read that failed is answered as if nothing waited",
		inventory.RejectedBy("L8/failed-read-answers-nothing", "assertion L8.answer")),
	inventory.Reason(inventory.LaneExhaustive, "the catalogue asks for none; the claim it rests on (L3) is searched exhaustively"),
	inventory.Reason(inventory.LaneLinear, "an entered wait is exclusive by its claim, whose histories P judges at L3"),
	inventory.Reason(inventory.LaneDeadlock, "it takes no lock and never waits for a claim"),
)
