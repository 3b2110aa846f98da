package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// Step runs the instance from in to its next quiescent point. s is nil for a Start or Schedule, and is not changed. The
// error is a refusal; whatever goes wrong on the way is an incident in the result.
func Step(d *Definition, s *Snapshot, in Input, env Environment) (*Result, error) {
	if env.MaxVisits == 0 {
		env.MaxVisits = DefaultVisits
	}
	m := &machine{d: d, env: env}
	if err := m.begin(s, in); err != nil {
		return nil, fmt.Errorf("step instance %s by %s: %w", env.Instance, in.Kind, err)
	}
	m.run()
	return m.finish(), nil
}

// machine is one step under way.
type machine struct {
	d      *Definition
	env    Environment
	s      Snapshot  // but for its tokens, which finish writes
	tokens []*active // by id; ended ones stay until finish
	ready  []*active // first in, first out: tokens advance in the order in which they became ready
	raised []*active // in the order in which they got stuck
	r      Result
	spent  int       // elements visited
	after  time.Time // of the input
}

// active is a token of the machine.
type active struct {
	Token
	in     *Definition // the process of its element
	inner  *Definition // of a scope: the process of the elements inside
	node   *bpmn.Node
	result *feel.Context
	ended  bool
}

func (m *machine) begin(s *Snapshot, in Input) error {
	switch in.Kind {
	case Start:
		return m.start(in)
	case Schedule:
		return m.schedule(in)
	default:
	}
	if s.Status != Running {
		return ErrEnded
	}
	m.s = *s
	m.s.Tokens = nil
	m.s.Steps++
	if in.Kind == Cancel {
		return m.cancel(s.Tokens, in)
	}
	if err := m.load(s.Tokens); err != nil {
		return err
	}
	if in.Kind == Resolve {
		return m.resolve(in)
	}
	return m.resume(in)
}

// load joins the tokens of the snapshot with the elements of the definition. A scope stands before what is inside.
func (m *machine) load(tokens []Token) error {
	m.tokens = make([]*active, 0, len(tokens)+4)
	for _, t := range tokens {
		a := &active{Token: t, in: m.d}
		if scope := m.token(t.Scope); scope != nil {
			a.in = scope.inner
		}
		at, ok := a.in.byID[t.Element]
		if !ok {
			return fmt.Errorf("element %s: %w", t.Element, ErrNoElement)
		}
		a.node, a.inner = a.in.process.Nodes[at], a.in
		if t.Called != "" {
			if a.inner = m.d.called[t.Called]; a.inner == nil {
				return fmt.Errorf("process %s, called by element %s: %w", t.Called, t.Element, ErrNoElement)
			}
		}
		m.tokens = append(m.tokens, a)
	}
	return nil
}

func (m *machine) start(in Input) error {
	at, ok := m.d.start(in.Message)
	if in.Element != "" {
		at, ok = m.d.byID[in.Element]
		ok = ok && slices.Contains(m.d.process.Starts, at)
	}
	if !ok {
		return fmt.Errorf("message %q: %w", in.Message+in.Element, ErrNoStart)
	}
	m.s = Snapshot{Flow: m.d.ID(), Status: Running, Steps: 1, Variables: Variables{feel.NewContext()}}
	a := m.spawn(m.d, at, 0)
	a.Phase, a.result = Completing, in.Payload
	m.ready = append(m.ready, a)
	return nil
}

// schedule begins an instance that does nothing but start others: its one token waits at the timer start event.
func (m *machine) schedule(in Input) error {
	at, ok := m.d.byID[in.Element]
	if !ok || m.d.process.Nodes[at].Kind != bpmn.TimerStartEvent {
		return fmt.Errorf("timer start event %q: %w", in.Element, ErrNoStart)
	}
	m.s = Snapshot{Flow: m.d.ID(), Status: Running, Steps: 1, Variables: Variables{feel.NewContext()}}
	m.ready = append(m.ready, m.spawn(m.d, at, 0))
	m.after = in.After
	return nil
}

// resolve takes a stuck token up where it was stuck.
func (m *machine) resolve(in Input) error {
	a := m.token(in.Token)
	if a == nil || a.Incident == nil {
		return fmt.Errorf("token %d: %w", in.Token, ErrNoIncident)
	}
	a.Incident = nil
	if a.Result != nil {
		a.result, a.Result = a.Result.Context, nil
	}
	if in.Payload != nil {
		if err := m.assign(a, in.Payload); err != nil {
			return err
		}
	}
	m.ready = append(m.ready, a)
	return nil
}

