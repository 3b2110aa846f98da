package bpmn

import (
	"slices"

	"github.com/millrace-dev/millrace/core/feel"
)

// Outside is the index that means "none": the parent of a node of the process itself, no default flow, an
// event attached to nothing, a subprocess without start.
const Outside = -1

// Definitions is one BPMN file.
type Definitions struct {
	File      string
	ID        string
	Name      string
	Processes []*Process // executable ones, in document order
	Messages  []*Message // all declared, in document order
	Errors    []*Error   // all declared, in document order
}

// Process returns the process with the id, or nil.
func (d *Definitions) Process(id string) *Process {
	return find(d.Processes, func(p *Process) bool { return p.ID == id })
}

// Message returns the declared message with the id (not the name), or nil.
func (d *Definitions) Message(id string) *Message {
	return find(d.Messages, func(m *Message) bool { return m.ID == id })
}

func find[T any](list []*T, match func(*T) bool) *T {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i]
	}
	return nil
}

// Process is one executable process.
type Process struct {
	ID, Name string
	Line     int
	Nodes    []*Node // Nodes[i].Index == i, in document order
	Flows    []*Flow // Flows[i].Index == i, in document order
	Starts   []int   // the start events of the process itself: at most one NoneStartEvent
	Children []int   // the nodes of the process itself, event subprocesses included
}

// NodeByID returns the node with the element id, or nil. It scans: an engine's steady work uses indexes.
func (p *Process) NodeByID(id string) *Node {
	return find(p.Nodes, func(n *Node) bool { return n.ID == id })
}

// ChildrenOf returns the nodes that stand directly in a scope: a subprocess, or Outside for the process.
func (p *Process) ChildrenOf(scope int) []int {
	if scope == Outside {
		return p.Children
	}
	return p.Nodes[scope].Children
}

// Flow is a sequence flow.
type Flow struct {
	Index          int
	ID, Name       string
	Line           int
	Source, Target int // nodes of one scope
	// Condition is set on the flows of exclusive and inclusive gateways that have one. The condition of a
	// default flow is not kept: it is never evaluated.
	Condition *feel.Expression
}

// Node is an event, activity or gateway.
type Node struct {
	Index    int
	ID, Name string
	Line     int // of the element's start tag
	Column   int
	Kind     Kind
	What     string // the element's name, for kind Unsupported

	Parent   int   // the scope the node stands in
	Incoming []int // flows, in document order of the flows
	Outgoing []int // flows, in document order of the flows
	Default  int   // the flow a gateway takes when no condition holds

	// Boundary events.
	AttachedTo int   // the activity of a boundary event
	Boundary   []int // the boundary events of an activity, in document order
	// Interrupting says, of a boundary event and of the start of an event subprocess, that it ends what
	// it interrupts.
	Interrupting bool

	// Scopes.
	Children []int // of a subprocess or event subprocess, in document order
	Start    int   // the start event a subprocess or event subprocess begins with

	Message  *Message    // of kinds that catch a message; of throwing kinds when one is named
	Timer    *Timer      // of kinds that have a timer
	Error    *Error      // of error events; nil in a boundary or start event that catches every error
	Task     *Job        // of tasks and throwing events that a handler executes
	Script   *Script     // of a script task with an expression of its own
	Decision *Decision   // of a business rule task with a decision
	Called   *Called     // of a call activity
	User     *Assignment // of a user task
	Loop     *Loop       // multi-instance marker
	Inputs   []Mapping   // run when the node is entered, in order
	Outputs  []Mapping   // run when the node is left, in order
}

// Message is a declared message.
type Message struct {
	ID   string
	Line int
	// Name is what deliveries are matched by; an expression is evaluated when the wait is entered.
	Name feel.Attribute
	// CorrelationKey is nil when none is declared. Every message that a node inside an instance waits for
	// has one; it is evaluated in the scope of the waiting node's parent.
	CorrelationKey *feel.Attribute
}

// Error is a declared error.
type Error struct {
	ID, Name, Code string
	Line           int
}

// Job is what a registered handler executes.
type Job struct {
	Type    feel.Attribute // the name of the handler
	Retries feel.Attribute // empty literal: the engine's default
	Headers []Header       // in document order
}

// Header returns the value of the header, and whether there is one.
func (j *Job) Header(key string) (string, bool) {
	for _, h := range j.Headers {
		if h.Key == key {
			return h.Value, true
		}
	}
	return "", false
}

// MaxRetries is the largest number of attempts that a task may declare.
const MaxRetries = 1000

// Header is a static value for a handler.
type Header struct {
	Key, Value   string
	Line, Column int // of its element's start tag
}

// Mapping copies a value into a variable.
type Mapping struct {
	Source feel.Attribute
	// Target is the variable's name, and, when longer, the path of entries inside it.
	Target []string
}

// Script is a FEEL expression whose value becomes a variable.
type Script struct {
	Expression     *feel.Expression
	ResultVariable string
}

// Decision names a decision whose result becomes a variable.
type Decision struct {
	ID             feel.Attribute
	ResultVariable string
}

// Called says which process a call activity starts.
type Called struct {
	ProcessID feel.Attribute
	// PropagateParent copies all variables into the called instance, PropagateChild all of its variables
	// back; both are on unless switched off.
	PropagateParent, PropagateChild bool
}

// Assignment is what a user task declares about who does it and when; empty literals are not set.
type Assignment struct {
	Assignee, CandidateGroups, CandidateUsers feel.Attribute
	DueDate, FollowUpDate, Priority           feel.Attribute
	Form                                      string
}

// Loop is a multi-instance marker.
type Loop struct {
	Line             int
	Sequential       bool
	InputCollection  *feel.Expression
	InputElement     string
	OutputCollection string
	OutputElement    *feel.Expression
	Completion       *feel.Expression
}
