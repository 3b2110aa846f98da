package source

import (
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// IntakeOptions say what an intake takes and where it goes.
type IntakeOptions struct {
	// Name is the source's; delivery ids begin with it.
	Name string
	// Schema and Decode say what a record is.
	Schema *record.Schema
	Decode record.Options
	// To is where records go.
	To *relay.Relay[*record.Batch]
	// Sequential makes attempts follow each other: a request is published when the one before it was answered.
	Sequential bool
	// Timeout bounds one attempt. After it the outcome is unknown, and the client sends again. 0: 10 minutes.
	Timeout time.Duration
	// Refuse is asked before anything is read: an error that wraps ErrFull or ErrUnready refuses the request. It
	// may be nil.
	Refuse func() error
	// Rejected is told of every malformed record. It may be nil.
	Rejected func(*record.Rejection)
	// Replied is told of every reply before it is returned. It may be nil.
	Replied func(Reply)
}

var (
	// ErrFull means that the disk is below its low-water mark.
	ErrFull = errors.New("source: disk below its low-water mark, nothing is accepted")
	// ErrUnready means that the node starts, stops or is fenced.
	ErrUnready = errors.New("source: node is not ready")
	// ErrTimeout means that the attempt was not settled in time, and its outcome is unknown.
	ErrTimeout = errors.New("source: attempt not settled in time")
)

const (
	defaultTimeout = 10 * time.Minute
	maxDecoders    = 64
)

// Intake answers requests. Any number of tasks may call it at the same time.
type Intake struct {
	s        sched.Scheduler
	opts     IntakeOptions
	turn     sched.Semaphore
	ids      sched.Rand
	decoders *sched.Chan[*record.Decoder] // those that nobody uses
}

// NewIntake returns an intake. The error is that of the decoding options.
func NewIntake(s sched.Scheduler, opts IntakeOptions) (*Intake, error) {
	if opts.Timeout == 0 {
		opts.Timeout = defaultTimeout
	}
	in := &Intake{
		s: s, opts: opts, turn: sched.NewSemaphore(s, opts.Name+" turn", 1), ids: sched.NewRand(s, opts.Name+" ids"),
		decoders: sched.NewChan[*record.Decoder](s, opts.Name+" decoders", maxDecoders),
	}
	d, err := in.decoder()
	if err != nil {
		return nil, fmt.Errorf("make source %s: %w", opts.Name, err)
	}
	in.decoders.TrySend(d)
	return in, nil
}

// Request is a body that arrived.
type Request struct {
	// ID names the delivery. A client that sends again uses the same one, so that rows have the same ids. Empty:
	// the intake draws one, and the reply tells it.
	ID string
	// Lines says that the body is newline-delimited records; otherwise it is one record.
	Lines bool
	Body  []byte
}

// MaxIDBytes bounds Request.ID.
const MaxIDBytes = 128

// Code says how a request ended.
type Code uint8

// The codes.
const (
	Taken     Code = iota // every record is acknowledged
	Partly                // those that are well-formed are acknowledged, others were rejected
	Malformed             // no record was well-formed
	TooLarge              // nothing was decoded
	BadID                 // the delivery id cannot be used
	Refused               // full or not ready: nothing was read
	Failed                // the attempt failed: nothing is promised, send again
	Unknown               // the attempt was not settled in time: send again
)

// Reply is the answer to a request.
type Reply struct {
	Code Code `json:"-"`
	// ID is the delivery's.
	ID string `json:"id,omitempty"`
	// Received counts records: Accepted, Duplicates and Rejected add up to it unless the attempt failed.
	Received   int `json:"received"`
	Accepted   int `json:"accepted"`
	Duplicates int `json:"duplicates"`
	// Rejected records in the order of the body.
	Rejected []Refusal `json:"rejected,omitempty"`
	// Error says why a request was refused or failed.
	Error string `json:"error,omitempty"`
	// Cause is the error behind Error.
	Cause error `json:"-"`
}

// Refusal is one malformed record.
type Refusal struct {
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
	Reason string `json:"reason"`
	At     string `json:"at,omitempty"` // JSON pointer
	Detail string `json:"detail"`
}

func refusal(r *record.Rejection) Refusal {
	return Refusal{Line: r.Line, Column: r.Column, Reason: r.Reason.String(), At: r.Pointer, Detail: r.Detail}
}

// Handle decodes a request, publishes its records and waits until they are acknowledged, at most Timeout and until
// scope ends. Whatever it answers, a client that did not read Taken or Partly may send the request again with its id.
func (in *Intake) Handle(scope *sched.Scope, q Request) Reply {
	r := in.handle(scope, q)
	if in.opts.Replied != nil {
		in.opts.Replied(r)
	}
	return r
}

func (in *Intake) handle(scope *sched.Scope, q Request) Reply {
	if in.opts.Refuse != nil {
		if err := in.opts.Refuse(); err != nil {
			return failed(Refused, Reply{}, err)
		}
	}
	if reason := checkID(q.ID); reason != nil {
		return failed(BadID, Reply{}, reason)
	}
	if q.ID == "" {
		q.ID = fmt.Sprintf("%016x%016x", in.ids.Uint64(), in.ids.Uint64())
	}
	result, err := in.decode(q)
	if err != nil {
		return failed(TooLarge, Reply{ID: q.ID}, err)
	}
	defer result.Batch.Release()
	r := Reply{ID: q.ID, Received: len(result.Outcomes)}
	lines := in.sort(&r, result)
	if len(lines) == 0 {
		if len(r.Rejected) > 0 {
			r.Code = Malformed
		}
		return r
	}
	outcome, code, err := in.attempt(scope, relay.Batch[*record.Batch]{
		Rows: result.Batch, IDs: relay.LineIDs(in.opts.Name+"/"+q.ID, lines),
	})
	if err != nil {
		return failed(code, r, err)
	}
	r.Duplicates = int(outcome.Duplicates)
	r.Accepted = len(lines) - r.Duplicates
	if len(r.Rejected) > 0 {
		r.Code = Partly
	}
	return r
}

func failed(code Code, r Reply, err error) Reply {
	r.Code, r.Cause, r.Error = code, err, err.Error()
	return r
}

// checkID accepts what can stand in an id and in a header: visible ASCII.
func checkID(id string) error {
	if len(id) > MaxIDBytes {
		return fmt.Errorf("delivery id has %d bytes, at most %d", len(id), MaxIDBytes)
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '/' {
			return fmt.Errorf("delivery id has byte %#x at %d: want visible ASCII without /", id[i], i)
		}
	}
	return nil
}

func (in *Intake) decoder() (*record.Decoder, error) {
	if d, _, ready := in.decoders.TryReceive(); ready {
		return d, nil
	}
	return record.NewDecoder(in.opts.Schema, memory.DefaultAllocator, in.opts.Decode)
}

func (in *Intake) decode(q Request) (record.Result, error) {
	d, err := in.decoder()
	if err != nil {
		return record.Result{}, err
	}
	defer func() {
		if !in.decoders.TrySend(d) {
			d.Release()
		}
	}()
	if q.Lines {
		return d.Lines(q.Body)
	}
	return d.Record(q.Body)
}

// sort puts rejections into the reply and returns the lines of the rows that are left.
func (in *Intake) sort(r *Reply, result record.Result) []int32 {
	lines := make([]int32, 0, len(result.Outcomes)-result.Rejected)
	for _, o := range result.Outcomes {
		if o.Rejection == nil {
			lines = append(lines, int32(o.Line))
			continue
		}
		r.Rejected = append(r.Rejected, refusal(o.Rejection))
		if in.opts.Rejected != nil {
			in.opts.Rejected(o.Rejection)
		}
	}
	return lines
}

// attempt publishes a batch and waits for its tree.
func (in *Intake) attempt(scope *sched.Scope, b relay.Batch[*record.Batch]) (ack.Outcome, Code, error) {
	bounded := scope.ChildTimeout("attempt of "+in.opts.Name, in.opts.Timeout)
	defer bounded.Close()
	if in.opts.Sequential {
		if err := in.turn.Acquire(bounded, 1); err != nil {
			return ack.Outcome{}, Failed, fmt.Errorf("wait for the request before this one: %w", err)
		}
		defer in.turn.Release(1)
	}
	reply := ack.NewReply(in.s)
	root := ack.New(in.s, reply)
	publish(bounded, in.opts.To, root, b)
	outcome, err := reply.Wait(bounded)
	switch {
	case err != nil:
		return outcome, Unknown, fmt.Errorf("%w: %w", ErrTimeout, err)
	case outcome.Err != nil:
		return outcome, Failed, outcome.Err
	}
	return outcome, Taken, nil
}

// publish hands a batch to its relay and resolves the source's own share.
func publish(scope *sched.Scope, to *relay.Relay[*record.Batch], root *ack.Share, b relay.Batch[*record.Batch]) {
	if err := to.Publish(scope, root, b); err != nil {
		root.Fail(err)
		return
	}
	root.Ack()
}
