// Package ack decides how one attempt of a source ends.
//
// A source that takes a batch in makes a [Tree]. Everybody whom the batch concerns holds a [Share] of it: the
// source while it dispatches, then one share for each consumer that was handed the batch, and whatever those hand
// on in turn. All shares must be acknowledged; one that fails fails the attempt, and the source sends again. The
// [Receiver] of the tree learns the [Outcome] once: it answers an HTTP request, moves a file position, settles a
// flow's outbox row.
//
// Owner here: A1, the tree. Nothing of it is persisted: after a crash the source sends again whatever was not
// answered.
package ack
