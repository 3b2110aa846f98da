package bpmn

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
)

// kindOf returns the kind of a node element and its name for people. The name is empty when the element
// is no node at all.
func kindOf(e *element) (Kind, string) {
	switch e.name.Local {
	case "startEvent", "endEvent", "intermediateCatchEvent", "intermediateThrowEvent", "boundaryEvent":
		return eventKind(e)
	case "subProcess":
		if e.attr("triggeredByEvent") == "true" {
			return EventSubprocess, EventSubprocess.String()
		}
		return Subprocess, Subprocess.String()
	case "transaction", "adHocSubProcess", "complexGateway", "implicitThrowEvent", "callChoreography", "subChoreography",
		"choreographyTask":
		return Unsupported, e.name.Local
	}
	plain := [...]struct {
		local string
		kind  Kind
	}{
		{"task", Task},
		{"serviceTask", ServiceTask},
		{"userTask", UserTask},
		{"manualTask", ManualTask},
		{"receiveTask", ReceiveTask},
		{"sendTask", SendTask},
		{"scriptTask", ScriptTask},
		{"businessRuleTask", BusinessRuleTask},
		{"exclusiveGateway", ExclusiveGateway},
		{"parallelGateway", ParallelGateway},
		{"inclusiveGateway", InclusiveGateway},
		{"eventBasedGateway", EventBasedGateway},
		{"callActivity", CallActivity},
	}
	for _, p := range plain {
		if p.local == e.name.Local {
			return p.kind, p.kind.String()
		}
	}
	return Unsupported, ""
}

// triggers returns the event definitions of an event.
func triggers(e *element) (list []*element) {
	for _, c := range e.children {
		if c.name.Space == spaceBPMN && (strings.HasSuffix(c.name.Local, "EventDefinition") || c.name.Local == "eventDefinitionRef") {
			list = append(list, c)
		}
	}
	return list
}

func eventKind(e *element) (Kind, string) {
	list := triggers(e)
	trigger := ""
	switch len(list) {
	case 0:
	case 1:
		trigger = strings.TrimSuffix(list[0].name.Local, "EventDefinition")
	default:
		trigger = "multiple"
	}
	table := [...]struct {
		local, trigger string
		kind           Kind
	}{
		{"startEvent", "", NoneStartEvent},
		{"startEvent", "message", MessageStartEvent},
		{"startEvent", "timer", TimerStartEvent},
		{"startEvent", "error", ErrorStartEvent},
		{"endEvent", "", NoneEndEvent},
		{"endEvent", "terminate", TerminateEndEvent},
		{"endEvent", "error", ErrorEndEvent},
		{"endEvent", "message", MessageEndEvent},
		{"intermediateCatchEvent", "message", MessageCatchEvent},
		{"intermediateCatchEvent", "timer", TimerCatchEvent},
		{"intermediateThrowEvent", "", NoneThrowEvent},
		{"intermediateThrowEvent", "message", MessageThrowEvent},
		{"boundaryEvent", "message", MessageBoundaryEvent},
		{"boundaryEvent", "timer", TimerBoundaryEvent},
		{"boundaryEvent", "error", ErrorBoundaryEvent},
	}
	for _, row := range table {
		if row.local == e.name.Local && row.trigger == trigger {
			return row.kind, row.kind.String()
		}
	}
	return Unsupported, pick(trigger == "", "none", trigger) + " " + e.name.Local
}

// content reads what an element does and waits for.
func (p *processBuilder) content(n *Node, e *element) {
	if io := p.extension(e, "ioMapping"); io != nil {
		n.Inputs, n.Outputs = p.mappings(io, "input"), p.mappings(io, "output")
	}
	p.flags(n, e)
	switch n.Kind {
	case ServiceTask:
		n.Task = p.job(e, true)
	case SendTask, MessageThrowEvent, MessageEndEvent:
		n.Message = p.messageOf(n, e)
		if n.Task = p.job(e, n.Message == nil); n.Task == nil && n.Message == nil {
			p.fault(e, "the %v has neither a message nor a task definition", n.Kind)
		}
	case ScriptTask:
		p.script(n, e)
	case BusinessRuleTask:
		p.decision(n, e)
	case UserTask:
		n.User = p.assignment(e)
	case CallActivity:
		n.Called = p.called(e)
	case ErrorStartEvent, ErrorEndEvent, ErrorBoundaryEvent:
		n.Error = p.errorOf(n, triggers(e)[0])
	default:
		if n.Kind.CatchesMessage() {
			n.Message = p.messageOf(n, e)
		}
		if n.Kind.HasTimer() {
			n.Timer = p.timer(n, triggers(e)[0])
		}
	}
}

