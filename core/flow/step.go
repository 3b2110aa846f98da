package flow

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

// InputKind is what makes a step run.
type InputKind uint8

// The inputs.
const (
	Start    InputKind = iota // a new instance begins at the start event for Message
	Message                   // the message that Wait waits for; Payload is its content
	Due                       // the time that Wait waits for has come
	Complete                  // the user task that Wait waits for was done; Payload is its result
	Resolve                   // the incident of Token is to be tried again; Payload corrects variables
)

var inputNames = [...]string{"start", "message", "due timer", "completion", "resolve"}

// String names the input for people.
func (k InputKind) String() string {
	if int(k) < len(inputNames) {
		return inputNames[k]
	}
	return fmt.Sprintf("input(%d)", uint8(k))
}

// Input makes a step run.
type Input struct {
	Kind    InputKind
	Message string        // Start: name of the message that starts, "" for the none start event
	Wait    uint64        // Message, Due, Complete: generation
	Token   uint64        // Resolve
	Payload *feel.Context // may be nil
}

// Call is one call of a handler.
type Call struct {
	Instance  string
	Token     uint64 // (Instance, Token) is the same in every attempt at this visit: the key for idempotency
	Element   string
	Type      string
	Headers   []bpmn.Header
	Variables *feel.Context
}

// ErrNoHandler is what Environment.Call returns when no handler has the type.
var ErrNoHandler = errors.New("no handler for this task type")

// Environment is everything outside of the instance that a step depends on.
type Environment struct {
	Instance string
	Now      time.Time
	// Call runs a handler. A panic in it becomes an incident.
	Call func(Call) (*feel.Context, error)
	// MaxVisits bounds the elements that one step visits; 0 means DefaultVisits.
	MaxVisits int
	// Limits bounds each expression.
	Limits feel.Limits
}

// DefaultVisits is how many elements a step visits at most unless told otherwise.
const DefaultVisits = 1000

// WaitKind is what a wait waits for.
type WaitKind string

// The kinds of waits.
const (
	ForMessage WaitKind = "message"
	ForTime    WaitKind = "time"
	ForTask    WaitKind = "task"
)

// Wait is a wait that a step opened.
type Wait struct {
	Generation uint64
	Token      uint64
	Element    string
	Kind       WaitKind
	Message    string    // ForMessage
	Key        string    // ForMessage
	Due        time.Time // ForTime
}

// Emission is what a step emits, in the order of Result.Emissions.
type Emission struct {
	Target  string
	Element string
	Payload []byte // JSON
}

// Result is what a step came to. All of it takes effect, or nothing of it.
type Result struct {
	Snapshot  *Snapshot
	Open      []Wait   // by generation
	Close     []uint64 // by generation
	Emissions []Emission
	// Visited are the ids of the elements that tokens entered, in order.
	Visited []string
	// Raised are the tokens that got stuck in this step.
	Raised []Token
}

// Refusals of an input. The instance is unchanged, and another input may fit.
var (
	ErrNoWait     = errors.New("the instance does not wait for this")
	ErrNoIncident = errors.New("the token has no incident")
	ErrNoStart    = errors.New("the flow has no such start event")
	ErrEnded      = errors.New("the instance has ended")
	// ErrNoElement: the snapshot names an element that the definition lacks; it belongs to another one.
	ErrNoElement = errors.New("the definition has no such element")
)

// Step runs the instance from in to its next quiescent point. s is nil for a Start, and is not changed. The
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
	d     *Definition
	env   Environment
	s     Snapshot
	ready []active // first in, first out: tokens advance in the order in which they became ready
	r     Result
	spent int // elements visited
}

// active is a token that runs.
type active struct {
	Token
	node   *bpmn.Node
	result *feel.Context
}

func (m *machine) begin(s *Snapshot, in Input) error {
	if in.Kind == Start {
		return m.start(in)
	}
	if s.Status != Running {
		return ErrEnded
	}
	m.s = *s
	m.s.Tokens = slices.Clone(s.Tokens)
	m.s.Steps++
	if in.Kind == Resolve {
		return m.resolve(in)
	}
	return m.resume(in)
}

func (m *machine) start(in Input) error {
	at, ok := m.d.start(in.Message)
	if !ok {
		return fmt.Errorf("message %q: %w", in.Message, ErrNoStart)
	}
	m.s = Snapshot{Flow: m.d.ID(), Status: Running, Steps: 1, Variables: Variables{feel.NewContext()}}
	a := m.spawn(at)
	a.Phase, a.result = Completing, in.Payload
	m.ready = append(m.ready, a)
	return nil
}

