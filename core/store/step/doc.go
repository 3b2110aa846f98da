// Package step is the store's transaction, once for all engines, and the procedure that decides its outcome.
//
// Owner here: L6, the step transaction. It is two types. [Store] turns a [store.Step] into one atomic commit of
// an [Engine], an ordered key-value map; the simulated and the embedded engine run the same code, so
// that what the simulator explores is what production commits. [Committer] decides what became of a step
// whose outcome got lost; each lane has one.
package step
