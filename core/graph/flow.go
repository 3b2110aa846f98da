package graph

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/bpmn"
)

// Flow is one flow file.
type Flow struct {
	File string
	Data []byte
	// Definitions is the model that the engine executes.
	Definitions *bpmn.Definitions
	// Processes are the executable processes with the names of the package that they use.
	Processes []Process

	warnings []Fault
}

// Process is what the package needs to know of one process of a flow file.
type Process struct {
	ID   string
	Line int
	// Starts are the names of the messages that the process begins with; "" is its none start event.
	Starts []string
	// Awaits are the names of the messages that the process waits for.
	Awaits []Mention
	// AwaitsAny says that the process also waits for a message whose name an expression computes.
	AwaitsAny bool
	// Throws are the names of the messages that the process throws to other instances.
	Throws []string
	// ThrowsAny says that it also throws a message whose name an expression computes.
	ThrowsAny bool
	// Calls are the processes that its call activities name.
	Calls []Mention
	// Emits are the emits that its service tasks name.
	Emits []Mention
}

// Mention is a name that an element of a flow uses, with the element's line and id.
type Mention struct {
	Name    string
	Line    int
	Element string
	// Inputs are the variables that the element's input mappings make; without any, the element sees
	// those of its instance, which are not known here.
	Inputs []string
}

func (l *loader) loadFlows(root object) {
	listed := root.list("flows", MaxFiles)
	for _, e := range listed {
		if f := l.flow(e); f != nil {
			l.pkg.Flows = append(l.pkg.Flows, f)
		}
	}
	present, err := fs.Glob(l.fsys, "*.bpmn")
	if err != nil {
		l.add(0, 0, "flows", "list *.bpmn files: "+err.Error())
	}
	for _, name := range present {
		if !slices.ContainsFunc(listed, func(e entry) bool { return e.name == name }) {
			l.faults = append(l.faults, Fault{File: name, Reason: "file is not listed under flows in " + PackageFile})
		}
	}
}

func (l *loader) flow(e entry) *Flow {
	if !fs.ValidPath(e.name) || strings.Contains(e.name, "/") || !strings.HasSuffix(e.name, ".bpmn") {
		l.at(e.value, "flows", fmt.Sprintf("%q: want the name of a .bpmn file in the package folder", clip(e.name)))
		return nil
	}
	data, err := readBounded(l.fsys, e.name, MaxFlowBytes)
	if err != nil {
		l.at(e.value, "flows", e.name+": "+err.Error())
		return nil
	}
	l.files = append(l.files, file{e.name, data})
	f, faults := l.parse(e.name, data)
	l.faults = append(l.faults, faults...)
	l.unparsed = l.unparsed || len(faults) > 0
	l.unread = l.unread || len(faults) > 0 && len(f.Processes) == 0
	l.pkg.Warnings = append(l.pkg.Warnings, f.warnings...)
	for _, p := range f.Processes {
		l.defineProcess(e.name, p)
	}
	return f
}

func (l *loader) defineProcess(file string, p Process) {
	if other := l.processes[p.ID]; other.file != "" {
		l.faults = append(l.faults, Fault{File: file, Line: p.Line, Reason: "process " + p.ID + " is already defined in " + other.file})
		return
	}
	if l.processes == nil {
		l.processes = make(map[string]located)
	}
	l.processes[p.ID] = located{file, p}
	l.processIDs = append(l.processIDs, p.ID)
}

// located is a process with its file.
type located struct {
	file    string
	process Process
}

// channelFlow reads what a channel's messages do.
func (l *loader) channelFlow(o object, c *Channel) {
	if !o.has("flow") && !o.has("correlate") {
		o.incomplete("want flow, correlate or both")
		return
	}
	if o.has("flow") {
		c.Flow = o.text("flow")
		l.checkStart(o, "flow", c)
		return
	}
	l.resumes = append(l.resumes, resume{o, c.Message})
}

// resume is a channel whose messages resume instances.
type resume struct {
	o       object
	message string
}

// checkStart reports a flow that is not defined or that another message starts.
func (l *loader) checkStart(o object, key string, c *Channel) {
	if c.Flow == "" {
		return
	}
	p, ok := l.processes[c.Flow]
	if !ok {
		if !l.unread {
			o.fault(key, "process "+clip(c.Flow)+" is not defined in any flow"+hint(c.Flow, l.processIDs))
		}
		return
	}
	starts := p.process.Starts
	if !l.unparsed && c.Message != "" && len(starts) > 0 && !slices.Contains(starts, "") && !slices.Contains(starts, c.Message) {
		o.fault(key, fmt.Sprintf("process %s starts with message %s, this channel delivers message %s", c.Flow,
			strings.Join(starts, " or "), c.Message))
	}
}