// flags reads the attributes and markers that change what an element means.
func (p *processBuilder) flags(n *Node, e *element) {
	switch {
	case n.Kind.IsBoundary():
		n.Interrupting = e.attr("cancelActivity") != "false"
		if n.Kind == ErrorBoundaryEvent && !n.Interrupting {
			p.fault(e, "an error boundary event is always interrupting")
		}
	case n.Kind.IsStart() && n.Parent != Outside && p.process.Nodes[n.Parent].Kind == EventSubprocess:
		n.Interrupting = e.attr("isInterrupting") != "false"
	}
	if e.attr("isForCompensation") == "true" {
		p.fault(e, "compensation is not supported")
	}
	if e.attr("instantiate") == "true" {
		p.fault(e, "%s that starts an instance is not supported", n.Kind.a())
	}
	for _, c := range e.children {
		switch {
		case c.is("standardLoopCharacteristics"):
			p.fault(c, "the loop marker is not supported")
		case c.is("multiInstanceLoopCharacteristics"):
			n.Loop = p.loop(c)
		}
	}
}

// job reads a task definition; nil when there is none.
func (p *processBuilder) job(e *element, required bool) *Job {
	x := p.extension(e, "taskDefinition")
	if x == nil {
		if required && !e.is("endEvent") && !e.is("intermediateThrowEvent") && !e.is("sendTask") {
			p.fault(e, "the task has no zeebe:taskDefinition that names its handler")
		}
		return nil
	}
	j := &Job{Type: p.required(x, "type", "the name of the handler"), Retries: p.retries(x)}
	if headers := p.extension(e, "taskHeaders"); headers != nil {
		keys := map[string]bool{"": true} // only looked up
		for _, h := range headers.children {
			if h.name.Space != spaceZeebe || h.name.Local != "header" {
				continue
			}
			if keys[h.attr("key")] {
				p.fault(h, "the header %q is empty or stands twice", h.attr("key"))
			}
			keys[h.attr("key")] = true
			line, column := p.source.place(h.start)
			j.Headers = append(j.Headers, Header{h.attr("key"), h.attr("value"), line, column})
		}
	}
	return j
}

// retries reads how often a task is tried. A text must be a number within the bounds; what an expression gives is seen when it runs.
func (p *processBuilder) retries(x *element) feel.Attribute {
	a := p.attribute(x, "retries")
	if a.Expression != nil || a.Literal == "" || strings.HasPrefix(a.Literal, "=") {
		return a
	}
	if n, err := strconv.Atoi(a.Literal); err != nil || n < 1 || n > MaxRetries {
		p.faultAt(p.source.attrOffset(x, "retries", 0), owner(x), fmt.Sprintf("retries is %.40q, not a number from 1 to %d: how often the task is tried", a.Literal, MaxRetries))
	}
	return a
}

// messageOf resolves the message of an event or task, or nil when it names none that exists.
func (p *processBuilder) messageOf(n *Node, e *element) *Message {
	holder := e
	if list := triggers(e); len(list) == 1 {
		holder = list[0]
	}
	id := localName(holder.attr("messageRef"))
	m := p.messages[id]
	switch {
	case id == "" && n.Kind.CatchesMessage():
		p.fault(e, "the %v has no message: messageRef is empty", n.Kind)
	case id != "" && m == nil:
		p.fault(holder, "messageRef refers to %q, which is not a message", id)
	}
	return m
}

func (p *processBuilder) errorOf(n *Node, trigger *element) *Error {
	id := localName(trigger.attr("errorRef"))
	found := p.errors[id]
	switch {
	case id == "" && n.Kind == ErrorEndEvent:
		p.fault(trigger, "the error end event has no error: errorRef is empty")
	case id != "" && found == nil:
		p.fault(trigger, "errorRef refers to %q, which is not an error", id)
	case found != nil && found.Code == "":
		p.fault(trigger, "the error %q has no errorCode", id)
	}
	return found
}

// timer reads exactly one definition and checks the form of a literal.
func (p *processBuilder) timer(n *Node, trigger *element) *Timer {
	var t *Timer
	for _, c := range trigger.children {
		for kind := TimerDate; kind <= TimerCycle; kind++ {
			if !c.is(kind.String()) {
				continue
			}
			if t != nil {
				p.fault(c, "the timer has several definitions")
				return t
			}
			t = &Timer{Kind: kind, Value: p.textAttribute(c, kind.String())}
			p.checkTimer(n, t, c)
		}
	}
	if t == nil {
		p.fault(trigger, "the timer has none of timeDate, timeDuration and timeCycle")
	}
	return t
}

