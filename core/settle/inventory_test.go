package settle_test

import (
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L5", "deferred settlement registry", (*settle.Registry)(nil),
	inventory.Sim("L5/settled-once-whatever-races", "L5/end-elsewhere-is-found", "L5/full-of-pending-refuses", "L5/timeout-against-end",
		"L5/nobody-is-answered-inside-the-commit", "L5/full-registry-refuses-before-the-commit"),
	inventory.Exhaustive("L5/arm-against-end", "L5/duplicate-against-end", "L5/failed-commit-leaves-nothing"),
	inventory.Model("L5/registry-against-model"),
	inventory.Spec("L5/trace-of-races", "L5/trace-of-a-full-registry", "L5/sequences-of-the-specification"),
	inventory.Deadlock("L5/guard-is-held-over-no-wait"),
	inventory.Mutant("counts-under-its-guard", "a stop counts what is left while it holds the guard, which the count takes too",
		inventory.RejectedBy("L5/guard-is-held-over-no-wait", "deadlock double settle/guard")),
	inventory.Mutant("two-guards-two-orders", "the number of entries has a guard of its own, which the count takes first and everybody else second",
		inventory.RejectedBy("L5/guard-is-held-over-no-wait", "deadlock order settle/guard,settle/size")),
	inventory.Mutant("waits-under-its-guard", "a full registry gives its oldest entry a moment while it holds the guard",
		inventory.RejectedBy("L5/guard-is-held-over-no-wait", "deadlock held settle/guard")),
	inventory.Mutant("register-after-commit", "a delivery is registered when its step has committed",
		inventory.RejectedBy("L5/arm-against-end", "assertion L5.missed"),
		inventory.RejectedBy("L5/trace-of-races", "mismatch Settle.Arm")),
	inventory.Mutant("no-deregister", "a failed commit leaves its entry",
		inventory.RejectedBy("L5/failed-commit-leaves-nothing", "assertion L5.left")),
	inventory.Mutant("both-settle", "a timeout settles an entry that the end has taken",
		inventory.RejectedBy("L5/timeout-against-end", "invariant L5.I1")),
	inventory.Mutant("timeout-beside-the-registry", "a timeout answers without taking the entry",
		inventory.RejectedBy("L5/settled-once-whatever-races", "assertion L5.left")),
	inventory.Mutant("evict-pending", "the oldest entry is evicted, whatever is known of its commit",
		inventory.RejectedBy("L5/full-of-pending-refuses", "invariant L5.I2"),
		inventory.RejectedBy("L5/trace-of-a-full-registry", "mismatch Settle.Evict")),
	inventory.Mutant("duplicate-reads-first", "a duplicate reads the terminal state, then registers",
		inventory.RejectedBy("L5/duplicate-against-end", "assertion L5.missed")),
	inventory.Mutant("duplicate-is-completed", "a duplicate is answered as completed because its inbox key exists",
		inventory.RejectedBy("L5/duplicate-against-end", "assertion L5.I5")),
	inventory.Mutant("arm-forgets-the-end", "an end that came while an entry was pending is lost",
		inventory.RejectedBy("L5/arm-against-end", "assertion L5.missed"),
		inventory.RejectedBy("L5/registry-against-model", "assertion L5.model")),
	inventory.Mutant("no-comparison", "only a notification settles, durable state is never looked at",
		inventory.RejectedBy("L5/end-elsewhere-is-found", "assertion error")),
	inventory.Reason(inventory.LaneLinear, "an entry is judged against the model; what races for it is searched exhaustively"),
)
