package graph

import (
	"slices"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/flow"
)

// flowParser reads one flow file. It returns the flow, or what makes it unusable.
type flowParser func(file string, data []byte) (*Flow, []Fault)

// parseBPMN reads a BPMN file and finds the names in it that the package must know. A file that is BPMN and has faults is read for more
// of them: what its elements name can be judged all the same.
func parseBPMN(file string, data []byte) (*Flow, []Fault) {
	definitions, found := bpmn.Examine(file, data, flow.Executes)
	f := &Flow{File: file, Data: data}
	if !bpmn.Refused(found) {
		f.Definitions = definitions
	}
	var faults []Fault
	faulty := map[string]bool{} // elements; only looked up
	for _, b := range found {
		fault := Fault{File: file, Line: b.Line, Column: b.Column, Path: elementPath(b.Element), Reason: b.Reason}
		if b.Warning {
			f.warnings = append(f.warnings, fault)
			continue
		}
		faulty[b.Element] = true
		faults = append(faults, fault)
	}
	if definitions == nil {
		return f, faults // it is no BPMN at all
	}
	for _, p := range definitions.Processes {
		process := Process{ID: p.ID, Line: p.Line}
		for _, n := range p.Nodes {
			process.mention(n)
			faults = append(faults, taskFaults(file, n)...)
		}
		for _, x := range flow.Faults(p) {
			if faulty[x.Node.ID] {
				continue // it would be the same in other words
			}
			faults = append(faults, Fault{File: file, Line: x.Node.Line, Column: x.Node.Column, Path: elementPath(x.Node.ID), Reason: x.Reason})
		}
		f.Processes = append(f.Processes, process)
	}
	return f, faults
}

func elementPath(id string) string {
	if id == "" {
		return ""
	}
	return "element " + clip(id)
}

// mention records the names that a node uses. What is wrong with the node itself is a fault already.
func (p *Process) mention(n *bpmn.Node) {
	if n.Kind.CatchesMessage() && n.Message == nil {
		return
	}
	switch {
	case n.Kind == bpmn.NoneStartEvent && n.Parent == bpmn.Outside:
		p.Starts = append(p.Starts, "")
	case n.Kind == bpmn.MessageStartEvent && n.Parent == bpmn.Outside:
		if n.Message.Name.Expression != nil {
			return
		}
		p.Starts = append(p.Starts, n.Message.Name.Literal)
	case n.Kind.CatchesMessage():
		if n.Message.Name.Expression != nil {
			p.AwaitsAny = true
			return
		}
		p.Awaits = append(p.Awaits, Mention{Name: n.Message.Name.Literal, Line: n.Line, Element: n.ID})
	case n.Called != nil && n.Called.ProcessID.Expression == nil:
		p.Calls = append(p.Calls, Mention{Name: n.Called.ProcessID.Literal, Line: n.Line, Element: n.ID})
	case n.Message != nil && n.Task == nil: // thrown
		p.ThrowsAny = p.ThrowsAny || n.Message.Name.Expression != nil
		p.Throws = append(p.Throws, n.Message.Name.Literal)
	case n.Task != nil && n.Task.Type.Expression == nil && n.Task.Type.Literal == flow.EmitType:
		name, ok := n.Task.Header(flow.EmitTarget)
		if !ok {
			return
		}
		p.Emits = append(p.Emits, Mention{Name: name, Line: n.Line, Element: n.ID, Inputs: inputs(n)})
	}
}

// inputs returns the names of the variables that a node's input mappings make.
func inputs(n *bpmn.Node) []string {
	var names []string
	for _, m := range n.Inputs {
		if !slices.Contains(names, m.Target[0]) {
			names = append(names, m.Target[0])
		}
	}
	return names
}