func (p *processBuilder) checkTimer(n *Node, t *Timer, e *element) {
	if t.Value.Expression == nil && !strings.HasPrefix(t.Value.Literal, "=") {
		// The moment is any: only the form of the text is judged.
		if _, err := t.Schedule(feel.String(t.Value.Literal), time.Unix(0, 0).UTC()); err != nil {
			p.fault(e, "%v", err)
		}
	}
	if t.Kind == TimerCycle && (n.Kind == TimerCatchEvent || n.Kind == TimerBoundaryEvent && n.Interrupting) {
		p.fault(e, "a timeCycle can start a process or stand on a boundary that does not interrupt; this event fires once")
	}
	if t.Kind == TimerDuration && n.Kind == TimerStartEvent && n.Parent == Outside {
		p.fault(e, "a process is started by a timeDate or timeCycle, not by a timeDuration")
	}
}

func (p *processBuilder) script(n *Node, e *element) {
	switch x := p.extension(e, "script"); {
	case x != nil:
		n.Script = &Script{Expression: p.expression(x, "expression"), ResultVariable: x.attr("resultVariable")}
		if x.attr("expression") == "" {
			p.fault(x, "the script is empty")
		}
		if !IsVariable(n.Script.ResultVariable) {
			p.fault(x, "the script has no resultVariable that is a name")
		}
	case e.child("script") != nil:
		p.fault(e.child("script"), "scripts are FEEL in zeebe:script, not in the element \"script\"")
	default:
		n.Task = p.job(e, true)
	}
}

func (p *processBuilder) decision(n *Node, e *element) {
	x := p.extension(e, "calledDecision")
	if x == nil {
		n.Task = p.job(e, true)
		return
	}
	n.Decision = &Decision{ID: p.required(x, "decisionId", "the decision"), ResultVariable: x.attr("resultVariable")}
	if !IsVariable(n.Decision.ResultVariable) {
		p.fault(x, "the decision has no resultVariable that is a name")
	}
}

func (p *processBuilder) called(e *element) *Called {
	c := &Called{PropagateParent: true, PropagateChild: true}
	x := p.extension(e, "calledElement")
	if x == nil {
		c.ProcessID = feel.Attribute{Literal: localName(e.attr("calledElement"))}
		if c.ProcessID.Literal == "" {
			p.fault(e, "the call activity does not name a process")
		}
		return c
	}
	c.ProcessID = p.required(x, "processId", "the called process")
	c.PropagateParent = x.attr("propagateAllParentVariables") != "false"
	c.PropagateChild = x.attr("propagateAllChildVariables") != "false"
	return c
}

func (p *processBuilder) assignment(e *element) *Assignment {
	a := &Assignment{}
	if x := p.extension(e, "assignmentDefinition"); x != nil {
		a.Assignee = p.attribute(x, "assignee")
		a.CandidateGroups = p.attribute(x, "candidateGroups")
		a.CandidateUsers = p.attribute(x, "candidateUsers")
	}
	if x := p.extension(e, "taskSchedule"); x != nil {
		a.DueDate, a.FollowUpDate = p.attribute(x, "dueDate"), p.attribute(x, "followUpDate")
	}
	if x := p.extension(e, "priorityDefinition"); x != nil {
		a.Priority = p.attribute(x, "priority")
	}
	if x := p.extension(e, "formDefinition"); x != nil {
		if a.Form = x.attr("formId"); a.Form == "" {
			a.Form = x.attr("formKey")
		}
	}
	return a
}

func (p *processBuilder) loop(e *element) *Loop {
	l := &Loop{Line: p.line(e), Sequential: e.attr("isSequential") == "true"}
	if c := e.child("completionCondition"); c != nil {
		l.Completion = p.condition(c)
	}
	x := p.extension(e, "loopCharacteristics")
	if x == nil || strings.TrimSpace(x.attr("inputCollection")) == "" {
		p.fault(e, "the multi-instance marker has no zeebe:loopCharacteristics with an inputCollection")
		return l
	}
	l.InputCollection = p.expression(x, "inputCollection")
	l.InputElement = x.attr("inputElement")
	l.OutputCollection = x.attr("outputCollection")
	l.OutputElement = p.expression(x, "outputElement")
	if (l.OutputCollection == "") != (x.attr("outputElement") == "") {
		p.fault(x, "outputCollection and outputElement go together")
	}
	return l
}