// cancel ends the instance wherever it is, also one whose definition is not known. A called flow is part of the instance that
// calls it.
func (m *machine) cancel(tokens []Token, in Input) error {
	for _, t := range tokens {
		m.tokens = append(m.tokens, &active{Token: t})
	}
	if a := m.token(in.Token); in.Token != 0 && (a == nil || a.Called == "") {
		return fmt.Errorf("token %d: %w", in.Token, ErrNoWait)
	} else if in.Token != 0 {
		return fmt.Errorf("token %d, process %s: %w", in.Token, a.Called, ErrCalled)
	}
	m.endScope(0)
	m.s.Status = Canceled
	return nil
}

// run advances tokens until none is ready. A step that visits too many elements leaves each token that
// is still ready with an incident, so a loop without a wait ends as visibly as any other fault.
func (m *machine) run() {
	for len(m.ready) > 0 {
		a := m.ready[0]
		m.ready = m.ready[1:]
		if a.ended {
			continue
		}
		if m.spent >= m.env.MaxVisits {
			m.stick(a, StepBound, fmt.Sprintf("the step visited %d elements and has not come to rest", m.spent))
			continue
		}
		m.spent++
		m.advance(a)
	}
}

// advance takes a token through the phases of its element, from where it stands.
func (m *machine) advance(a *active) {
	if a.Phase == Entering && !m.enter(a) {
		return
	}
	if a.Phase == Completing && !m.complete(a) {
		return
	}
	if a.Phase == Leaving {
		m.leave(a)
	}
}

// finish writes the tokens that are left, and closes what holds the business key when none is.
func (m *machine) finish() *Result {
	m.succeed()
	for _, a := range m.tokens {
		if !a.ended {
			m.s.Tokens = append(m.s.Tokens, a.Token)
		}
	}
	if len(m.s.Tokens) == 0 {
		m.s.Tokens = []Token{}
		if m.s.Status == Running {
			m.s.Status = Completed
		}
	}
	for _, a := range m.raised {
		if !a.ended && a.Incident != nil {
			m.r.Raised = append(m.r.Raised, a.Token)
		}
	}
	m.r.Snapshot = &m.s
	return &m.r
}

// Refuse takes back a wait that this result opened, because the store refused its correlation key: the
// token is stuck with an incident instead, and resolving enters the element again. Tokens that wait behind it are stuck with it:
// no message would find them.
func (r *Result) Refuse(generation uint64, reason string) {
	s := *r.Snapshot
	s.Tokens = slices.Clone(s.Tokens)
	refused := slices.IndexFunc(s.Tokens, func(t Token) bool { return t.Phase == Waiting && t.Wait == generation })
	if refused < 0 {
		return
	}
	first := s.Tokens[refused]
	for i := range s.Tokens {
		t := &s.Tokens[i]
		behind := t.Behind && t.Phase == Waiting && t.Message == first.Message && t.Key == first.Key && s.ProcessOf(*t) == s.ProcessOf(first)
		if i != refused && !behind {
			continue
		}
		if opened := slices.IndexFunc(r.Open, func(w Wait) bool { return w.Generation == t.Wait }); opened >= 0 {
			r.Open = slices.Delete(r.Open, opened, opened+1)
		} else {
			r.Close = append(r.Close, t.Wait)
		}
		t.Phase, t.Wait, t.Behind = Entering, 0, false
		t.Incident = &Incident{Code: AliasTaken, Message: reason}
		r.Raised = append(r.Raised, *t)
	}
	r.Snapshot = &s
}

// ProcessOf is the id of the process that a token's element belongs to.
func (s *Snapshot) ProcessOf(t Token) string {
	for t.Scope != 0 {
		at, ok := slices.BinarySearchFunc(s.Tokens, t.Scope, func(t Token, id uint64) int { return cmp.Compare(t.ID, id) })
		if !ok {
			break
		}
		if t = s.Tokens[at]; t.Called != "" {
			return t.Called
		}
	}
	return s.Flow
}

// HoldKey makes a started instance the one that holds its business key: no other of its process is started with the key until
// it has ended.
func (r *Result) HoldKey(key string) {
	s := *r.Snapshot
	if s.Status != Running {
		return
	}
	s.LastWait++
	s.Key, s.KeyWait = key, s.LastWait
	r.Open = append(r.Open, Wait{Generation: s.LastWait, Element: s.Flow, Kind: ForMessage, Flow: s.Flow, Key: key})
	r.Snapshot = &s
}

// errUnfit is wrapped by the reasons for which a value cannot be used.
var errUnfit = errors.New("value cannot be used")
