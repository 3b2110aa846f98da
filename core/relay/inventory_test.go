package relay_test

import (
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("C6", "relay fan-out", (*relay.Queue[int])(nil),
	inventory.Sim("C6/every-consumer-gets-every-batch-in-order", "C6/shares-equal-the-snapshot", "C6/removal-stops-nobody",
		"C6/freed-room-wakes-a-waiter", "C6/shrinking-discards-nothing",
		"C6/growing-lets-all-in", "C6/consumer-that-gave-up-refuses"),
	inventory.Exhaustive("C6/full-queue", "C6/empty-queue", "C6/publish-or-remove"),
	inventory.Model("C6/queue-model", "C6/fan-out-model"),
	inventory.Linear("C6/histories", "C6/real-histories"),
	inventory.Spec("C6/trace-of-freed-room", "C6/trace-of-shrinking", "C6/trace-of-removal", "C6/trace-of-snapshots",
		"C6/trace-of-patience"),
	inventory.Mutant("read-room-first", "a producer reads the room before it raises waiting",
		inventory.RejectedBy("C6/full-queue", "deadlock q room"),
		inventory.RejectedBy("C6/freed-room-wakes-a-waiter", "deadlock q ready"),
		inventory.RejectedBy("C6/trace-of-freed-room", "mismatch Relay.ReadCapacity")),
	inventory.Mutant("read-waiting-first", "the consumer reads waiting before it frees the room",
		inventory.RejectedBy("C6/full-queue", "deadlock q room"),
		inventory.RejectedBy("C6/trace-of-freed-room", "mismatch Relay.ReadWaiting")),
	inventory.Mutant("read-list-first", "the consumer reads the list before it raises idle",
		inventory.RejectedBy("C6/empty-queue", "deadlock q ready")),
	inventory.Mutant("count-from-second-snapshot", "shares are counted in a second snapshot of the consumers",
		inventory.RejectedBy("C6/shares-equal-the-snapshot", "invariant C6.I4")),
	inventory.Mutant("acknowledge-removed", "the share of a consumer that was removed is acknowledged",
		inventory.RejectedBy("C6/removal-stops-nobody", "assertion C6.I5"),
		inventory.RejectedBy("C6/publish-or-remove", "assertion C6.I5")),
	inventory.Mutant("shrink-discards", "shrinking takes queued items out",
		inventory.RejectedBy("C6/shrinking-discards-nothing", "race q head")),
	inventory.Mutant("grow-wakes-one", "a capacity that grows wakes one producer",
		inventory.RejectedBy("C6/growing-lets-all-in", "deadlock q room")),
	inventory.Mutant("giving-up-detaches", "a consumer that gives up is taken off its relay, as if it had been removed",
		inventory.RejectedBy("C6/consumer-that-gave-up-refuses", "assertion C6.I6"),
		inventory.RejectedBy("E2/nobody-is-left-waiting", "assertion E2.once")),
	inventory.Reason(inventory.LaneDeadlock, "the two waits of a queue form no cycle among queues: the simulated checks explore both, the lanes that chain them have their own workload"),
)
