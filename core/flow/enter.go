package flow

import (
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// enter does the element's work, and reports whether the token goes on at once. Boundary events are armed when it does not.
func (m *machine) enter(a *active) bool {
	if !m.mapInputs(a) {
		return false
	}
	goes := m.perform(a)
	if !goes && !a.ended {
		m.arm(a)
	}
	return goes
}

func (m *machine) perform(a *active) bool {
	switch a.node.Kind {
	case bpmn.MessageCatchEvent, bpmn.ReceiveTask, bpmn.MessageBoundaryEvent:
		return m.waitForMessage(a)
	case bpmn.TimerCatchEvent, bpmn.TimerBoundaryEvent, bpmn.TimerStartEvent:
		return m.waitForTime(a)
	case bpmn.UserTask:
		m.wait(a, Wait{Kind: ForTask})
		return false
	case bpmn.ScriptTask:
		if a.node.Script != nil {
			return m.script(a)
		}
	case bpmn.ParallelGateway:
		return m.join(a)
	case bpmn.EventBasedGateway:
		return m.await(a)
	case bpmn.Subprocess, bpmn.CallActivity:
		return m.enterScope(a)
	case bpmn.TerminateEndEvent:
		m.endScope(a.Scope)
		m.emptied(a.Scope)
		return false
	case bpmn.ErrorEndEvent:
		return m.throwError(a, a.node.Error.Code, "thrown by an error end event", nil)
	default: // NewDefinition lets no other kind through that does more than what is below
	}
	return m.work(a)
}

// work does what a task or a throwing event does besides passing the token on.
func (m *machine) work(a *active) bool {
	switch {
	case emits(a.node):
		return m.emit(a)
	case a.node.Task != nil:
		return m.call(a)
	case throwsMessage(a.node):
		return m.publish(a)
	}
	a.Phase = Completing
	return true
}

// arm places the boundary events that wait for something beside their activity, once.
func (m *machine) arm(a *active) {
	if len(a.node.Boundary) == 0 || a.Armed {
		return
	}
	a.Armed = true
	for _, i := range a.node.Boundary {
		if n := a.in.process.Nodes[i]; n.Kind == bpmn.MessageBoundaryEvent || n.Kind == bpmn.TimerBoundaryEvent {
			m.placeBeside(a, i)
		}
	}
}

// placeBeside arms an event. What keeps it from waiting is its own incident, not its host's.
func (m *machine) placeBeside(host *active, at int) {
	a := m.place(host.in, at, host.Scope)
	a.Host = host.ID
	m.enter(a)
}

// await arms the events behind an event-based gateway, of which the first to happen is taken.
func (m *machine) await(a *active) bool {
	a.Phase = Inside
	for _, i := range a.node.Outgoing {
		m.placeBeside(a, a.in.process.Flows[i].Target)
	}
	return false
}

// waitForMessage opens the wait. Name and key are evaluated once, here, in the scope that the element stands in.
func (m *machine) waitForMessage(a *active) bool {
	message := a.node.Message
	name, ok := m.text(a, m.around(a), message.Name, "message name")
	if !ok {
		return false
	}
	if message.CorrelationKey == nil {
		m.stick(a, ExpressionFailed, "the message has no correlation key")
		return false
	}
	key, ok := m.text(a, m.around(a), *message.CorrelationKey, "correlation key")
	if !ok {
		return false
	}
	a.Message, a.Key = name, key
	m.waitAgain(a)
	return false
}

// waitAgain opens a wait for the message and key of the token. Of several tokens that wait for the same, the first is found by
// messages; the others are its successors, in the order in which they began to wait.
func (m *machine) waitAgain(a *active) {
	m.listen(a, slices.ContainsFunc(m.tokens, func(o *active) bool { return o != a && m.same(a, o) }))
}

// listen opens the wait, behind others or found by messages.
func (m *machine) listen(a *active, behind bool) {
	a.Behind = behind
	w := Wait{Kind: ForMessage, Flow: a.in.ID(), Message: a.Message, Key: a.Key}
	if behind {
		w = Wait{Kind: ForMessage}
	}
	m.wait(a, w)
}

// same reports whether another token waits for the message that a is for.
func (m *machine) same(a, o *active) bool {
	return !o.ended && o.Phase == Waiting && o.Message != "" && o.Key == a.Key && o.Message == a.Message && o.in.ID() == a.in.ID()
}

// succeed lets those be found that waited behind a token that waits no longer: of each message and key the one that has waited
// longest. Tokens stand in the order of their ids, and one that waits again has an old id.
func (m *machine) succeed() {
	for _, a := range m.tokens {
		if a.ended || !a.Behind || a.Phase != Waiting {
			continue
		}
		first := a
		for _, o := range m.tokens {
			if m.same(a, o) && (!o.Behind || first.Behind && o.Wait < first.Wait) {
				first = o
			}
		}
		if first.Behind {
			m.closeWait(first)
			m.listen(first, false)
		}
	}
}

// text evaluates an attribute that must be a text or a number that is not empty.
func (m *machine) text(a *active, scope feel.Scope, attribute feel.Attribute, what string) (string, bool) {
	value, err := attribute.Evaluate(scope, m.options())
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return "", false
	}
	text, ok := KeyText(value)
	if !ok {
		m.stick(a, ExpressionFailed, fmt.Sprintf("the %s is %s, not a text or a number", what, value))
	}
	return text, ok
}

