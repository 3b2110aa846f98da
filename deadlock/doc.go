// Package deadlock runs code that is written against core/sched on real goroutines and watches who waits for whom.
//
// Its monitor is a backend that grants nothing and orders nothing: each operation is announced, checked, and then performed by the real
// primitive. What it reports does not need the program to hang:
//
//   - order: two or more locks that are taken in orders which form a cycle, whoever took them and whenever;
//   - double, recursive: a lock taken again by the task that holds it;
//   - held: a mutex held over a wait for anything but another mutex;
//   - unlock: a lock freed by a task that does not hold it;
//   - cycle: tasks that wait for each other, at the moment the last of them begins to wait;
//   - stuck: everybody waits, no timer is armed, and nothing that is waited for can come.
//
// A verdict is "deadlock order A,B" and its like, with the names of the primitives. Beside them stand "deadlock bound order" (so many
// locks are taken that the search for a cycle was given up: nothing is known), "deadlock second order" and "deadlock second recursive"
// (go-deadlock says so), and "steps patience" (an execution neither ended nor was found to be dead within the patience of [Workload]).
//
// The first four hold for the code whatever the timing was. A cycle is followed through what has holders: mutexes, read-write
// locks, semaphores of size one, a running Once, and scopes that are joined. Who will send, signal or count down is not known
// before it happens, so a wait for a channel, condition, Notify, Watch, WriteOnce, wait group or larger semaphore is decided when
// nobody else can go on. A task of another library that calls a primitive keeps it undecided; then the patience of [Workload] is
// the bound.
//
// In every second execution the locks of sasha-s/go-deadlock stand in for each mutex, as an opinion of its own.
//
// Real time, real timers, real threads: an execution is not repeated by its seed, which draws only where tasks give way to
// others. The schedules that matter are the simulator's business; this package watches the types that production runs where production
// runs them.
package deadlock
