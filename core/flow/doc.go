// Package flow is the step function of the execution plane: a pure, deterministic function from
// (definition, snapshot, input, now, handlers) to what the instance is next and what its step wants done.
//
// An instance is a set of tokens. A token is one visit of one element and has an id of its own. A step takes
// one input (a start, a message, a due timer, a completed task, a resolved incident), lets every token run
// until it waits or is stuck, and stops: that is the instance's next quiescent point, and the only state
// there is to keep ([Snapshot]). Nothing here waits, stores, sends, reads a clock or draws a number. The
// one thing a step does to the world is to call handlers of service tasks, and those are given to it.
//
// What a step cannot do is never lost: a handler that fails or panics, a gateway without a true flow, an
// expression that hits a bound, a correlation key that is null, a loop that does not end within the
// step's bound all leave the token where it is, with an [Incident] that says why. Resolve, usually with
// corrected variables, takes it up from there.
//
// There are no concurrency owners in this package: it is called by a lane that holds the instance's claim.
package flow
