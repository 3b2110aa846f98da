package flow

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// enterScope begins a subprocess or a called process: the token stays, and a token inside begins at the start event.
func (m *machine) enterScope(a *active) bool {
	if depth := m.depth(a); depth >= MaxDepth {
		m.stick(a, DepthBound, fmt.Sprintf("%d scopes are nested already", depth))
		return false
	}
	start := a.node.Start
	if a.node.Kind == bpmn.CallActivity {
		id, ok := m.text(a, m.scope(a), a.node.Called.ProcessID, "process to call")
		if !ok {
			return false
		}
		if reason := m.d.calledFault(id); reason != "" {
			m.stick(a, NotCallable, reason)
			return false
		}
		a.Called, a.inner = id, m.d.called[id]
		a.Local = &Variables{m.handed(a)}
		start, _ = a.inner.start("")
	}
	a.Phase = Inside
	m.ready = append(m.ready, m.spawn(a.inner, start, a.ID))
	return false
}

// depth is the number of scopes around the token.
func (m *machine) depth(a *active) (depth int) {
	for s := m.token(a.Scope); s != nil; s = m.token(s.Scope) {
		depth++
	}
	return depth
}

// handed are the variables that a called process begins with.
func (m *machine) handed(a *active) *feel.Context {
	handed := feel.NewContext()
	if a.node.Called.PropagateParent {
		handed = m.flat(a)
	}
	if len(a.node.Inputs) > 0 && a.Local != nil {
		handed = with(handed, a.Local.Context)
	}
	return handed
}

// emptied completes a scope when no token stands in it any more. The process itself ends with the step.
func (m *machine) emptied(scope uint64) {
	a := m.token(scope)
	if a == nil {
		return
	}
	for _, o := range m.tokens {
		if !o.ended && o.Scope == scope {
			return
		}
	}
	a.Phase = Completing
	if a.Called != "" && (a.node.Called.PropagateChild || len(a.node.Outputs) > 0) {
		a.result = a.Local.Context
	}
	m.ready = append(m.ready, a)
}

// throwError ends the innermost activity around the token that catches the code, and goes on at its boundary event. Without one
// the token is stuck where it is. It always returns false: the token that was thrown from does not go on.
func (m *machine) throwError(a *active, code, reason string, variables *feel.Context) bool {
	for at := a; at != nil; at = m.token(at.Scope) {
		event := catcher(at, code)
		if event == bpmn.Outside {
			continue
		}
		in, scope := at.in, at.Scope
		m.end(at)
		caught := m.spawn(in, event, scope)
		caught.Phase, caught.result = Completing, variables
		m.ready = append(m.ready, caught)
		return false
	}
	m.stick(a, ErrorUncaught, fmt.Sprintf("nothing catches the error %q: %s", code, reason))
	return false
}

// catcher returns the boundary event of an activity that catches the code: the one that names it before the one that names none.
func catcher(a *active, code string) int {
	every := bpmn.Outside
	for _, i := range a.node.Boundary {
		switch n := a.in.process.Nodes[i]; {
		case n.Kind != bpmn.ErrorBoundaryEvent:
		case n.Error == nil:
			every = i
		case n.Error.Code == code:
			return i
		}
	}
	return every
}
