// Package bpmn reads BPMN 2.0 XML, as modelers write it, into an immutable model that an engine can walk.
//
// Load is the entry for a deployment: it parses, checks the structure, asks the engine which kinds of
// element it executes, and returns either a model without faults or every fault there is, in document
// order, each with file, line, column, element id and reason. Parse does the same without the engine's
// question; Definitions.Validate asks it alone.
//
// # The model
//
// Definitions holds the executable processes of one file. A Process holds its Nodes and Flows in document
// order; a node or flow is named by its index there, a small dense integer, so an engine can keep its
// state in slices and snapshots can hold numbers. Nodes of subprocesses are in the same slice: Node.Parent
// is the subprocess they stand in, Outside (-1) for the process itself, and Node.Children lists a
// subprocess's own nodes. Everything is resolved: events point at their Message, Error and Timer, boundary
// events at their activity and back, conditions and mappings are compiled FEEL. A model never changes
// after it was returned and may be shared by any number of tasks; callers must not write to its slices.
//
// To execute a process an engine needs:
//
//   - Process.Starts for what spawns an instance, Node.Start for what a subprocess begins with;
//   - Node.Outgoing in document order, Flow.Target, Flow.Condition and Node.Default at gateways;
//   - Node.Incoming to join; Node.Boundary to arm and Node.AttachedTo to interrupt;
//   - Node.Task, Message, Timer, Inputs and Outputs for what an element does and waits for.
//
// # What is honoured
//
// Kind lists every element the model knows; what an engine executes is its own decision, given to
// Validate. Elements of the standard that the model does not know at all get kind Unsupported and are
// always refused. Passive elements (collaborations, lanes, data objects, associations, annotations,
// groups, documentation, diagrams) are accepted and left out. Of the vendor extensions zeebe's
// taskDefinition, taskHeaders, ioMapping, subscription, calledElement, script, calledDecision,
// loopCharacteristics and the user task's definitions are honoured; any other gives a warning.
//
// # Bad input
//
// No input makes the package crash, hang or use unbounded memory. Document type declarations, and with
// them entities, are refused, as are encodings other than UTF-8, includes and imports. File size, nesting
// depth, the number of elements and the number of faults are bounded (MaxFile, MaxDepth, MaxElements,
// MaxFaults).
//
// The package is pure: no clock, no I/O, no state between calls, and equal input gives equal output,
// faults included.
package bpmn
