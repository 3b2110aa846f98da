// Package sim explores the schedules of code that is written against core/sched.
//
// A World is one execution: its tasks, virtual clock, objects, choices and trace. Exactly one task runs at
// a time; at every scheduling point a strategy chooses which one goes on. The ordered choices are the schedule, and the
// same schedule gives the same trace. Worlds share nothing, so executions run in parallel on all cores.
//
// The parts, one file each:
//
//	check.go     Check, Exhaust and Planted: what tests call
//	run.go       executions spread over cores; results do not depend on how many
//	world.go     one execution from start to verdict
//	task.go      tasks on pooled coroutines
//	backend.go   core/sched's Backend: points, waits, outcomes
//	object.go    which operation on which object can be taken now
//	clock.go     virtual time and timers
//	race.go      happens-before by vector clocks, and data races on Cells; missing.go says what would have ordered them
//	batons_race.go   the build in which Go's race detector sees through hand-overs
//	tso.go       stores that reach memory late
//	own.go       owners, their invariants, and primitives made without a scheduler
//	eventually.go    what must come true in every fair schedule, and cycles in which it does not
//	node.go      crash and restart of a group of tasks
//	strategy.go  random.go pct.go pos.go surw.go rff.go portfolio.go search.go replay.go    one strategy each
//	searchrun.go footprint.go races.go    searches, with or without a bound; what a step touched; which orders matter
//	fault.go     faults as choices; pause and clock jump of a node. Package network has the network's.
//	trace.go folder.go verdict.go    what a failure leaves behind
//	watchdog.go  real blocking
package sim
