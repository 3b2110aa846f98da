// Package trace checks the events of a running program against a TLA+ specification, in process and while the program
// runs: each event names an action and its arguments, and comes with the values of those variables that the program
// can show. It is illegal when no state that is consistent with the events before allows the action with these values.
//
// Variables that the program does not show are hidden: a [Run] keeps the set of all states that are consistent with
// what was seen. The explanation of an illegal event names the action, the first conjunct that fails with the values
// of both sides, and the state before.
//
// A binding (a package tla/<protocol>) maps the events and the state of an owner to actions and values.
package trace
