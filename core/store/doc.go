// Package store is the contract between the planes and whatever keeps their state.
//
// A step of a flow ends in exactly one atomic commit ([Step], owner L6): it asserts the claim (owner and epoch),
// releases it with the epoch raised, and writes the snapshot, the waits with their correlation keys and timers,
// the inbox key, the outbox rows and a record of the step itself. The record plane uses the same commits for its
// commit points: rows of a named [Store.Write] space.
//
// Three rules hold for every adapter, and the conformance suite in storetest checks them:
//
//   - An error is either definite, then nothing of the transaction happened or ever will, or it is
//     [ErrUnknown], then the transaction may have landed, may land later or never will. [Definite] tells which.
//   - A store may show a commit before it is durable. Every read therefore returns a [Ticket], and whatever
//     leaves the node because of that read leaves after [Store.WaitDurable] of the ticket returned nil.
//     "Not found" is such a read too.
//   - Rows are compared and written in one step: nothing changes a row between the assertion of a transaction and
//     its writes.
//
// Packages below: keyed implements the contract once, over an ordered key-value engine; memory is the
// simulated engine (latency, failure, unknown outcome, loss of unsynced commits); pebble is the embedded engine;
// step decides unknown outcomes (L6); storetest is the suite that every adapter passes.
package store
