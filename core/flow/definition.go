package flow

import (
	"errors"
	"fmt"

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
	case bpmn.Task, bpmn.ManualTask, bpmn.NoneThrowEvent:
		return true // the token passes
	default:
		return bpmn.FirstSlice(k)
	}
}

// Definition is one process, ready to be stepped. It is immutable.
type Definition struct {
	process *bpmn.Process
	byID    map[string]int // index in process.Nodes; only looked up
}

// ErrDefinition is wrapped by every fault of a definition that the BPMN reader cannot know.
var ErrDefinition = errors.New("flow definition")

// NewDefinition returns the definition of a process whose kinds Executes accepts. The error joins every fault.
func NewDefinition(p *bpmn.Process) (*Definition, error) {
	d := &Definition{process: p, byID: make(map[string]int, len(p.Nodes))}
	var faults []error
	for _, n := range p.Nodes {
		d.byID[n.ID] = n.Index
		if reason := fault(n); reason != "" {
			faults = append(faults, fmt.Errorf("%w: process %s, line %d, element %s: %s", ErrDefinition, p.ID, n.Line, n.ID, reason))
		}
	}
	if len(p.Starts) == 0 {
		faults = append(faults, fmt.Errorf("%w: process %s, line %d: there is no start event", ErrDefinition, p.ID, p.Line))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return d, nil
}

// fault returns what is wrong with a node, or "".
func fault(n *bpmn.Node) string {
	switch {
	case !Executes(n.Kind):
		return fmt.Sprintf("the %v is not executed", n.Kind)
	case n.Kind == bpmn.MessageStartEvent && n.Message.Name.Expression != nil:
		return "the name of a message that starts the process must be a text: there are no variables yet"
	case n.Kind != bpmn.ServiceTask:
		return ""
	case n.Task == nil:
		return "a service task needs a task definition with a type"
	case emits(n):
		if target, _ := n.Task.Header(EmitTarget); target == "" {
			return fmt.Sprintf("a service task of type %q needs the task header %q", EmitType, EmitTarget)
		}
	}
	return ""
}

// emits reports whether the node is the built-in task that emits.
func emits(n *bpmn.Node) bool {
	return n.Task != nil && n.Task.Type.Expression == nil && n.Task.Type.Literal == EmitType
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

// Types returns the literal task types that the process needs handlers for, in document order, each once.
func (d *Definition) Types() []string {
	var types []string
	seen := map[string]bool{}
	for _, n := range d.process.Nodes {
		if n.Kind != bpmn.ServiceTask || emits(n) || n.Task.Type.Expression != nil || seen[n.Task.Type.Literal] {
			continue
		}
		seen[n.Task.Type.Literal] = true
		types = append(types, n.Task.Type.Literal)
	}
	return types
}

// Emits reports whether the process has a task that emits.
func (d *Definition) Emits() bool {
	for _, n := range d.process.Nodes {
		if n.Kind == bpmn.ServiceTask && emits(n) {
			return true
		}
	}
	return false
}
