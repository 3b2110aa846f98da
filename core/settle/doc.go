// Package settle holds deliveries that are answered when their instance has ended.
//
// Owner here: L5 [Registry], the deferred settlements of one node. What it holds are connections, so it is memory and dies with the
// node; what it answers is durable state, so nothing is lost with it: a redelivery is answered from there.
package settle
