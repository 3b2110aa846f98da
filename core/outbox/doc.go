// Package outbox sends what flows emit.
//
// Owner L11 ([Sender]). An emission is a row that the commit of a step wrote; it leaves the node only
// after that commit is durable, and its row goes only after the receiver acknowledged it. Between the
// two it may be sent more than once, under the same id each time.
package outbox
