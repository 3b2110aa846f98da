// Package check explores the states of a specification: breadth first on all cores, depth first, or
// by random simulation. It checks assumptions, invariants, deadlock, properties of steps, refinement
// and liveness under weak and strong fairness, and explains a violation with a shortest trace.
//
// A state is identified by a 64-bit fingerprint; Result.Collision estimates the probability that two
// states of the run shared one. The search advances level by level, so that distinct states, depth
// and the length of a counterexample do not depend on the number of workers.
package check
