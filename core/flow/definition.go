package flow

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/bpmn"
)

// EmitType is the task type of the built-in service task that emits. Its header EmitTarget names the relay or channel that
// receives the emission; its local variables, or without input mappings all variables, are the payload.
const (
	EmitType   = "emit"
	EmitTarget = "target"
)

// Executes reports the kinds of elements that this package executes. A deployment refuses all others.
func Executes(k bpmn.Kind) bool {
	switch k {
	case bpmn.Unsupported, bpmn.ErrorStartEvent, bpmn.InclusiveGateway, bpmn.EventSubprocess, bpmn.MultiInstance:
		return false
	default:
		return true
	}
}

// Definition is one process, ready to be stepped. It is immutable. Mutants L14.*
type Definition struct {
	process *bpmn.Process
	byID    map[string]int         // index in process.Nodes; only looked up
	called  map[string]*Definition // what call activities may start, by process id; only looked up
}

// ErrDefinition is wrapped by every fault of a definition that the BPMN reader cannot know.
var ErrDefinition = errors.New("flow definition")

// Fault is why a node cannot be executed.
type Fault struct {
	Node   *bpmn.Node
	Reason string
}

// Faults returns what is wrong with a process beyond what the BPMN reader knows, in document order.
func Faults(p *bpmn.Process) []Fault {
	var faults []Fault
	for _, n := range p.Nodes {
		if reason := fault(p, n); reason != "" {
			faults = append(faults, Fault{n, reason})
		}
	}
	return faults
}

// NewDefinition returns the definition of a process whose kinds Executes accepts. The error joins every fault. What its call
// activities may start is decided by Link; until then it is itself alone.
func NewDefinition(p *bpmn.Process) (*Definition, error) {
	d := &Definition{process: p, byID: make(map[string]int, len(p.Nodes))}
	d.called = map[string]*Definition{p.ID: d}
	var faults []error
	for _, n := range p.Nodes {
		d.byID[n.ID] = n.Index
	}
	for _, f := range Faults(p) {
		faults = append(faults, fmt.Errorf("%w: process %s, line %d, element %s: %s", ErrDefinition, p.ID, f.Node.Line, f.Node.ID, f.Reason))
	}
	if len(p.Starts) == 0 {
		faults = append(faults, fmt.Errorf("%w: process %s, line %d: there is no start event", ErrDefinition, p.ID, p.Line))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return d, nil
}

// Link returns copies of the definitions of one deployment whose call activities start each other. The error joins every call
// of a process that is not among them, or that has no none start event.
func Link(list []*Definition) ([]*Definition, error) {
	called := make(map[string]*Definition, len(list))
	linked := make([]*Definition, len(list))
	for i, d := range list {
		linked[i] = &Definition{process: d.process, byID: d.byID, called: called}
		called[d.ID()] = linked[i]
	}
	var faults []error
	for _, d := range linked {
		for _, n := range d.process.Nodes {
			if n.Called == nil || n.Called.ProcessID.Expression != nil {
				continue
			}
			if reason := d.calledFault(n.Called.ProcessID.Literal); reason != "" {
				faults = append(faults, fmt.Errorf("%w: process %s, line %d, element %s: %s", ErrDefinition, d.ID(), n.Line, n.ID, reason))
			}
		}
	}
	return linked, errors.Join(faults...)
}

// calledFault returns why the process cannot be called, or "".
func (d *Definition) calledFault(id string) string {
	switch to := d.called[id]; {
	case to == nil:
		return fmt.Sprintf("the deployment has no process %q to call", id)
	case !to.Starts(""):
		return fmt.Sprintf("the process %q has no none start event to be called by", id)
	}
	return ""
}

// fault returns what is wrong with a node, or "".
func fault(p *bpmn.Process, n *bpmn.Node) string {
	switch {
	case !Executes(n.Kind):
		return fmt.Sprintf("the %v is not executed", n.Kind)
	case n.Loop != nil:
		return fmt.Sprintf("the %v is not executed", bpmn.MultiInstance)
	case n.Kind == bpmn.MessageStartEvent && n.Message != nil && n.Message.Name.Expression != nil:
		return "the name of a message that starts the process must be a text: there are no variables yet"
	case n.Decision != nil:
		return "decisions are not executed; a business rule task with a zeebe:taskDefinition is done by a worker"
	case n.Kind == bpmn.ServiceTask && n.Task == nil:
		return "a service task needs a task definition with a type"
	case n.Kind == bpmn.ReceiveTask && len(n.Boundary) > 0 && afterEventGateway(p, n):
		return "a receive task behind an event-based gateway has no boundary events: the gateway waits, not the task"
	case emits(n):
		if target, _ := n.Task.Header(EmitTarget); target == "" {
			return fmt.Sprintf("a service task of type %q needs the task header %q", EmitType, EmitTarget)
		}
	}
	return ""
}

func afterEventGateway(p *bpmn.Process, n *bpmn.Node) bool {
	return slices.ContainsFunc(n.Incoming, func(f int) bool {
		source := p.Flows[f].Source
		return source != bpmn.Outside && p.Nodes[source].Kind == bpmn.EventBasedGateway
	})
}

// emits reports whether the node is the built-in task that emits.
func emits(n *bpmn.Node) bool {
	return n.Task != nil && n.Task.Type.Expression == nil && n.Task.Type.Literal == EmitType
}

// throwsMessage reports whether the node publishes a message to other instances, rather than giving it to a worker.
func throwsMessage(n *bpmn.Node) bool {
	switch n.Kind {
	case bpmn.MessageThrowEvent, bpmn.MessageEndEvent, bpmn.SendTask:
		return n.Task == nil && n.Message != nil
	default:
		return false
	}
}

// ID returns the id of the process.
func (d *Definition) ID() string { return d.process.ID }

// Process returns the model.
func (d *Definition) Process() *bpmn.Process { return d.process }

// start returns the index of the start event for a message name; "" is the none start event.
func (d *Definition) start(message string) (int, bool) {
	for _, i := range d.process.Starts {
		n := d.process.Nodes[i]
		switch {
		case message == "" && n.Kind == bpmn.NoneStartEvent:
			return i, true
		case message != "" && n.Kind == bpmn.MessageStartEvent && n.Message.Name.Literal == message:
			return i, true
		}
	}
	return bpmn.Outside, false
}

// Starts reports whether the process has a start event for the message name; "" asks for the none start event.
func (d *Definition) Starts(message string) bool {
	_, ok := d.start(message)
	return ok
}

// Schedules returns the ids of the timer start events, in document order.
func (d *Definition) Schedules() []string {
	var ids []string
	for _, i := range d.process.Starts {
		if n := d.process.Nodes[i]; n.Kind == bpmn.TimerStartEvent {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// Awaits reports whether an instance of the process may wait for a message of that name.
func (d *Definition) Awaits(message string) bool {
	return slices.ContainsFunc(d.process.Nodes, func(n *bpmn.Node) bool {
		if !n.Kind.CatchesMessage() || n.Kind.IsStart() {
			return false
		}
		return n.Message.Name.Expression != nil || n.Message.Name.Literal == message
	})
}

// Emits reports whether the process has a task that emits.
func (d *Definition) Emits() bool { return slices.ContainsFunc(d.process.Nodes, emits) }

// Publishes reports whether something of the process goes through the outbox to other instances: a message that it throws, or
// an instance that a timer starts.
func (d *Definition) Publishes() bool {
	return len(d.Schedules()) > 0 || slices.ContainsFunc(d.process.Nodes, throwsMessage)
}
