package timer_test

import (
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ = inventory.Owner("L10", "timers", (*timer.Timers)(nil),
	inventory.Sim("L10/due-timer-fires-once", "L10/overdue-fires-after-restart", "L10/busy-lane-delays-its-own-timers-only",
		"L10/armed-timer-is-noticed", "L10/refusals-back-off", "L10/timer-of-a-flow-fires-once-through-power-cuts",
		"L10/boundary-or-completion-through-power-cuts"),
	inventory.Model("L10/model"),
	inventory.Spec("L10/trace-of-refused-timers", "L10/trace-of-a-restart"),
	inventory.Mutant("remove-before-commit", "a timer counts as fired when it is offered, not when its step committed",
		inventory.RejectedBy("L10/trace-of-refused-timers", "mismatch Timer.Fired")),
	inventory.Mutant("skip-overdue", "timers that were due before the start are skipped",
		inventory.RejectedBy("L10/overdue-fires-after-restart", "assertion L10.once"),
		inventory.RejectedBy("L10/timer-of-a-flow-fires-once-through-power-cuts", "assertion L10.once")),
	inventory.Mutant("scan-then-announce", "a look reads the rows before it announces that it looks",
		inventory.RejectedBy("L10/armed-timer-is-noticed", "assertion L10.once")),
	inventory.Mutant("backoff-until-poll", "a refused timer waits for the next look instead of its backoff",
		inventory.RejectedBy("L10/refusals-back-off", "assertion L10.backoff")),
	inventory.Mutant("forget-refusals", "a look forgets the timers that wait for their backoff",
		inventory.RejectedBy("L10/refusals-back-off", "assertion L10.backoff")),
	inventory.Mutant("forget-without-room", "a timer that finds no room starts with the first backoff again",
		inventory.RejectedBy("L10/refusals-back-off", "assertion L10.backoff")),
	inventory.Reason(inventory.LaneExhaustive, "its tasks poll and time out, so its schedules have no end to search to"),
	inventory.Reason(inventory.LaneLinear, "no operation returns what it read"),
	inventory.Reason(inventory.LaneDeadlock, "it takes no lock, and each of its waits ends with its scope"),
)
