package engine

import (
	"errors"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/store"
)

// Bounce says why a request went back to the start, or to who brought it.
type Bounce uint8

// The kinds of bounces.
const (
	BouncedOnClaim    Bounce = iota // somebody holds the claim of the instance
	BouncedOnWait                   // the wait that the message resolved to has moved
	BouncedOnFence                  // the claim was lost before the commit
	BouncedOnConflict               // another step was first, in another way
)

var bounceNames = [...]string{"claimed", "moved", "fenced", "conflict"}

// String is the kind as a word, for a label.
func (b Bounce) String() string {
	if int(b) < len(bounceNames) {
		return bounceNames[b]
	}
	return "unknown"
}

// Bounces returns every kind, in order.
func Bounces() []Bounce {
	return []Bounce{BouncedOnClaim, BouncedOnWait, BouncedOnFence, BouncedOnConflict}
}

// Committed is what a step that is durable has made of its instance.
type Committed struct {
	Resumed bool // the instance was there before
	Parked  bool // it goes on when something comes; otherwise it has ended
}

// Observer is told what lanes do. Its methods run on the lane, which waits for them: they must be short and must not wait. Different
// lanes call at the same time.
type Observer interface {
	// Took says that the lane began with a request, Done that it is through with it.
	Took(lane int)
	Done(lane int)
	// Stepped is told how long a request took up to its transaction: reads, the flow itself, handlers.
	Stepped(lane int, took time.Duration)
	// Committed is told how long the transaction of a step took, and what came of it. One that failed is not told.
	Committed(lane int, took time.Duration, what Committed)
	// HandedOff says that a resolved delivery leaves for another lane.
	HandedOff(lane int)
	Bounced(lane int, why Bounce)
}

// observed is prepare with its observer.
func (e *Engine) observed(id int, q *request) laneStep {
	o := e.options.Observer
	if o == nil {
		return e.prepare(id, q)
	}
	o.Took(id)
	began := e.s.Now()
	out := e.prepare(id, q)
	o.Stepped(id, e.s.Now().Sub(began))
	commit := out.Commit
	if commit == nil {
		e.tell(id, out.Answer)
		return out
	}
	out.Commit = func() laneAnswer {
		a := commit()
		e.tell(id, a)
		return a
	}
	return out
}

// tell tells the observer how a request was answered.
func (e *Engine) tell(id int, a laneAnswer) {
	o := e.options.Observer
	switch {
	case a.Hop != nil:
		o.HandedOff(id)
	case a.Reply.retry:
		o.Bounced(id, bounceOf(a.Reply.err))
	}
	o.Done(id)
}

func bounceOf(err error) Bounce {
	switch {
	case errors.Is(err, correlate.ErrMoved):
		return BouncedOnWait
	case errors.Is(err, claim.ErrClaimed):
		return BouncedOnClaim
	case errors.Is(err, store.ErrFenced):
		return BouncedOnFence
	default:
		return BouncedOnConflict
	}
}

// observeCommit tells of a step that is durable since a moment ago, and of the incidents that it raised.
func (e *Engine) observeCommit(l *laneState, t *transaction, began time.Time, terminal bool) {
	if o := e.options.Observer; o != nil {
		o.Committed(l.id, e.s.Now().Sub(began), Committed{Resumed: t.hold != nil, Parked: !terminal})
	}
	e.tellRaised(t)
}
