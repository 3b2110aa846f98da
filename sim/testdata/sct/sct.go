// Package sct holds the 23 classic programs of the CS, CB and Inspect families of SCTBench (Thomson, Donaldson, Betts 2014),
// written anew on core/sched as the builds that PERIOD's benchmark set gave to the published comparison of Zhao et al.
// (ASPLOS 2025): with its thread counts and its order of creating and joining. One of them, bbuf, has no bug that anybody found.
//
// What counts as a step decides how hard a bug is for a random walk. The published harness schedules before every operation
// of the thread library, before and after it creates a thread, when a thread exits, and before every memory access of
// unoptimized code whose base is not the stack pointer, locals included. So here too: shared memory is an atomic, and an access to
// a local is a scheduling point without an object. How many there are between two shared accesses was counted in the originals,
// compiled without optimization, and is no parameter that was fitted. The published builds are by clang 10, whose unoptimized code also
// stores each result of a call that nobody looks at (machine.start, mutex.release); newer versions, with which the rest was counted, do not.
// Two things are left out: what the library functions do that the programs call, because the harness does not see it either, and what main
// does while it is the only thread.
//
// Without the locals threads would start nearly together, and the walk would find in three schedules what takes it
// hundreds; without main's loop of joins, the first threads would have the most left to do and not main, which is what makes a
// uniform walk hold them back.
package sct

import "github.com/millrace-dev/millrace/sim"

// Program is one program.
type Program struct {
	Name string
	Body func(w *sim.World)
}

// Programs returns all of them, in the order in which they were published.
func Programs() []Program {
	return []Program{
		{"CS/twostage", twoStage(1, 1)},
		{"CS/twostage_20", twoStage(10, 10)},
		{"CS/twostage_50", twoStage(40, 10)},
		{"CS/twostage_100", twoStage(99, 1)},
		{"CS/reorder_3", reorder(2, 1)},
		{"CS/reorder_4", reorder(3, 1)},
		{"CS/reorder_5", reorder(4, 1)},
		{"CS/reorder_10", reorder(9, 1)},
		{"CS/reorder_20", reorder(10, 10)},
		{"CS/reorder_50", reorder(40, 10)},
		{"CS/reorder_100", reorder(99, 1)},
		{"CS/stack", stack},
		{"CS/token_ring", tokenRing},
		{"CS/lazy01", lazy},
		{"CS/deadlock01", deadlock},
		{"CS/bluetooth_driver", bluetooth},
		{"CS/account", account},
		{"CS/wronglock", wrongLock(7)},
		{"CS/wronglock_3", wrongLock(3)},
		{"CB/stringbuffer-jdk1.4", stringBuffer},
		{"Inspect_benchmarks/bbuf", bbuf},
		{"Inspect_benchmarks/boundedBuffer", boundedBuffer},
		{"Inspect_benchmarks/qsort_mt", quickSort},
	}
}
