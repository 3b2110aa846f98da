package bpmn

// Validate returns a fault for every node that the engine does not execute: its kind is Unsupported, or
// supported says no to the kind, or to MultiInstance when it has a Loop. They are in document order.
func (d *Definitions) Validate(supported func(Kind) bool) []Fault {
	var faults []Fault
	for _, p := range d.Processes {
		for _, n := range p.Nodes {
			what := n.Kind.String()
			switch {
			case n.Kind == Unsupported:
				what = n.What
			case !supported(n.Kind):
			case n.Loop != nil && !supported(MultiInstance):
				what = MultiInstance.String()
			default:
				continue
			}
			faults = append(faults, Fault{
				File: d.File, Line: n.Line, Column: n.Column, Element: n.ID, Reason: "the element is not supported: " + what,
			})
		}
	}
	return faults
}

// checkNode judges a node when everything it refers to is resolved.
func (p *processBuilder) checkNode(n *Node) {
	e := p.elements[n.Index]
	if n.Message != nil && n.Message.CorrelationKey == nil && n.Kind.CatchesMessage() && !p.isRootStart(n) {
		p.fault(e, "the message %q has no correlation key (zeebe:subscription with correlationKey)", n.Message.ID)
	}
	switch n.Kind {
	case ExclusiveGateway, InclusiveGateway:
		p.checkConditions(n)
	case EventBasedGateway:
		p.checkEventGateway(n, e)
	case NoneStartEvent, MessageStartEvent, TimerStartEvent, ErrorStartEvent:
		p.checkStartEvent(n, e)
	case EventSubprocess:
		p.checkEventSubprocess(n, e)
	case Subprocess:
		p.checkSubprocess(n, e)
	default:
		if n.Kind.IsActivity() {
			p.checkBoundary(n)
		}
	}
	if n.Kind.IsGateway() && len(n.Outgoing) == 0 && len(n.Incoming) > 0 {
		p.fault(e, "nothing flows out of the %v", n.Kind)
	}
}

func (p *processBuilder) isRootStart(n *Node) bool { return n.Kind.IsStart() && n.Parent == Outside }

// checkConditions: a gateway that decides needs something to decide by on each flow.
func (p *processBuilder) checkConditions(n *Node) {
	if len(n.Outgoing) < 2 {
		return
	}
	for _, i := range n.Outgoing {
		if i != n.Default && p.process.Flows[i].Condition == nil && p.flows[i].child("conditionExpression") == nil {
			p.fault(p.flows[i], "the flow of a gateway that decides has no condition and is not its default")
		}
	}
}

func (p *processBuilder) checkEventGateway(n *Node, e *element) {
	for _, i := range n.Outgoing {
		t := p.process.Flows[i].Target
		if t == Outside {
			continue
		}
		switch target := p.process.Nodes[t]; {
		case target.Kind != MessageCatchEvent && target.Kind != TimerCatchEvent && target.Kind != ReceiveTask &&
			target.Kind != Unsupported:
			p.fault(p.flows[i], "an event-based gateway leads to catch events and receive tasks, not to %s", target.Kind.a())
		case len(target.Incoming) > 1:
			p.fault(p.flows[i], "the %v after an event-based gateway has other incoming flows", target.Kind)
		}
	}
	if len(n.Outgoing) < 2 {
		p.fault(e, "an event-based gateway needs two flows to choose from")
	}
}

func (p *processBuilder) checkStartEvent(n *Node, e *element) {
	inEvent := n.Parent != Outside && p.process.Nodes[n.Parent].Kind == EventSubprocess
	switch {
	case n.Kind == NoneStartEvent && inEvent:
		p.fault(e, "an event subprocess is started by a message, timer or error, not by a none start event")
	case n.Kind != NoneStartEvent && n.Parent != Outside && !inEvent:
		p.fault(e, "a subprocess begins with a none start event, not with %s", n.Kind.a())
	case n.Kind == ErrorStartEvent && !inEvent:
		p.fault(e, "an error start event stands in an event subprocess only")
	case n.Kind == ErrorStartEvent && !n.Interrupting:
		p.fault(e, "an error start event is always interrupting")
	case inEvent && n.Kind == TimerStartEvent && n.Timer != nil && n.Timer.Kind == TimerCycle && n.Interrupting:
		p.fault(e, "a timeCycle needs an event subprocess that does not interrupt")
	}
}

// startsOf returns the start events that stand directly in a scope.
func (p *processBuilder) startsOf(children []int) (starts []int) {
	for _, i := range children {
		if p.process.Nodes[i].Kind.IsStart() {
			starts = append(starts, i)
		}
	}
	return starts
}

