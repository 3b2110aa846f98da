package flow

import (
	"encoding/json"
	"fmt"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// resume gives the input to the token that waits with its generation.
func (m *machine) resume(in Input) error {
	a := m.waiting(in.Wait)
	if a == nil || in.Wait == 0 {
		return fmt.Errorf("wait %d: %w", in.Wait, ErrNoWait)
	}
	if w := a.waitsFor(); !accepts(w, in.Kind) || w == ForTask && in.Lock != 0 { // a user task has no lock: the answer is to something else
		return fmt.Errorf("wait %d at the %s %s: %w", in.Wait, a.node.Kind, a.Element, ErrNoWait)
	}
	switch {
	case a.waitsFor() == ForWorker:
		return m.worker(a, in)
	case a.Job != nil: // a handler is to be called again
		m.closeWait(a)
		a.Phase = Entering
		m.ready = append(m.ready, a)
		return nil
	}
	m.closeWait(a)
	m.happen(a, in.Payload)
	return nil
}

// waitsFor is what the token's wait is for.
func (a *active) waitsFor() WaitKind {
	switch {
	case a.Job != nil && a.Job.Type != "":
		return ForWorker
	case a.Job != nil || a.node.Kind.HasTimer():
		return ForTime
	case a.node.Kind == bpmn.UserTask:
		return ForTask
	default:
		return ForMessage
	}
}

// accepts reports whether the input is one for such a wait.
func accepts(w WaitKind, in InputKind) bool {
	switch w {
	case ForMessage:
		return in == Message
	case ForTime:
		return in == Due
	case ForTask:
		return in == Complete
	default:
		return in == Complete || in == Lock || in == Extend || in == Fail || in == Throw
	}
}

// happen goes on from what was waited for. An event that is armed beside another token ends that one, or, when it does not
// interrupt, goes on beside it.
func (m *machine) happen(a *active, payload *feel.Context) {
	host := m.token(a.Host)
	switch {
	case a.node.Kind == bpmn.TimerStartEvent:
		m.tick(a)
		return
	case host == nil:
	case host.node.Kind.IsActivity() && !a.node.Interrupting:
		m.branch(a, payload)
		return
	default:
		a.Host = 0
		m.end(host)
		m.r.Visited = append(m.r.Visited, a.Element)
	}
	a.Phase, a.result = Completing, payload
	m.ready = append(m.ready, a)
}

// branch starts what follows a boundary event that does not interrupt, and arms the event again if it may happen again.
func (m *machine) branch(a *active, payload *feel.Context) {
	fired := m.spawn(a.in, a.node.Index, a.Scope)
	fired.Phase, fired.result = Completing, payload
	m.ready = append(m.ready, fired)
	if a.node.Kind == bpmn.MessageBoundaryEvent {
		m.waitAgain(a)
		return
	}
	m.again(a)
}

// again waits for the next time of a cycle, or ends the token after the last. Times that were missed do not count.
func (m *machine) again(a *active) {
	if a.Cycle == nil {
		m.end(a)
		return
	}
	next, more, err := a.Cycle.Next(m.env.Now.UTC())
	switch {
	case err != nil:
		a.Phase = Entering
		m.stick(a, ExpressionFailed, err.Error())
	case !more:
		m.end(a)
	default:
		next.Due = next.Due.UTC()
		a.Cycle = &next
		m.wait(a, Wait{Kind: ForTime, Due: next.Due})
	}
}

// ToStartPayload is the payload of an emission to ToStart.
type ToStartPayload struct {
	Flow    string `json:"flow"`
	Element string `json:"element"`
}

// tick starts an instance for a timer start event that has come due.
func (m *machine) tick(a *active) {
	payload, err := json.Marshal(ToStartPayload{m.d.ID(), a.Element})
	if err != nil {
		// Two texts always have a JSON form.
		panic(fmt.Sprintf("flow: payload of timer start event %s: %v", a.Element, err))
	}
	m.r.Emissions = append(m.r.Emissions, Emission{Target: ToStart, Element: a.Element, Payload: payload})
	m.again(a)
}
