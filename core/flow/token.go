package flow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
)

// token returns the token with the id that has not ended, or nil; there is none with the id 0.
func (m *machine) token(id uint64) *active {
	at, ok := slices.BinarySearchFunc(m.tokens, id, func(a *active, id uint64) int { return cmp.Compare(a.ID, id) })
	if !ok || m.tokens[at].ended {
		return nil
	}
	return m.tokens[at]
}

// waiting returns the token that waits with this generation, or nil.
func (m *machine) waiting(generation uint64) *active {
	for _, a := range m.tokens {
		if !a.ended && a.Phase == Waiting && a.Wait == generation {
			return a
		}
	}
	return nil
}

// spawn makes a token that enters the element.
func (m *machine) spawn(in *Definition, at int, scope uint64) *active {
	a := m.place(in, at, scope)
	m.r.Visited = append(m.r.Visited, a.Element)
	return a
}

// place makes a token that has not visited its element yet.
func (m *machine) place(in *Definition, at int, scope uint64) *active {
	m.s.LastToken++
	n := in.process.Nodes[at]
	a := &active{Token: Token{ID: m.s.LastToken, Scope: scope, Element: n.ID, Phase: Entering}, in: in, inner: in, node: n}
	m.tokens = append(m.tokens, a)
	return a
}

// stick leaves the token where it is, with an incident. A result that was not yet assigned stays with it.
func (m *machine) stick(a *active, code Code, reason string) {
	a.Incident = &Incident{Code: code, Message: reason}
	if a.Phase == Completing && a.result != nil {
		a.Result = &Variables{a.result}
	}
	m.raised = append(m.raised, a)
}

// end removes the token, what is inside it and what is armed beside it. What they wait for is closed.
func (m *machine) end(a *active) {
	if a.Phase == Leaving && !a.Armed {
		a.ended = true // nothing is inside any more, and it waits for nothing
		return
	}
	gone := map[uint64]bool{} // only looked up
	m.endOne(a, gone)
	for _, other := range m.tokens {
		if !other.ended && (gone[other.Scope] || gone[other.Host]) {
			m.endOne(other, gone)
		}
	}
}

func (m *machine) endOne(a *active, gone map[uint64]bool) {
	a.ended = true
	gone[a.ID] = true
	m.closeWait(a)
}

// endScope ends every token that stands in the scope.
func (m *machine) endScope(scope uint64) {
	for _, a := range m.tokens {
		if !a.ended && a.Scope == scope {
			m.end(a)
		}
	}
}

// wait opens a wait and rests the token on it.
func (m *machine) wait(a *active, w Wait) {
	m.s.LastWait++
	w.Generation, w.Token, w.Element = m.s.LastWait, a.ID, a.Element
	a.Phase, a.Wait = Waiting, w.Generation
	m.r.Open = append(m.r.Open, w)
}

// closeWait closes what the token waits for. A wait of this very step was never open to the outside.
func (m *machine) closeWait(a *active) {
	if a.Phase != Waiting || a.Wait == 0 {
		return
	}
	if a.Job != nil && a.Job.Type != "" {
		m.offer(a, time.Time{})
	}
	generation := a.Wait
	a.Wait = 0
	if i := slices.IndexFunc(m.r.Open, func(w Wait) bool { return w.Generation == generation }); i >= 0 {
		m.r.Open = slices.Delete(m.r.Open, i, i+1)
		return
	}
	m.r.Close = append(m.r.Close, generation)
}

// offer says when the external task of the token is offered to workers; the zero time withdraws it.
func (m *machine) offer(a *active, at time.Time) {
	i := slices.IndexFunc(m.r.Offers, func(o Offer) bool { return o.Wait == a.Wait })
	if i < 0 {
		i = len(m.r.Offers)
		m.r.Offers = append(m.r.Offers, Offer{Wait: a.Wait, Type: a.Job.Type, Was: a.Job.At})
	}
	m.r.Offers[i].At = at
	if o := m.r.Offers[i]; o.At.Equal(o.Was) {
		m.r.Offers = slices.Delete(m.r.Offers, i, i+1)
	}
	job := *a.Job
	job.At = at
	a.Job = &job
}

// leave sends the token on: along the chosen sequences, each with a token of its own, or nowhere, which ends it.
func (m *machine) leave(a *active) {
	chosen, reason, ok := m.choose(a)
	if !ok {
		m.stick(a, reason.Code, reason.Message)
		return
	}
	if len(m.tokens)+len(chosen) > MaxTokens {
		if alive := m.alive(); alive+len(chosen) > MaxTokens {
			m.stick(a, TokenBound, fmt.Sprintf("the instance has %d tokens already", alive))
			return
		}
	}
	m.end(a)
	for _, i := range chosen {
		next := m.spawn(a.in, a.in.process.Flows[i].Target, a.Scope)
		if next.node.Kind == bpmn.ParallelGateway && len(next.node.Incoming) > 1 {
			next.Via = flowName(a.in.process.Flows[i])
		}
		m.ready = append(m.ready, next)
	}
	if len(chosen) == 0 {
		m.emptied(a.Scope)
	}
}

func (m *machine) alive() (n int) {
	for _, a := range m.tokens {
		if !a.ended {
			n++
		}
	}
	return n
}

// flowName is the flow's id, or its place in the file when it has none.
func flowName(f *bpmn.Flow) string {
	if f.ID != "" {
		return f.ID
	}
	return fmt.Sprintf("#%d", f.Index)
}

// choose returns the flows to take: of an exclusive gateway the first in document order whose condition is true or that has
// none, elsewhere all. The default is taken when no other is; its own condition is never evaluated.
func (m *machine) choose(a *active) ([]int, Incident, bool) {
	n := a.node
	if n.Kind != bpmn.ExclusiveGateway || len(n.Outgoing) == 0 {
		return n.Outgoing, Incident{}, true
	}
	for _, i := range n.Outgoing {
		flow := a.in.process.Flows[i]
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

// join rests the token at a parallel gateway until every incoming flow holds one. A second token on a flow waits for the next
// round. It reports whether the token goes on for all of them.
func (m *machine) join(a *active) bool {
	if len(a.node.Incoming) < 2 {
		a.Phase = Leaving
		return true
	}
	a.Phase = Joining
	var joined []*active
	for _, i := range a.node.Incoming {
		via := flowName(a.in.process.Flows[i])
		at := slices.IndexFunc(m.tokens, func(o *active) bool {
			return !o.ended && o.node == a.node && o.Scope == a.Scope && o.Phase == Joining && o.Via == via
		})
		if at < 0 {
			return false
		}
		joined = append(joined, m.tokens[at])
	}
	for _, other := range joined {
		if other != a {
			m.end(other)
		}
	}
	a.Phase, a.Via = Leaving, ""
	return true
}
