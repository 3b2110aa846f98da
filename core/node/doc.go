// Package node assembles a running node from a package: it opens the store, makes the owners of both planes, joins them by
// relays and channels, and serves HTTP.
//
// It holds no owner. What it decides is order: at start the store before the flows, the flows before the record plane, and
// everything before the port; at the end the other way round. The store's first failed write or sync ends the node: it
// acknowledges nothing more and Wait returns an error that wraps store.ErrHalted or sink.ErrFenced.
//
//	sources ─▶ relays ─▶ processors ─▶ sinks ─▶ commit point ─▶ store
//	              │                                               ▲
//	              └─▶ channels ─▶ flow engine ─▶ lanes ───────────┤
//	                                                  outbox ─▶ relays
package node
