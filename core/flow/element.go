package flow

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// enter does the element's work, and reports whether the token goes on at once.
func (m *machine) enter(a *active) bool {
	if !m.mapInputs(a) {
		return false
	}
	switch a.node.Kind {
	case bpmn.NoneEndEvent:
		return false // the token is consumed
	case bpmn.ServiceTask:
		if emits(a.node) {
			return m.emit(a)
		}
		return m.call(a)
	case bpmn.UserTask:
		m.wait(a, Wait{Kind: ForTask})
		return false
	case bpmn.MessageCatchEvent, bpmn.ReceiveTask:
		m.waitForMessage(a)
		return false
	case bpmn.TimerCatchEvent:
		m.waitForTime(a)
		return false
	default: // NewDefinition lets no other kind through that does more than pass the token on
		a.Phase = Leaving
		return true
	}
}

// wait opens a wait and rests the token on it.
func (m *machine) wait(a *active, w Wait) {
	m.s.LastWait++
	w.Generation, w.Token, w.Element = m.s.LastWait, a.ID, a.Element
	a.Phase, a.Wait = Waiting, w.Generation
	m.r.Open = append(m.r.Open, w)
	m.rest(a)
}

// waitForMessage opens the wait. Name and key are evaluated once, here, in the scope that the element stands in.
func (m *machine) waitForMessage(a *active) {
	message := a.node.Message
	name, ok := m.text(a, message.Name, "message name")
	if !ok {
		return
	}
	if message.CorrelationKey == nil {
		m.stick(a, ExpressionFailed, "the message has no correlation key")
		return
	}
	if key, ok := m.text(a, *message.CorrelationKey, "correlation key"); ok {
		m.wait(a, Wait{Kind: ForMessage, Message: name, Key: key})
	}
}

// text evaluates an attribute that must be a text or a number that is not empty.
func (m *machine) text(a *active, attribute feel.Attribute, what string) (string, bool) {
	value, err := attribute.Evaluate(m.s.Variables.Context, m.options())
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

func (m *machine) waitForTime(a *active) {
	value, err := a.node.Timer.Value.Evaluate(m.scope(a), m.options())
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return
	}
	schedule, err := a.node.Timer.Schedule(value, m.env.Now)
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return
	}
	m.wait(a, Wait{Kind: ForTime, Due: schedule.Due.UTC()})
}

// call runs the task's handler. What it returns is the token's result.
func (m *machine) call(a *active) bool {
	job, ok := m.text(a, a.node.Task.Type, "task type")
	if !ok {
		return false
	}
	result, err := m.guarded(Call{
		Instance: m.env.Instance, Token: a.ID, Element: a.Element, Type: job,
		Headers: a.node.Task.Headers, Variables: m.visible(a),
	})
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		m.stick(a, HandlerPanicked, err.Error())
	case errors.Is(err, ErrNoHandler):
		m.stick(a, HandlerMissing, fmt.Sprintf("%v: %q", ErrNoHandler, job))
	case err != nil:
		m.stick(a, HandlerFailed, err.Error())
	default:
		a.Phase, a.result = Completing, result
		return true
	}
	return false
}

// panicError is a panic of a handler.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("the handler panicked: %v", p.value) }

// guarded turns a panic of the handler into an error: one bad handler must not take a lane down.
func (m *machine) guarded(c Call) (result *feel.Context, err error) {
	if m.env.Call == nil {
		return nil, ErrNoHandler
	}
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	return m.env.Call(c)
}

func (m *machine) emit(a *active) bool {
	payload, err := feel.AppendJSON(nil, m.visible(a))
	if err != nil {
		m.stick(a, ExpressionFailed, err.Error())
		return false
	}
	target, _ := a.node.Task.Header(EmitTarget)
	m.r.Emissions = append(m.r.Emissions, Emission{Target: target, Element: a.Element, Payload: payload})
	a.Phase = Leaving
	return true
}

// complete makes variables of the token's result.
func (m *machine) complete(a *active) bool {
	if a.result != nil {
		if err := m.assignResult(a); err != nil {
			m.stick(a, ExpressionFailed, err.Error())
			return false
		}
	}
	a.Phase, a.result, a.Local = Leaving, nil, nil
	return true
}

// leave sends the token on: along the chosen sequences, each with a token of its own, or nowhere, which ends it.
func (m *machine) leave(a *active) {
	chosen, reason, ok := m.choose(a)
	if !ok {
		m.stick(a, reason.Code, reason.Message)
		return
	}
	for _, i := range chosen {
		m.ready = append(m.ready, m.spawn(m.d.process.Flows[i].Target))
	}
}

// choose returns the flows to take: of an exclusive gateway the first in document order whose condition is true or that has
// none, elsewhere all. The default is taken when no other is; its own condition is never evaluated.
func (m *machine) choose(a *active) ([]int, Incident, bool) {
	n := a.node
	if n.Kind != bpmn.ExclusiveGateway || len(n.Outgoing) == 0 {
		return n.Outgoing, Incident{}, true
	}
	for _, i := range n.Outgoing {
		flow := m.d.process.Flows[i]
		if i == n.Default {
			continue
		}
		taken := flow.Condition == nil
		if !taken {
			var err error
			if taken, err = flow.Condition.Holds(m.scope(a), m.options()); err != nil {
				return nil, Incident{ExpressionFailed, fmt.Sprintf("condition of flow %s: %v", flow.ID, err)}, false
			}
		}
		if taken {
			return []int{i}, Incident{}, true
		}
	}
	if n.Default != bpmn.Outside {
		return []int{n.Default}, Incident{}, true
	}
	return nil, Incident{NoTrueFlow, "no condition of an outgoing flow is true and there is no default"}, false
}
