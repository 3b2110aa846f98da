// Package engine is the execution plane of one node: it takes deliveries, runs the steps of flows on lanes, fires timers,
// sends what flows emit, and answers.
//
// It puts the owners together and has one rule of its own, the order in which a step goes through them:
//
//	decode → resolve (L8) ─hop at most once (L2, L15)─▶ claim (L3) → load → guards (L8) → pin → step (package flow)
//	       → commit (L6, with the inbox key L7, waits, timers, outbox) → reply (L1)
//
// What is not a reply starts only after the commit: the timers (L10) and the sender of emissions (L11) read the store and
// are merely told that there is something to read.
//
// A delivery that is answered on completion is held by the registry of settlements (L5): register → commit → arm. It is settled
// from durable terminal state, so one that was lost is answered from there.
package engine
