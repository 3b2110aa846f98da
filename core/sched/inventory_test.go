package sched_test

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var (
	_ = inventory.Planted("planted/i3-read-then-register", "a waiter of a Notify reads before it registers")
	_ = inventory.Planted("planted/i3-read-then-subscribe", "a watcher reads before it subscribes")
	_ = inventory.Planted("planted/i3-read-then-lock", "a waiter of a Cond reads before it locks")
	_ = inventory.Planted("planted/i3-one-for-two", "one signal for two waiters")
)

var _ = inventory.Owner("I3", "scheduler primitives", (*sched.Notify)(nil),
	inventory.Sim("I3/notify-accounts-for-permits", "I3/semaphore-accounts-for-units"),
	inventory.Exhaustive(
		"I3/register-read-wait", "I3/one-stores-one-permit", "I3/all-stores-nothing", "I3/dropped-waiter-passes-on",
		"I3/ended-waiter-passes-on", "I3/watch-shows-the-last-version", "I3/subscribe-marks-the-current-version",
		"I3/cond-waits-before-it-unlocks", "I3/broadcast-wakes-all", "I3/once-returns-after-it-ran",
		"I3/write-once-wakes-every-waiter", "I3/semaphore-keeps-its-units", "I3/semaphore-is-not-overtaken",
		"I3/scope-ends-with-everything-below", "I3/join-counts-every-scope-below", "I3/update-loses-nothing",
		"I3/channels-order-memory", "I3/room-orders-memory", "I3/locks-order-memory", "I3/groups-and-scopes-order-memory",
		"I3/an-ended-wait-orders-memory", "I3/atomics-order-memory", "I3/stopped-timer-leaves-nothing", "I3/ticker-goes-on"),
	inventory.Deadlock("I3/scripts-are-silent-when-watched"),
	inventory.Mutant("one-stores-no-permit", "a signal without a waiter is lost",
		inventory.RejectedBy("I3/dropped-waiter-passes-on", "deadlock note")),
	inventory.Mutant("dropped-permit-is-lost", "a chosen waiter that is dropped keeps its permit",
		inventory.RejectedBy("I3/dropped-waiter-passes-on", "deadlock note"),
		inventory.RejectedBy("I3/notify-accounts-for-permits", "assertion I3.account")),
	inventory.Mutant("ended-wait-keeps-its-permit", "a chosen waiter whose scope ends keeps its permit",
		inventory.RejectedBy("I3/ended-waiter-passes-on", "deadlock note")),
	inventory.Mutant("all-stores-a-permit", "waking everybody leaves a permit behind",
		inventory.RejectedBy("I3/all-stores-nothing", "assertion I3.permit")),
	inventory.Mutant("all-wakes-one", "waking everybody wakes the first",
		inventory.RejectedBy("I3/register-read-wait", "deadlock changed")),
	inventory.Mutant("permit-is-not-consumed", "a stored permit stays after it was taken",
		inventory.RejectedBy("I3/one-stores-one-permit", "assertion I3.permit")),
	inventory.Mutant("subscribe-marks-nothing", "the version at the subscription counts as unseen",
		inventory.RejectedBy("I3/subscribe-marks-the-current-version", "assertion I3.subscribe")),
	inventory.Mutant("watch-registers-after-reading", "a watcher compares the version, then registers",
		inventory.RejectedBy("I3/watch-shows-the-last-version", "deadlock x")),
	inventory.Mutant("set-wakes-one-watcher", "a new version wakes the first watcher",
		inventory.RejectedBy("I3/watch-shows-the-last-version", "deadlock x")),
	inventory.Mutant("change-is-not-marked-as-seen", "a change is shown again and again",
		inventory.RejectedBy("I3/subscribe-marks-the-current-version", "assertion I3.subscribe")),
	inventory.Mutant("cond-unlocks-before-it-waits", "the mutex is freed before the waiter is queued",
		inventory.RejectedBy("I3/cond-waits-before-it-unlocks", "deadlock c")),
	inventory.Mutant("broadcast-wakes-one", "a broadcast wakes the first waiter",
		inventory.RejectedBy("I3/broadcast-wakes-all", "deadlock c")),
	inventory.Mutant("once-does-not-wait", "a second caller returns while the first still runs",
		inventory.RejectedBy("I3/once-returns-after-it-ran", "race what")),
	inventory.Mutant("once-wakes-nobody", "the first caller forgets those who wait for it",
		inventory.RejectedBy("I3/once-returns-after-it-ran", "deadlock once")),
	inventory.Mutant("write-once-registers-after-reading", "a waiter finds no value, then registers",
		inventory.RejectedBy("I3/write-once-wakes-every-waiter", "deadlock value")),
	inventory.Mutant("write-once-wakes-nobody", "a set value wakes nobody",
		inventory.RejectedBy("I3/write-once-wakes-every-waiter", "deadlock value")),
	inventory.Mutant("write-once-is-overwritten", "a second set replaces the value",
		inventory.RejectedBy("I3/write-once-wakes-every-waiter", "assertion I3.write-once")),
	inventory.Mutant("ended-acquire-keeps-its-units", "units granted to a wait that ends are lost",
		inventory.RejectedBy("I3/semaphore-keeps-its-units", "assertion I3.units")),
	inventory.Mutant("semaphore-is-overtaken", "a small request passes a large one that waits",
		inventory.RejectedBy("I3/semaphore-is-not-overtaken", "assertion I3.fifo")),
	inventory.Mutant("release-grants-nobody", "units that come back wake nobody",
		inventory.RejectedBy("I3/semaphore-is-not-overtaken", "deadlock units")),
	inventory.Mutant("late-child-stays-open", "a child of an ended scope is open",
		inventory.RejectedBy("I3/scope-ends-with-everything-below", "assertion I3.scope")),
	inventory.Mutant("end-stops-at-the-scope", "the end of a scope leaves those below open",
		inventory.RejectedBy("I3/scope-ends-with-everything-below", "assertion I3.scope")),
	inventory.Mutant("task-counts-in-its-scope-alone", "a join does not wait for tasks of scopes below",
		inventory.RejectedBy("I3/join-counts-every-scope-below", "race what")),
	inventory.Mutant("stop-leaves-the-value", "a stopped timer still delivers what it had sent",
		inventory.RejectedBy("I3/stopped-timer-leaves-nothing", "deadlock t")),
	inventory.Mutant("ticker-ticks-once", "a ticker is not armed again",
		inventory.RejectedBy("I3/ticker-goes-on", "deadlock t")),
	inventory.Mutant("update-does-not-compare", "an update overwrites what was published in between",
		inventory.RejectedBy("I3/update-loses-nothing", "assertion I3.update")),
	inventory.Reason(inventory.LaneModel, "package conform runs each primitive on the real runtime, which is its model"),
	inventory.Reason(inventory.LaneLinear, "a primitive is its real counterpart behind one branch; the histories of its users are judged"),
	inventory.Reason(inventory.LaneSpec, "a primitive is specified by its conformance script, which the real runtime is held to as well"),
)