func (p *processBuilder) checkSubprocess(n *Node, e *element) {
	p.checkScopeStart(n, e)
	p.checkBoundary(n)
}

func (p *processBuilder) checkEventSubprocess(n *Node, e *element) { p.checkScopeStart(n, e) }

func (p *processBuilder) checkScopeStart(n *Node, e *element) {
	starts := p.startsOf(n.Children)
	if len(starts) == 0 && !p.hasUnsupportedStart(n.Children) {
		p.fault(e, "the %v has no start event", n.Kind)
	}
	for k, i := range starts {
		if k == 0 {
			n.Start = i
			continue
		}
		p.fault(p.elements[i], "the %v has several start events", n.Kind)
	}
}

// hasUnsupportedStart reports whether a start event of a kind outside the model stands in the scope. That
// one is a fault of its own.
func (p *processBuilder) hasUnsupportedStart(children []int) bool {
	for _, i := range children {
		if p.process.Nodes[i].Kind == Unsupported && p.elements[i].is("startEvent") {
			return true
		}
	}
	return false
}

// checkStarts judges the start events of the process itself.
func (p *processBuilder) checkStarts(e *element) {
	p.process.Starts = p.startsOf(p.process.Children)
	if len(p.process.Starts) == 0 && !p.hasUnsupportedStart(p.process.Children) {
		p.fault(e, "the process has no start event")
	}
	none, names := 0, map[string]bool{} // only looked up
	for _, i := range p.process.Starts {
		n := p.process.Nodes[i]
		if n.Kind == NoneStartEvent {
			if none++; none > 1 {
				p.fault(p.elements[i], "the process has several none start events")
			}
		}
		if n.Kind == MessageStartEvent && n.Message != nil {
			if names[n.Message.Name.String()] {
				p.fault(p.elements[i], "two start events wait for the message %q", n.Message.Name.String())
			}
			names[n.Message.Name.String()] = true
		}
	}
}

// checkBoundary: of two events on one activity that catch the same thing only one could ever be meant.
func (p *processBuilder) checkBoundary(n *Node) {
	caught := map[string]bool{} // only looked up
	for _, i := range n.Boundary {
		event := p.process.Nodes[i]
		key := ""
		switch {
		case event.Kind == ErrorBoundaryEvent && event.Error == nil:
			key = "every error"
		case event.Kind == ErrorBoundaryEvent:
			key = "the error code " + event.Error.Code
		case event.Kind == MessageBoundaryEvent && event.Message != nil:
			key = "the message " + event.Message.Name.String()
		}
		if key != "" && caught[key] {
			p.fault(p.elements[i], "two boundary events of %q catch %s", n.ID, key)
		}
		caught[key] = true
	}
}

// checkReachable walks from the starts along flows, to boundary events and into subprocesses.
func (p *processBuilder) checkReachable() {
	reached := make([]bool, len(p.process.Nodes))
	var queue []int
	visit := func(i int) {
		if i != Outside && !reached[i] {
			reached[i] = true
			queue = append(queue, i)
		}
	}
	enter := func(children []int) {
		for _, i := range children {
			n := p.process.Nodes[i]
			if n.Kind.IsStart() || n.Kind == EventSubprocess || n.Kind == Unsupported && p.elements[i].is("startEvent") {
				visit(i)
			}
		}
	}
	enter(p.process.Children)
	for len(queue) > 0 {
		n := p.process.Nodes[queue[0]]
		queue = queue[1:]
		enter(n.Children)
		for _, flow := range n.Outgoing {
			visit(p.process.Flows[flow].Target)
		}
		for _, event := range n.Boundary {
			visit(event)
		}
	}
	for i, n := range p.process.Nodes {
		// What cannot be reached because of something else that is broken has a fault already.
		if !reached[i] && (n.Parent == Outside || reached[n.Parent]) && p.hasStart(n.Parent) && !p.isBroken(n) {
			p.fault(p.elements[i], "the %s cannot be reached from a start event", pick(n.Kind == Unsupported, n.What, n.Kind.String()))
		}
	}
}

// hasStart reports whether the scope has a start event.
func (p *processBuilder) hasStart(scope int) bool {
	if scope == Outside {
		return len(p.process.Starts) > 0 || p.hasUnsupportedStart(p.process.Children)
	}
	n := p.process.Nodes[scope]
	return n.Start != Outside || p.hasUnsupportedStart(n.Children)
}

// isBroken reports a node that no flow can mean, for its id is missing or another's, and a boundary event
// that is attached to nothing.
func (p *processBuilder) isBroken(n *Node) bool {
	first, ok := p.index[n.ID]
	return !ok || first != n.Index || p.elements[n.Index].is("boundaryEvent") && n.AttachedTo == Outside
}
