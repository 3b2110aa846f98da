package bpmn

import (
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/feel"
)

// processBuilder makes one process. Nodes are read first, then flows, which refer to them, then what
// needs both.
type processBuilder struct {
	*builder
	process  *Process
	elements []*element     // of the nodes, by index
	flows    []*element     // of the flows, by index
	scopes   []int          // the scope each flow stands in, by index
	index    map[string]int // element id → node; only looked up
	flowByID map[string]int // element id → flow; only looked up
}

func (b *builder) process(e *element) {
	id := e.id()
	if e.attr("isExecutable") == "false" {
		b.warn(e, "the process is marked as not executable and left out")
		return
	}
	if id == "" {
		b.fault(e, "the process has no id")
	}
	p := &processBuilder{
		builder: b, process: &Process{ID: id, Name: e.attr("name"), Line: b.line(e)},
		index: map[string]int{}, flowByID: map[string]int{},
	}
	b.vendor(e)
	p.process.Children = p.scope(e, Outside)
	for i := range p.process.Flows {
		p.connect(i)
	}
	for _, n := range p.process.Nodes {
		p.references(n)
	}
	for _, n := range p.process.Nodes {
		p.checkNode(n)
	}
	p.checkStarts(e)
	p.checkReachable()
	b.result.Processes = append(b.result.Processes, p.process)
}

// scope reads the nodes and flows that stand in a process or subprocess and returns the nodes.
func (p *processBuilder) scope(e *element, parent int) (children []int) {
	for _, c := range e.children {
		switch {
		case c.name.Space != spaceBPMN:
			p.foreign(c)
		case c.is("sequenceFlow"):
			p.flow(c, parent)
		case isPassive(c.name.Local) || parent != Outside && isNodePart(c.name.Local):
		default:
			kind, what := kindOf(c)
			if what == "" {
				p.fault(c, "the element %q is not supported here", c.name.Local)
				continue
			}
			children = append(children, p.node(c, parent, kind, what))
		}
	}
	return children
}

// isPassive names the elements that stand beside nodes and have no effect on execution.
func isPassive(local string) bool {
	switch local {
	case "documentation", "extensionElements", "laneSet", "dataObject", "dataObjectReference", "dataStoreReference",
		"association", "textAnnotation", "group", "property", "ioSpecification", "auditing", "monitoring", "category",
		"supportedInterfaceRef", "ioBinding", "categoryValueRef":
		return true
	}
	return false
}

// isNodePart names the elements inside an activity or event that are not nodes.
func isNodePart(local string) bool {
	switch local {
	case "incoming", "outgoing", "dataInputAssociation", "dataOutputAssociation", "multiInstanceLoopCharacteristics",
		"standardLoopCharacteristics", "script", "dataInput", "dataOutput", "inputSet", "outputSet", "rendering":
		return true
	}
	return strings.HasSuffix(local, "EventDefinition") || local == "eventDefinitionRef"
}

func (p *processBuilder) flow(e *element, scope int) {
	f := &Flow{
		Index: len(p.process.Flows), ID: e.id(), Name: e.attr("name"), Line: p.line(e), Source: Outside, Target: Outside,
	}
	p.process.Flows = append(p.process.Flows, f)
	p.flows = append(p.flows, e)
	p.scopes = append(p.scopes, scope)
	if f.ID != "" {
		p.flowByID[f.ID] = f.Index
	}
	p.vendor(e)
}

func (p *processBuilder) node(e *element, parent int, kind Kind, what string) int {
	line, column := p.source.place(e.start)
	n := &Node{
		Index: len(p.process.Nodes), ID: e.id(), Name: e.attr("name"), Line: line, Column: column, Kind: kind,
		Parent: parent, Default: Outside, AttachedTo: Outside, Start: Outside,
	}
	if kind == Unsupported {
		n.What = what
	}
	p.process.Nodes = append(p.process.Nodes, n)
	p.elements = append(p.elements, e)
	if n.ID == "" {
		p.fault(e, "the %s has no id", what)
	} else if _, ok := p.index[n.ID]; !ok {
		p.index[n.ID] = n.Index
	}
	p.vendor(e)
	for _, c := range e.children {
		if c.name.Space != spaceBPMN {
			p.foreign(c)
		} else if !kind.IsScope() && kind != Unsupported && !isPassive(c.name.Local) && !isNodePart(c.name.Local) {
			p.warn(c, "the element %q has no effect", c.name.Local)
		}
	}
	if kind.IsScope() {
		n.Children = p.scope(e, n.Index)
	}
	p.content(n, e)
	return n.Index
}

// connect resolves the ends of a flow and reads its condition.
func (p *processBuilder) connect(i int) {
	f, e := p.process.Flows[i], p.flows[i]
	f.Source = p.end(e, "sourceRef", p.scopes[i])
	f.Target = p.end(e, "targetRef", p.scopes[i])
	if f.Target != Outside {
		n := p.process.Nodes[f.Target]
		n.Incoming = append(n.Incoming, i)
		if n.Kind.IsStart() || n.Kind.IsBoundary() || n.Kind == EventSubprocess {
			p.fault(e, "the flow leads into %s, which nothing can flow into", n.Kind.a())
		}
	}
	if f.Source == Outside {
		return
	}
	n := p.process.Nodes[f.Source]
	n.Outgoing = append(n.Outgoing, i)
	if n.Kind.IsEnd() || n.Kind == EventSubprocess {
		p.fault(e, "the flow comes out of %s, which nothing can flow out of", n.Kind.a())
	}
	p.flowCondition(f, e, n)
}