// resume takes the token that waits with the input's generation.
func (m *machine) resume(in Input) error {
	t, ok := m.s.WaitingOn(in.Wait)
	if !ok {
		return fmt.Errorf("wait %d: %w", in.Wait, ErrNoWait)
	}
	a, err := m.activate(t)
	if err != nil {
		return err
	}
	if endedBy(a.node.Kind) != in.Kind {
		return fmt.Errorf("wait %d at the %s %s: %w", in.Wait, a.node.Kind, a.Element, ErrNoWait)
	}
	m.r.Close = append(m.r.Close, t.Wait)
	a.Phase, a.Wait, a.result = Completing, 0, in.Payload
	m.ready = append(m.ready, a)
	return nil
}

// endedBy is the input that ends the wait of an element of this kind.
func endedBy(k bpmn.Kind) InputKind {
	switch k {
	case bpmn.TimerCatchEvent:
		return Due
	case bpmn.UserTask:
		return Complete
	default:
		return Message
	}
}

// resolve takes a stuck token up where it was stuck.
func (m *machine) resolve(in Input) error {
	i := slices.IndexFunc(m.s.Tokens, func(t Token) bool { return t.ID == in.Token && t.Incident != nil })
	if i < 0 {
		return fmt.Errorf("token %d: %w", in.Token, ErrNoIncident)
	}
	a, err := m.activate(m.s.Tokens[i])
	if err != nil {
		return err
	}
	a.Incident = nil
	if a.Result != nil {
		a.result, a.Result = a.Result.Context, nil
	}
	if in.Payload != nil {
		if err := m.assign(in.Payload); err != nil {
			return err
		}
	}
	m.ready = append(m.ready, a)
	return nil
}

// activate takes a resting token out of the snapshot.
func (m *machine) activate(t Token) (active, error) {
	at, ok := m.d.byID[t.Element]
	if !ok {
		return active{}, fmt.Errorf("element %s: %w", t.Element, ErrNoElement)
	}
	m.s.Tokens = slices.DeleteFunc(m.s.Tokens, func(x Token) bool { return x.ID == t.ID })
	return active{Token: t, node: m.d.process.Nodes[at]}, nil
}

// spawn makes a token that enters the element.
func (m *machine) spawn(at int) active {
	m.s.LastToken++
	n := m.d.process.Nodes[at]
	m.r.Visited = append(m.r.Visited, n.ID)
	return active{Token: Token{ID: m.s.LastToken, Element: n.ID, Phase: Entering}, node: n}
}

// run advances tokens until none is ready. A step that visits too many elements leaves each token that
// is still ready with an incident, so a loop without a wait ends as visibly as any other fault.
func (m *machine) run() {
	for len(m.ready) > 0 {
		a := m.ready[0]
		m.ready = m.ready[1:]
		if m.spent >= m.env.MaxVisits {
			m.stick(&a, StepBound, fmt.Sprintf("the step visited %d elements and has not come to rest", m.spent))
			continue
		}
		m.spent++
		m.advance(&a)
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
	m.leave(a)
}

// rest puts a token into the snapshot.
func (m *machine) rest(a *active) {
	at, _ := slices.BinarySearchFunc(m.s.Tokens, a.ID, func(t Token, id uint64) int {
		return int(min(max(int64(t.ID)-int64(id), -1), 1))
	})
	m.s.Tokens = slices.Insert(m.s.Tokens, at, a.Token)
}

// stick leaves the token where it is, with an incident. A result that was not yet assigned stays with it.
func (m *machine) stick(a *active, code Code, reason string) {
	a.Incident = &Incident{Code: code, Message: reason}
	if a.Phase == Completing && a.result != nil {
		a.Result = &Variables{a.result}
	}
	m.rest(a)
	m.r.Raised = append(m.r.Raised, a.Token)
}

func (m *machine) finish() *Result {
	if len(m.s.Tokens) == 0 {
		m.s.Status = Completed
	}
	m.r.Snapshot = &m.s
	return &m.r
}

// Refuse takes back a wait that this result opened, because the store refused its correlation key: the
// token is stuck with an incident instead, and resolving enters the element again.
func (r *Result) Refuse(generation uint64, reason string) {
	s := *r.Snapshot
	s.Tokens = slices.Clone(s.Tokens)
	for i := range s.Tokens {
		if t := &s.Tokens[i]; t.Phase == Waiting && t.Wait == generation {
			t.Phase, t.Wait = Entering, 0
			t.Incident = &Incident{Code: AliasTaken, Message: reason}
			r.Raised = append(r.Raised, *t)
		}
	}
	r.Open = slices.DeleteFunc(r.Open, func(w Wait) bool { return w.Generation == generation })
	r.Snapshot = &s
}