// checkFlows joins what channels deliver and emits offer with what flows await and use. What a flow names is judged also while a
// flow file is faulty; that no flow names something is not said then, because what such a file uses is not all known.
func (l *loader) checkFlows() {
	var awaited, emitted []string
	anyMessage := false
	thrown, throwsAny := l.thrown()
	for _, f := range l.pkg.Flows {
		for _, p := range f.Processes {
			anyMessage = anyMessage || p.AwaitsAny
			for _, m := range p.Awaits {
				awaited = append(awaited, m.Name)
				if !l.unparsed && !throwsAny && !slices.Contains(thrown, m.Name) {
					l.checkAwait(f.File, m)
				}
			}
			for _, m := range p.Calls {
				l.checkCall(f.File, m)
			}
			for _, m := range p.Emits {
				emitted = append(emitted, m.Name)
				l.checkEmit(f.File, m)
			}
		}
	}
	if l.unparsed {
		return
	}
	for _, r := range l.resumes {
		if r.message != "" && !anyMessage && !slices.Contains(awaited, r.message) {
			l.at(r.o.at, r.o.path, "no flow waits for message "+r.message+hint(r.message, awaited))
		}
	}
	for _, name := range l.emits.names {
		if !slices.Contains(emitted, name) {
			l.at(l.emits.nodes[name], join("emits", name), "no service task of a flow uses this emit")
		}
	}
}

// thrown returns the names of the messages that flows throw, and whether one of them throws a name that an expression computes.
func (l *loader) thrown() (names []string, computed bool) {
	for _, f := range l.pkg.Flows {
		for _, p := range f.Processes {
			names = append(names, p.Throws...)
			computed = computed || p.ThrowsAny
		}
	}
	return names, computed
}

// checkCall reports a call of a process that is not defined or that cannot be called.
func (l *loader) checkCall(file string, m Mention) {
	called, ok := l.processes[m.Name]
	switch {
	case !ok && l.unread:
	case !ok:
		l.flowFault(file, m, "process "+clip(m.Name)+" is not defined in any flow"+hint(m.Name, l.processIDs))
	case !l.unparsed && !slices.Contains(called.process.Starts, ""):
		l.flowFault(file, m, "process "+clip(m.Name)+" has no none start event to be called by")
	}
}

// checkEmit reports an emit that is not defined and, when the task names its variables, those that do
// not make a record of the relay.
func (l *loader) checkEmit(file string, m Mention) {
	e, ok := l.emits.values[m.Name]
	if !ok {
		l.flowFault(file, m, "emit "+clip(m.Name)+" is not defined"+hint(m.Name, l.emits.names))
		return
	}
	if e.To.Relay == nil || len(m.Inputs) == 0 {
		return
	}
	schema := e.To.Relay.Schema
	for _, name := range m.Inputs {
		if _, ok := schema.Index(name); !ok {
			l.flowFault(file, m, fmt.Sprintf("input %s: schema %s of relay %s has no such field%s", clip(name), schema.Name(),
				e.To.Relay.Name, hint(name, fieldNames(schema))))
		}
	}
	for _, f := range schema.Fields() {
		if !f.Nullable && !slices.Contains(m.Inputs, f.Name) {
			l.flowFault(file, m, fmt.Sprintf("no input makes field %s of schema %s", f.Name, schema.Name()))
		}
	}
}

// checkAwait reports a message that nothing delivers: who waits for it would wait for ever.
func (l *loader) checkAwait(file string, m Mention) {
	var delivered []string
	for _, r := range l.resumes {
		if r.message == "" {
			return // a faulty channel; what it delivers is not known
		}
		delivered = append(delivered, r.message)
	}
	if !slices.Contains(delivered, m.Name) {
		l.flowFault(file, m, "no channel delivers message "+clip(m.Name)+" with a correlate key and without flow"+hint(m.Name, delivered))
	}
}

func (l *loader) flowFault(file string, m Mention, reason string) {
	l.faults = append(l.faults, Fault{File: file, Line: m.Line, Path: elementPath(m.Element), Reason: reason})
}
