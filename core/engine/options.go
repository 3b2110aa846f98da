package engine

import (
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/option"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/timer"
)

// Ack says when a delivery is answered.
type Ack uint8

// The modes. On-persist answers when the step that the delivery caused is durable, on-complete when its instance has ended.
const (
	OnPersist Ack = iota
	OnComplete
)

// Message is a decoded and validated delivery.
type Message struct {
	Variables *feel.Context
	// Key is the correlation key, for channels that resume.
	Key string
}

// Channel is where deliveries come from and what they do.
type Channel struct {
	Name string
	// Message is the name by which flows know the messages of this channel.
	Message string
	// Flow is the process that a message starts. Without one a message resumes the instance that waits for (Message, key).
	Flow string
	Ack  Ack
	// Timeout bounds how long an on-complete delivery is held; 0 means Options.SettleTimeout.
	Timeout time.Duration
	// Correlates says that the message's key is the business key of what it starts: one instance of the flow holds it at a time.
	Correlates bool
	// Buffer is how long a message that nobody waits for is kept. 0: not at all. Only with OnPersist.
	Buffer time.Duration
	// Keep is how long the inbox remembers a delivery; it must exceed the longest redelivery. 0 means for ever.
	Keep time.Duration

	// deployment is the one that the channel belongs to.
	deployment string
	// receivers are the flows that a message of the channel is for, each of which it reaches once. A message that no flow can
	// wait for is still decoded and answered, for the flow "".
	receivers []string
}

// Package is one deployment: processes and channels. Instances are pinned to the deployment that started them.
type Package struct {
	// Deployment is its content hash.
	Deployment string
	Flows      []*flow.Definition
	Channels   []Channel
	// Source is what Parts.Compile makes the package of again. The store keeps it with the decision to activate. At most MaxSource bytes.
	Source []byte
	// Origin is whatever the caller made the package of. The engine keeps it for as long as the deployment is active or drains, see Origins.
	Origin any
}

// Handler does the work of a service task. It runs on the instance's lane, which waits for it. It may be called again for the
// same (Instance, Token) when the step that called it did not commit. The scope ends when the engine is stopped hard.
type Handler func(scope *sched.Scope, c flow.Call) (*feel.Context, error)

// Options of an engine. A zero field means its default.
type Options struct {
	// Replica names this node among those that share the store. Default "node".
	Replica string
	// Shared says that other replicas use the store too. Without it, the claims that are found at the start are void.
	Shared bool
	// Sweep says when the claims of a replica that fell silent are freed. With Shared only.
	Sweep claim.SweepOptions
	// Role says how the role of who sweeps moves. With Shared only.
	Role claim.LeaseOptions
	// Hold is how long due timers and emissions are reserved for this replica; a replica that died keeps them for so long. With Shared
	// only. 1 ms … 1 h. Default 10 s.
	Hold time.Duration
	// Lanes and Queue are those of lane.Options. The default is one lane.
	Lanes, Queue int
	// Attempts is how often a delivery that bounces, on a claim or on a wait that moved, is tried before it is given
	// back. 1 … 1000. Default 20.
	Attempts int
	// Backoff is the pause before the second attempt; it doubles up to a hundred times. 1 ms … 1 min. Default 2 ms.
	Backoff time.Duration
	// SettleCapacity is how many on-complete deliveries are held at most. 1 … 10,000,000. Default 10,000.
	SettleCapacity int
	// SettleTimeout is how long one is held unless its channel says otherwise. 1 ms … 24 h. Default 1 min.
	SettleTimeout time.Duration
	// SettlePoll is how often a held delivery is compared with durable state; what ends here is noticed at once. 1 ms … 1 h.
	// Default 5 s, with Shared 1 s.
	SettlePoll time.Duration
	// MaxVisits bounds the elements of one step. Default flow.DefaultVisits.
	MaxVisits int
	// Limits bounds each expression.
	Limits feel.Limits
	Timers timer.Options // Lanes is set by the engine
	Outbox outbox.Options
	Mail   mail.Options
	// Journal is how long the audit journal keeps each step. 0: there is no journal. At most 10 years.
	Journal time.Duration
	// MessageTTL is how long a message that a flow throws is kept for who does not wait for it yet. Negative: not at all. At
	// most 24 h. Default 1 min.
	MessageTTL time.Duration
	// Dropped is told of every thrown message that met nobody, and of a timer start event that came due before another deployment without it
	// became active. Nil: nobody is told.
	Dropped func(message, key string)
	// Raised is told of every incident, on the lane, once its step is durable. It must not wait. Nil: nobody is told.
	Raised func(Incident)
	// Follow is how often a replica looks whether another one changed the deployments, beside looking when it must. With Shared
	// only. 1 ms … 1 h. Default 2 s.
	Follow time.Duration
	// Retire is the time until it is looked for the first time whether a deployment that drains can retire; it doubles up to thirty
	// times, and begins again when an instance of one has ended at this node. 1 ms … 1 h. Default 10 s.
	Retire time.Duration
	// Changed is told, in a task of the engine, that other deployments are active or draining than before. Nil: nobody is told.
	Changed func()
	// Lost is told of a deployment that drains and cannot be compiled by this version: its instances stay parked. Nil: nobody is told.
	Lost func(deployment string, why error)
	// TaskPoll is how often a worker that waits for tasks looks for what another replica offers. 1 ms … 1 min. Default 1 s.
	TaskPoll time.Duration
	// Observer is told what lanes do, for metrics. Nil: nobody is told.
	Observer Observer
	// Failpoint is called with PointKnown and PointDecided in an activation; crash tests end the process there. Nil does nothing.
	Failpoint func(name string)
}

