package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/task"
)

// Status is how far an instance is.
type Status string

// The statuses. An instance with incidents is still running.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Canceled  Status = "canceled" // by an administrator
)

// Phase is what a token that does not run waits for, or where it is stuck.
type Phase string

// The phases of a token at a quiescent point.
const (
	// Waiting: for the wait with the token's generation.
	Waiting Phase = "waiting"
	// Entering: stuck before the element's work was done. Resolving does it again.
	Entering Phase = "entering"
	// Completing: stuck after the work, before its result became variables. Result keeps it, so resolving does
	// not do the work again.
	Completing Phase = "completing"
	// Leaving: stuck when choosing where to go on.
	Leaving Phase = "leaving"
	// Joining: at a parallel gateway, for the other incoming flows.
	Joining Phase = "joining"
	// Inside: of a subprocess or call activity, for the tokens inside; of an event-based gateway, for one of its events.
	Inside Phase = "inside"
)

// Token is one visit of an element.
type Token struct {
	// ID is unique within the instance and never reused. With the instance's id it is the key by which a
	// handler can tell a repeated attempt from a new visit.
	ID uint64 `json:"id"`
	// Scope is the token of the enclosing scope; 0 is the process itself.
	Scope uint64 `json:"scope,omitempty"`
	// Host is the token of the activity that this event is armed beside, or of the event-based gateway before it. The event ends
	// with its host.
	Host    uint64 `json:"host,omitempty"`
	Element string `json:"element"`
	Phase   Phase  `json:"phase"`
	// Wait is the generation of the open wait of a waiting token.
	Wait     uint64    `json:"wait,omitempty"`
	Incident *Incident `json:"incident,omitempty"`
	// Via is the flow by which a joining token came.
	Via string `json:"via,omitempty"`
	// Called is the process that a call activity started.
	Called string `json:"called,omitempty"`
	// Message and Key are what the token waits for, or waited for last: they are fixed when the element is entered. Behind says
	// that another token of the instance waits for the same, and messages go to that one.
	Message string `json:"message,omitempty"`
	Key     string `json:"key,omitempty"`
	Behind  bool   `json:"behind,omitempty"`
	// Armed says that the activity's boundary events stand beside it.
	Armed bool `json:"armed,omitempty"`
	// Cycle is the rest of a timer that repeats.
	Cycle *bpmn.Schedule `json:"cycle,omitempty"`
	// Job is the state of a task that a worker does or that is tried again.
	Job *Job `json:"job,omitempty"`
	// Local are the variables that the element's input mappings made; of a scope, its own.
	Local *Variables `json:"local,omitempty"`
	// Result is what a completing token's work returned.
	Result *Variables `json:"result,omitempty"`
}

// Job is how far a task is.
type Job struct {
	// Type is the task type that workers fetch; empty while a handler of this node is to be called again.
	Type string `json:"type,omitempty"`
	// Retries are the attempts left.
	Retries int `json:"retries"`
	// Failures are the calls of a handler that failed.
	Failures int `json:"failures,omitempty"`
	// At is when the task is offered.
	At    time.Time  `json:"at,omitzero"`
	Lease task.Lease `json:"lease,omitzero"`
	// Reason is why the last attempt failed.
	Reason string `json:"reason,omitempty"`
}

// Code says what kind of incident it is, for programs.
type Code string

// The codes.
const (
	NoTrueFlow       Code = "no-true-flow"      // no condition true, no default
	HandlerFailed    Code = "handler-failed"    // the handler returned an error
	HandlerPanicked  Code = "handler-panicked"  // the handler panicked
	RetriesExhausted Code = "retries-exhausted" // a worker failed for the last time
	ErrorUncaught    Code = "error-uncaught"    // nothing around catches the error
	NotCallable      Code = "not-callable"      // the process to call does not exist or has no none start event
	ExpressionFailed Code = "expression-failed" // an expression hit a bound or has a value that cannot be used
	StepBound        Code = "step-bound"        // the step visited too many elements: probably a loop
	DepthBound       Code = "depth-bound"       // subprocesses and calls nest too deep: probably a recursion
	TokenBound       Code = "token-bound"       // the instance has too many tokens
	EmissionUnfit    Code = "emission-unfit"    // the variables are no record of the relay that the task emits to
	AliasTaken       Code = "alias-taken"       // the correlation key is held by another open wait
)

// Incident is why a token is stuck.
type Incident struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Variables are the values of one scope, in the order of their first assignment. They hold what JSON
// can hold: whatever is assigned passes through JSON first, so an instance that was loaded behaves like one that
// was not.
type Variables struct{ *feel.Context }

// MarshalJSON writes the variables as one object.
func (v Variables) MarshalJSON() ([]byte, error) {
	return appendVariables(nil, &v)
}

// UnmarshalJSON reads one object.
func (v *Variables) UnmarshalJSON(data []byte) error {
	value, err := feel.ParseJSON(data)
	if err != nil {
		return fmt.Errorf("read variables: %w", err)
	}
	context, ok := value.(*feel.Context)
	if !ok {
		return fmt.Errorf("read variables: a %s where an object belongs", value.Kind())
	}
	v.Context = context
	return nil
}

// Snapshot is an instance at a quiescent point. It is a value: a step returns a new one.
type Snapshot struct {
	Flow   string `json:"flow"` // id of the process
	Status Status `json:"status"`
	// Steps counts the steps taken: 1 after the start.
	Steps uint64 `json:"steps"`
	// LastToken is the highest token id given out, LastWait the highest generation.
	LastToken uint64    `json:"last_token"`
	LastWait  uint64    `json:"last_wait"`
	Tokens    []Token   `json:"tokens"` // by id
	Variables Variables `json:"variables"`
	// Key is the business key that the instance was started with, and KeyWait the generation that holds it: no other instance
	// of the process is started with it meanwhile.
	Key     string `json:"key,omitempty"`
	KeyWait uint64 `json:"key_wait,omitempty"`
}

// ErrSnapshot is wrapped by every error of reading a snapshot.
var ErrSnapshot = errors.New("flow snapshot")

// version is that of the document format that Encode writes. Older ones stay readable.
const version = 1

type document struct {
	Version int `json:"version"`
	Snapshot
}

// Encode returns the snapshot as a document: JSON with a version first, fields in a fixed order, variables in theirs.
// Equal snapshots give equal bytes.
func (s *Snapshot) Encode() ([]byte, error) {
	data, err := s.append(make([]byte, 0, 512))
	if err != nil {
		return nil, fmt.Errorf("%w: write: %w", ErrSnapshot, err)
	}
	return data, nil
}

// Decode reads a document that Encode wrote.
func Decode(data []byte) (*Snapshot, error) {
	if s, ok := scanSnapshot(data); ok {
		return s, nil
	}
	return decode(data)
}

// decode is Decode of any document, those of a form that is not written any more among them.
func decode(data []byte) (*Snapshot, error) {
	var d document
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("%w: read: %w", ErrSnapshot, err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("%w: version %d is not known, only %d", ErrSnapshot, d.Version, version)
	}
	if d.Variables.Context == nil {
		d.Variables.Context = feel.NewContext()
	}
	return &d.Snapshot, nil
}

// Stuck reports whether a token is.
func (s *Snapshot) Stuck() bool {
	return slices.ContainsFunc(s.Tokens, func(t Token) bool { return t.Incident != nil })
}

// Incidents returns the stuck tokens, by id.
func (s *Snapshot) Incidents() []Token {
	var stuck []Token
	for _, t := range s.Tokens {
		if t.Incident != nil {
			stuck = append(stuck, t)
		}
	}
	return stuck
}
