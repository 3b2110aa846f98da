package flow

import (
	"errors"
	"fmt"
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
	Complete                  // the user task or external task of Wait was done; Payload is its result
	Resolve                   // the incident of Token is to be tried again; Payload corrects variables
	Lock                      // Worker takes the external task of Wait until Until
	Extend                    // the holder keeps the external task until Until
	Fail                      // the holder gives the external task up, with Retries left and available again at Until
	Throw                     // the holder throws the BPMN error Code with Payload
	Cancel                    // the instance ends
	Schedule                  // a new instance that starts others whenever the timer start event Element is due
)

var inputNames = [...]string{
	"start", "message", "due timer", "completion", "resolve", "lock", "extension", "failure", "error", "cancel", "schedule",
}

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
	Element string        // Schedule: id of the start event; Start: of the timer start event that starts, else empty
	Wait    uint64        // all but Start, Resolve, Cancel and Schedule: generation
	Token   uint64        // Resolve; Cancel: of a called flow, which is refused
	Payload *feel.Context // may be nil
	After   time.Time     // Schedule: what is due up to then has been fired by another version of the process

	// Of external tasks.
	Lock    uint64    // number of the lock that the caller holds
	Worker  string    // Lock; of the other inputs of a worker who says it, or ""
	Until   time.Time // Lock, Extend: end of the lock. Fail: when the task is offered again
	Retries int       // Fail: attempts left; 0 is an incident
	Code    string    // Throw
	Reason  string    // Fail, Throw: for people
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

// ErrNoHandler is what Environment.Call returns when no handler has the type: the task is then one for an external worker.
var ErrNoHandler = errors.New("no handler for this task type")

// Thrown is the error by which a handler throws a BPMN error.
type Thrown struct {
	Code, Message string
	Variables     *feel.Context // become variables where the error is caught; may be nil
}

// Error implements error.
func (t *Thrown) Error() string { return fmt.Sprintf("error %q: %s", t.Code, t.Message) }

// Environment is everything outside of the instance that a step depends on.
type Environment struct {
	Instance string
	Now      time.Time
	// Call runs a handler. A panic in it becomes an incident.
	Call func(Call) (*feel.Context, error)
	// Fits says why a payload cannot be emitted to a target, which becomes an incident: once it has been emitted, nobody can correct
	// it. Nil: everything fits.
	Fits func(target string, payload []byte) error
	// MaxVisits bounds the elements that one step visits; 0 means DefaultVisits.
	MaxVisits int
	// Limits bounds each expression.
	Limits feel.Limits
}

// Bounds.
const (
	// DefaultVisits is how many elements a step visits at most unless told otherwise.
	DefaultVisits = 1000
	// MaxDepth is how deep subprocesses and called flows nest at most.
	MaxDepth = 64
	// MaxTokens is how many tokens an instance has at most.
	MaxTokens = 5000
	// DefaultRetries is how often a task is tried unless its definition says otherwise.
	DefaultRetries = 3
	// MaxRetries is the largest number of attempts.
	MaxRetries = bpmn.MaxRetries
	// MaxTaskType is the length of a task type in bytes.
	MaxTaskType = 256
	// RetryPause is the pause before a handler is called a second time; it doubles up to MaxRetryPause.
	RetryPause    = time.Second
	MaxRetryPause = time.Minute
)

// WaitKind is what a wait waits for.
type WaitKind string

// The kinds of waits.
const (
	ForMessage WaitKind = "message"
	ForTime    WaitKind = "time"
	ForTask    WaitKind = "task"   // somebody completes a user task
	ForWorker  WaitKind = "worker" // an external worker does a task
)

// Wait is a wait that a step opened.
type Wait struct {
	Generation uint64
	Token      uint64
	Element    string
	Kind       WaitKind
	Flow       string    // ForMessage: the process that the element belongs to
	Message    string    // ForMessage
	Key        string    // ForMessage
	Due        time.Time // ForTime
}

// Offer is a change of when an external task is offered to workers.
type Offer struct {
	Wait    uint64
	Type    string
	Was, At time.Time // zero: not offered
}

// Targets of emissions that go to other instances. No emit has such a name.
const (
	ToInstances = ":message" // a thrown message: Message, Key and Payload
	ToStart     = ":start"   // a timer start event came due: Element
)

// Emission is what a step emits, in the order of Result.Emissions.
type Emission struct {
	Target       string
	Element      string
	Message, Key string // of a thrown message
	Payload      []byte // JSON
}

// Result is what a step came to. All of it takes effect, or nothing of it.
type Result struct {
	Snapshot  *Snapshot
	Open      []Wait   // by generation
	Close     []uint64 // in the order in which they were closed
	Offers    []Offer  // of external tasks
	Emissions []Emission
	// Visited are the ids of the elements that tokens entered, in order. An event that is armed beside its activity is visited
	// when it happens.
	Visited []string
	// Raised are the tokens that got stuck in this step.
	Raised []Token
	// Locked is the external task that a Lock gave away.
	Locked *Locked
}

// Locked is what a worker is told of a task.
type Locked struct {
	Call
	Lock    uint64
	Until   time.Time
	Retries int // attempts left, this one included
}

// Refusals of an input. The instance is unchanged, and another input may fit.
var (
	ErrNoWait     = errors.New("the instance does not wait for this")
	ErrNoIncident = errors.New("the token has no incident")
	ErrNoStart    = errors.New("the flow has no such start event")
	ErrEnded      = errors.New("the instance has ended")
	ErrCalled     = errors.New("a called flow is not cancelled alone: cancel the instance that calls it")
	// ErrNoElement: the snapshot names an element that the definition lacks; it belongs to another one.
	ErrNoElement = errors.New("the definition has no such element")
)
