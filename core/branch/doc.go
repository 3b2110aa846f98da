// Package branch runs what belongs to one group (a tenant, a device) apart from every other group.
//
// A [Table] has one lane for each branch that is alive: a queue of work and the state that the work changes, its
// runtime. Branches are created by key, end when they were idle for a time, and are bounded in number. A
// [Deduplicator] is a processor on such lanes: the runtime of a branch is its [Keyspace].
//
// Owners here: E1, the branch lane, in lane.go and table.go; E2, the deduplicator's keyspace, in keyspace.go. The
// lane makes the keyspace single-task, so the keyspace has no synchronization of its own but for what observers
// read.
package branch