// The points of an activation, in its order. Node adds those behind it.
const (
	PointKnown   = "activate/known"   // every lane knows the definitions; nothing is durable, so a restart knows nothing of it
	PointDecided = "activate/decided" // the decision is durable and not published here, so a restart begins with it
)

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	r := option.Of("engine")
	r.Number("Attempts", o.Attempts, 1000)
	r.Number("SettleCapacity", o.SettleCapacity, 10_000_000)
	r.Number("MaxVisits", o.MaxVisits, 1_000_000)
	r.Span("Backoff", o.Backoff, time.Minute)
	r.Span("SettleTimeout", o.SettleTimeout, 24*time.Hour)
	r.Span("SettlePoll", o.SettlePoll, time.Hour)
	faults := []error{
		lane.Options{Lanes: o.Lanes, Queue: o.Queue}.Validate(), o.Limits.Validate(),
		o.Timers.Validate(), o.Outbox.Validate(), o.Mail.Validate(), o.Sweep.Validate(), o.Role.Validate(),
	}
	r.Span("TaskPoll", o.TaskPoll, time.Minute)
	r.Span("Follow", o.Follow, time.Hour)
	r.Span("Hold", o.Hold, time.Hour)
	r.Span("Retire", o.Retire, time.Hour)
	if o.Journal < 0 || o.Journal > 87_600*time.Hour {
		faults = append(faults, fmt.Errorf("engine option Journal: %v is not in 0 … 87600h", o.Journal))
	}
	if o.MessageTTL > 24*time.Hour {
		faults = append(faults, fmt.Errorf("engine option MessageTTL: %v is more than 24h", o.MessageTTL))
	}
	return r.Join(faults...)
}

func (o Options) withDefaults() Options {
	option.Default(&o.Replica, "node")
	option.Default(&o.Lanes, lane.DefaultLanes)
	option.Default(&o.Attempts, 20)
	option.Default(&o.Backoff, 2*time.Millisecond)
	option.Default(&o.SettleCapacity, 10_000)
	option.Default(&o.SettleTimeout, time.Minute)
	if o.Shared {
		option.Default(&o.SettlePoll, sharedSettlePoll)
	}
	option.Default(&o.SettlePoll, 5*time.Second)
	option.Default(&o.MaxVisits, flow.DefaultVisits)
	option.Default(&o.MessageTTL, time.Minute)
	option.Default(&o.TaskPoll, time.Second)
	option.Default(&o.Follow, 2*time.Second)
	option.Default(&o.Hold, 10*time.Second)
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Lost == nil {
		o.Lost = func(string, error) {}
	}
	option.Default(&o.Retire, 10*time.Second)
	if o.Shared {
		option.Default(&o.Timers.Poll, sharedTimerPoll)
		option.Default(&o.Outbox.Poll, sharedOutboxPoll)
	}
	return o
}
