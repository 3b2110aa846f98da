// Package relay carries batches from whoever publishes them to every consumer that is attached.
//
// A [Relay] hands each [Batch] to all consumers of the moment, each with a share of the attempt's acknowledgement
// tree. Every [Consumer] has a bounded [Queue] of its own, so a slow consumer holds up publishers and nobody else,
// and the order in which batches were published is the order in which each consumer gets them.
//
// Owner here: C6, the fan-out: the relay's list of consumers and the queues behind it. The queue is also how a
// branch lane gets its work (package branch) and how units reach a commit point (package sink).
package relay
