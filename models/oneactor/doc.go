// Package oneactor is the reference of L14: a plain engine for flows that is one actor. It takes one delivery after the other,
// runs each to its end in memory and tells what it did as lines of text: outcomes, commits and acknowledgements, in their order.
// A production engine with one lane must tell the same, byte for byte.
//
// It was written from the documents that say what flows mean and shares no code with the engine that it judges: its own reading
// of BPMN, its own expressions, its own state. It is not fast, keeps everything, and knows nothing of lanes, claims, epochs,
// stores or crashes. Time is a number of seconds that only a delivery moves.
//
// Executed are: none start and none, terminate and error end events; plain, script, user, receive and service tasks (external
// ones); exclusive, parallel and event-based gateways; message and timer catch events; boundary events for errors, timers and
// messages, interrupting or not; embedded subprocesses and call activities; mappings of variables. Everything else is refused
// when it is read. Expressions have the numbers, texts, truth values, null and operators that generated programs use.
//
// Bounds: a file has at most 1 MiB and nests 64 levels, an expression nests 32; a step visits 1,000 elements, scopes nest 64
// levels, a delivery makes at most 10,000 steps, an engine holds 1,000 instances. What reaches a bound inside a flow is an incident, outside
// it is an error.
package oneactor
