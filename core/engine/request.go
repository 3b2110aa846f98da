package engine

import (
	"errors"

	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
)

// Delivery is one message on one channel.
type Delivery struct {
	Channel string
	// ID is the same in every redelivery of the message; the delivery takes effect at most once.
	ID string
	// Decode decodes and validates the body. It runs on a lane, once an attempt, and must not wait. Its error rejects the
	// message for good.
	Decode func() (Message, error)
	// Deployment is the one whose channel decodes the message, when the caller knows: on another one's channel the delivery is
	// refused with ErrSuperseded.
	Deployment string
}

// Outcome is how a delivery or a request was answered.
type Outcome uint8

// The outcomes. All are durable, and a redelivery is answered the same.
const (
	Accepted  Outcome = iota + 1 // the step that it caused is durable
	Completed                    // its instance has ended
	Unmatched                    // nothing waits for it: dropped, and said so
	Rejected                     // the message is not valid
	Kept                         // nothing waits for it yet: it is kept for a time
)

var outcomeNames = [...]string{"none", "accepted", "completed", "unmatched", "rejected", "kept"}

// String returns the outcome in lower case.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "unknown outcome"
}

// Reply answers a delivery or a request.
type Reply struct {
	Outcome  Outcome
	Instance store.InstanceID
	// Duplicate says that the delivery had taken effect before.
	Duplicate bool
	// Status and Result are of the instance when it has ended: its variables as JSON.
	Status store.Status
	Result []byte
	// Reason says why a message was rejected or met nobody.
	Reason string
}

// Errors of Deliver and of requests. Each says that the caller has no answer: its transport must bring the delivery again,
// which is safe.
var (
	// ErrBusy: the claim was held, or the wait moved, as often as Options.Attempts allows. Nothing happened.
	ErrBusy = errors.New("instance is busy")
	// ErrUnsettled: the delivery took effect, and its instance has not ended within the time, or the registry had no room for longer.
	ErrUnsettled = errors.New("instance has not ended")
	// ErrNoRoom: as many deliveries as may wait for an end are inside their commits. Nothing happened.
	ErrNoRoom = errors.New("no room to wait for the end of an instance")
	// ErrStore wraps a failure of the store. Nothing happened.
	ErrStore = errors.New("store failed")
	// ErrUndecided: the engine was stopped before it was known whether the step committed.
	ErrUndecided = errors.New("outcome is not decided")
)

// Refusals of requests that name their instance. They are permanent.
var (
	ErrNoChannel    = errors.New("no such channel")
	ErrNoInstance   = errors.New("no such running instance")
	ErrNotWaiting   = flow.ErrNoWait
	ErrNoDefinition = errors.New("the deployment of the instance is not known")
	ErrLease        = errors.New("the task is not held under this lock any more")
)

// request is what a lane runs: a delivery, or an input for an instance that is known.
type request struct {
	// Of a delivery.
	channel  *Channel
	flow     string // that the message is for
	delivery store.Delivery
	element  string      // the timer start event that starts
	rows     []store.Row // written with the step: a kept message goes
	attempt  *lane.Handoff[Message, correlate.Target]

	// Of an input: a due timer, a completed task, a resolved incident, or with describe set nothing at all.
	instance store.InstanceID
	input    flow.Input
	describe *Description
	word     *deploy.Message[*definitions] // to the lane itself

	// routed is the view by which a delivery found its channel, seen the one that its lane read when it took it.
	routed, seen *view
	schedule     *flow.Definition // the input begins a schedule of this process
	of           string           // deployment of the schedule
}

// reply is what a lane answers.
type reply struct {
	Reply
	err error
	// retry says that the request bounced, or met a wait that moved: it goes back to the start.
	retry bool
	// held is the entry to wait for when the delivery is answered later.
	held *settle.Entry
	// locked is the external task that a lock gave away.
	locked *flow.Locked
}

type (
	laneStep   = lane.Step[*request, reply]
	laneAnswer = lane.Answer[*request, reply]
)

// at answers without a transaction.
func at(r reply) laneStep { return laneStep{Answer: laneAnswer{Reply: r}} }

// failed answers with an error.
func failed(err error) reply { return reply{err: err} }

// again sends the request back to the start.
func again(err error) reply { return reply{err: err, retry: true} }
