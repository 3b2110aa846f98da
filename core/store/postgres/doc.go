// Package postgres is the store that several replicas of a node share: one schema of a PostgreSQL database.
//
// A step is one round trip: one statement calls one function, which asserts the claims, writes everything and is a transaction
// of its own. One function takes a list of steps, so a group of them (package group) costs hardly more than one; another one takes a step by
// itself, which is cheaper then. What is read, and the taking of claims, travels in pipelines: whatever waits when a connection is free goes
// in one round trip, and calls of one kind in one statement of it.
//
// What is relied on, and where:
//
//   - The claim of an instance is compared and set by one UPDATE of its row. Read committed suffices: an UPDATE that waited for
//     a row compares again with what it found there. Taking a claim never waits: a row that is locked counts as claimed.
//   - Check and write of a delivery are one step by the primary key of the inbox; of a correlation key, by a unique index
//     on open waits.
//   - A commit is visible when it is durable, because the server publishes it after its log is flushed. The one exception is
//     taking a claim, which is not worth a flush: a crash of the server takes it back, and then its holder cannot commit
//     under it. Tickets tell the two apart: 0 is durable, 1 is not known to be.
//   - An error that the server reports for a statement rolled it back. Everything else (a lost connection, a session that
//     was ended, no answer in time) leaves the outcome unknown, and package step decides it.
//
// The package is at the edge: it uses goroutines and locks of its own, and no simulation looks inside. Package storetest says
// what it must do.
package postgres
