// Package orders drives a real node with the package examples/orders and accounts for every record: it generates orders,
// sends them over HTTP, answers the approvals that some of them need, and then compares the node's files with what it sent, as
// multisets. `millrace demo` shows it once; `verify crash` repeats it over crashes.
//
// The account rests on the client's side alone: what it generated, and its own log, which it writes and syncs before it
// believes an answer. The node's files and counters are what is judged.
package orders