func (p *processBuilder) flowCondition(f *Flow, e *element, source *Node) {
	c := e.child("conditionExpression")
	if c == nil {
		return
	}
	parsed := p.condition(c)
	switch {
	case source.Kind == Unsupported:
	case source.Kind != ExclusiveGateway && source.Kind != InclusiveGateway:
		p.fault(c, "conditions are supported on the flows of exclusive and inclusive gateways, not of %s", source.Kind.a())
	case f.ID != "" && f.ID == p.elements[source.Index].attr("default"):
		p.warn(c, "the condition of a default flow is never evaluated")
	default:
		f.Condition = parsed
	}
}

// end resolves one end of a flow to a node in the flow's scope.
func (p *processBuilder) end(e *element, local string, scope int) int {
	id := e.attr(local)
	i, ok := p.index[id]
	switch {
	case id == "":
		p.fault(e, "the flow has no %s", local)
	case !ok && p.ids[id] != nil:
		p.fault(e, "%s refers to %q, which is a %q and not a node of this process", local, id, p.ids[id].name.Local)
	case !ok:
		p.fault(e, "%s refers to %q, which does not exist", local, id)
	case p.process.Nodes[i].Parent != scope:
		p.fault(e, "%s refers to %q, which stands in another subprocess; a flow cannot cross its border", local, id)
	default:
		return i
	}
	return Outside
}

// references resolves what a node refers to: the default flow, the activity it is attached to, and the
// flows it lists itself.
func (p *processBuilder) references(n *Node) {
	e := p.elements[n.Index]
	for _, c := range e.children {
		if !c.is("incoming") && !c.is("outgoing") {
			continue
		}
		if id := localName(strings.TrimSpace(c.text())); id != "" {
			if _, ok := p.flowByID[id]; !ok {
				p.fault(c, "%q refers to the flow %q, which does not exist", c.name.Local, id)
			}
		}
	}
	if id := e.attr("default"); id != "" {
		i, ok := p.flowByID[id]
		switch {
		case !ok:
			p.fault(e, "the default flow %q does not exist", id)
		case !slices.Contains(n.Outgoing, i):
			p.fault(e, "the default flow %q does not come out of the element", id)
		case n.Kind != ExclusiveGateway && n.Kind != InclusiveGateway && n.Kind != Unsupported:
			p.fault(e, "default flows are supported at exclusive and inclusive gateways, not at %s", n.Kind.a())
		default:
			n.Default = i
		}
	}
	if e.is("boundaryEvent") { // of unsupported kinds too, so that what follows them counts as reachable
		p.attach(n, e)
	}
}

// localName cuts the prefix off a qualified name. References are QNames, but ids have no namespace.
func localName(name string) string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		return name[i+1:]
	}
	return name
}

func (p *processBuilder) attach(n *Node, e *element) {
	id := localName(e.attr("attachedToRef"))
	i, ok := p.index[id]
	switch {
	case id == "":
		p.fault(e, "the boundary event is attached to nothing: attachedToRef is empty")
	case !ok:
		p.fault(e, "attachedToRef refers to %q, which does not exist", id)
	case p.process.Nodes[i].Parent != n.Parent:
		p.fault(e, "attachedToRef refers to %q, which stands in another subprocess", id)
	case !p.process.Nodes[i].Kind.IsActivity() && p.process.Nodes[i].Kind != Unsupported:
		p.fault(e, "attachedToRef refers to %s; boundary events are attached to activities", p.process.Nodes[i].Kind.a())
	default:
		n.AttachedTo = i
		p.process.Nodes[i].Boundary = append(p.process.Nodes[i].Boundary, n.Index)
	}
}

// vendor warns of extensions and attributes that have no effect.
func (b *builder) vendor(e *element) {
	for _, a := range e.attrs {
		switch a.Name.Space {
		case "", "xmlns", spaceInstance, spaceModeler, spaceZeebe:
		default:
			b.warn(e, "the attribute %q of namespace %q has no effect", a.Name.Local, a.Name.Space)
		}
	}
	holder := e.child("extensionElements")
	if holder == nil {
		return
	}
	for _, x := range holder.children {
		if x.name.Space == spaceZeebe && isHonoured(x.name.Local) || x.name.Space == spaceModeler {
			continue
		}
		b.warn(x, "the extension %q of namespace %q has no effect", x.name.Local, x.name.Space)
	}
}

// isHonoured names the zeebe extensions that the model reads, or that carry nothing to execute.
func isHonoured(local string) bool {
	switch local {
	case "taskDefinition", "taskHeaders", "ioMapping", "subscription", "calledElement", "script", "calledDecision",
		"loopCharacteristics", "userTask", "formDefinition", "assignmentDefinition", "taskSchedule", "priorityDefinition",
		"properties", "versionTag", "userTaskForm":
		return true
	}
	return false
}

// mappings reads the inputs or outputs of an ioMapping.
func (b *builder) mappings(io *element, local string) (list []Mapping) {
	for _, x := range io.children {
		if x.name.Space != spaceZeebe || x.name.Local != local {
			continue
		}
		m := Mapping{Source: b.required(x, "source", "the source of the mapping")}
		target := strings.TrimPrefix(strings.TrimSpace(x.attr("target")), "=")
		m.Target = strings.Split(target, ".")
		if slices.ContainsFunc(m.Target, func(part string) bool { return !IsVariable(part) }) {
			b.fault(x, "the target %q of the mapping is not a variable or a path of names", x.attr("target"))
		}
		list = append(list, m)
	}
	return list
}

// IsVariable reports whether the text is one name of FEEL.
func IsVariable(name string) bool {
	e, err := feel.Parse(name)
	return err == nil && e.String() == name && len(e.Variables()) == 1
}
