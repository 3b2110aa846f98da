// Package lane holds the execution lanes: loops that run one request at a time, and the routing that
// decides which loop a request meets.
//
// Owners and how they meet:
//
//   - L1 [Lane] is one loop. It takes a request from its queue, prepares it, drives its one store
//     transaction until that is decided, replies, and only then takes the next.
//   - L2 [Router] names the lane of an instance by a stable hash, spreads arrivals round-robin, and
//     carries a request from its arrival lane to the owner lane of the instance it resolved to, at
//     most once, in the task of whoever brought the request.
//   - L15 [Handoff] is a resolved delivery on that one hop: it carries what the arrival lane decoded,
//     validated and resolved, and refuses to have any of it done again.
//
// A lane knows nothing about flows or stores: what a request means is the business of the function it
// is given (package engine). Affinity is all that routing buys; what makes a wrong landing harmless is
// the claim (package claim).
package lane
