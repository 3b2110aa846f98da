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
// The settlement of on-complete deliveries is thin here: a registry of those whose connection this node holds, with a
// capacity and a timeout; the owner L5 with its checks arrives with the whole execution plane. What it rests on is there
// already: a settlement is decided from durable terminal state, so a lost one is answered from there.
package engine