// KeyText returns the text of a correlation key, and false for a value that cannot be one. Numbers match as text; an
// empty key never matches.
func KeyText(v feel.Value) (string, bool) {
	switch v := v.(type) {
	case feel.String:
		return string(v), v != ""
	case feel.Number:
		return v.String(), true
	}
	return "", false
}

// waitForTime opens the wait. What may come due again keeps its schedule.
func (m *machine) waitForTime(a *active) bool {
	value, err := a.node.Timer.Value.Evaluate(m.scope(a), m.options())
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return false
	}
	schedule, err := a.node.Timer.Schedule(value, m.env.Now.UTC())
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return false
	}
	if !m.after.IsZero() {
		left := false
		schedule, left, err = schedule.Behind(m.after)
		switch {
		case err != nil:
			m.stick(a, ExpressionFailed, err.Error())
			return false
		case !left:
			m.end(a)
			return false
		}
	}
	schedule.Start, schedule.Due = schedule.Start.UTC(), schedule.Due.UTC()
	if schedule.Interval != "" && schedule.Remaining != 1 {
		a.Cycle = &schedule
	}
	m.wait(a, Wait{Kind: ForTime, Due: schedule.Due})
	return false
}

// script evaluates the expression; its value is the token's result.
func (m *machine) script(a *active) bool {
	value, err := a.node.Script.Expression.Evaluate(m.scope(a), m.options())
	if err == nil {
		value, err = normalize(value)
	}
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return false
	}
	a.Phase, a.result = Completing, feel.NewContext(feel.Entry{Key: a.node.Script.ResultVariable, Value: value})
	return true
}

func (m *machine) emit(a *active) bool {
	payload, ok := m.payload(a)
	if !ok {
		return false
	}
	target, _ := a.node.Task.Header(EmitTarget)
	if m.env.Fits != nil {
		if err := m.env.Fits(target, payload); err != nil {
			m.stick(a, EmissionUnfit, err.Error())
			return false
		}
	}
	m.r.Emissions = append(m.r.Emissions, Emission{Target: target, Element: a.Element, Payload: payload})
	a.Phase = Completing
	return true
}

// publish throws a message to whatever waits for it. Without a correlation key only start events can be meant.
func (m *machine) publish(a *active) bool {
	name, ok := m.text(a, m.scope(a), a.node.Message.Name, "message name")
	if !ok {
		return false
	}
	key := ""
	if k := a.node.Message.CorrelationKey; k != nil {
		if key, ok = m.text(a, m.scope(a), *k, "correlation key"); !ok {
			return false
		}
	}
	payload, ok := m.payload(a)
	if !ok {
		return false
	}
	m.r.Emissions = append(m.r.Emissions, Emission{Target: ToInstances, Element: a.Element, Message: name, Key: key, Payload: payload})
	a.Phase = Completing
	return true
}

func (m *machine) payload(a *active) ([]byte, bool) {
	payload, err := feel.AppendJSON(nil, m.visible(a))
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
	}
	return payload, err == nil
}

// complete makes variables of the token's result.
func (m *machine) complete(a *active) bool {
	if err := m.assignResult(a); err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return false
	}
	a.Phase, a.result, a.Local, a.Job, a.Called, a.Cycle = Leaving, nil, nil, nil, "", nil
	return true
}
