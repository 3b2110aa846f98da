package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
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
	// Lanes and Queue are those of lane.Options. The default is one lane.
	Lanes, Queue int
	// Attempts is how often a delivery that bounces, on a claim or on a wait that moved, is tried before it is given
	// back. 1 … 1000. Default 20.
	Attempts int
	// Backoff is the pause before the second attempt; it doubles up to a hundred times. 1 ms … 1 min. Default 2 ms.
	Backoff time.Duration
	// SettleCapacity is how many on-complete deliveries are held at most. 1 … 1,000,000. Default 10,000.
	SettleCapacity int
	// SettleTimeout is how long one is held unless its channel says otherwise. 1 ms … 24 h. Default 1 min.
	SettleTimeout time.Duration
	// SettlePoll is how often a held delivery is compared with durable state; what ends here is noticed at once. 1 ms … 1 h.
	// Default 5 s.
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
	// Dropped is told of every thrown message that met nobody. Nil: nobody is told.
	Dropped func(message, key string)
	// TaskPoll is how often a worker that waits for tasks looks for what another replica offers. 1 ms … 1 min. Default 1 s.
	TaskPoll time.Duration
	// Observer is told what lanes do, for metrics. Nil: nobody is told.
	Observer Observer
}

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	number := func(name string, value, most int) {
		if value < 1 || value > most {
			faults = append(faults, fmt.Errorf("engine option %s: %d is not in 1 … %d", name, value, most))
		}
	}
	span := func(name string, value, most time.Duration) {
		if value < time.Millisecond || value > most {
			faults = append(faults, fmt.Errorf("engine option %s: %v is not in 1ms … %v", name, value, most))
		}
	}
	number("Attempts", o.Attempts, 1000)
	number("SettleCapacity", o.SettleCapacity, 1_000_000)
	number("MaxVisits", o.MaxVisits, 1_000_000)
	span("Backoff", o.Backoff, time.Minute)
	span("SettleTimeout", o.SettleTimeout, 24*time.Hour)
	span("SettlePoll", o.SettlePoll, time.Hour)
	faults = append(faults, lane.Options{Lanes: o.Lanes, Queue: o.Queue}.Validate(), o.Limits.Validate(),
		o.Timers.Validate(), o.Outbox.Validate(), o.Mail.Validate(), o.Sweep.Validate())
	span("TaskPoll", o.TaskPoll, time.Minute)
	if o.Journal < 0 || o.Journal > 87_600*time.Hour {
		faults = append(faults, fmt.Errorf("engine option Journal: %v is not in 0 … 87600h", o.Journal))
	}
	if o.MessageTTL > 24*time.Hour {
		faults = append(faults, fmt.Errorf("engine option MessageTTL: %v is more than 24h", o.MessageTTL))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Replica, "node")
	setDefault(&o.Lanes, lane.DefaultLanes)
	setDefault(&o.Attempts, 20)
	setDefault(&o.Backoff, 2*time.Millisecond)
	setDefault(&o.SettleCapacity, 10_000)
	setDefault(&o.SettleTimeout, time.Minute)
	setDefault(&o.SettlePoll, 5*time.Second)
	setDefault(&o.MaxVisits, flow.DefaultVisits)
	setDefault(&o.MessageTTL, time.Minute)
	setDefault(&o.TaskPoll, time.Second)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Parts are what an engine is put together from.
type Parts struct {
	Store store.Store
	// Package is the deployment whose channels deliver. Earlier are deployments whose instances may still be parked.
	Package Package
	Earlier []Package
	// Handlers by task type.
	Handlers map[string]Handler
	// Send gives an emission to its receiver. Required when a flow has a task of type emit.
	Send outbox.Send
}

// ErrPackage is wrapped by the faults of a package that an engine refuses.
var ErrPackage = errors.New("engine package")

// catalog is what the parts come to, immutable: definitions and channels by name. Maps are only looked up.
type catalog struct {
	deployment string
	flows      map[pin]*flow.Definition
	channels   map[string]*Channel
	handlers   map[string]Handler
	present    []*flow.Definition // of the deployment, in its order
	all        []*flow.Definition // of every deployment
}

// pin is what an instance belongs to.
type pin struct{ deployment, flow string }

func newCatalog(p Parts) (*catalog, error) {
	c := &catalog{
		deployment: p.Package.Deployment, flows: map[pin]*flow.Definition{}, channels: map[string]*Channel{},
		handlers: make(map[string]Handler, len(p.Handlers)),
	}
	for name, h := range p.Handlers { // a copy: the caller may change its own
		c.handlers[name] = h
	}
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrPackage, fmt.Sprintf(format, args...)))
	}
	for _, one := range append(p.Earlier[:len(p.Earlier):len(p.Earlier)], p.Package) {
		linked, err := flow.Link(one.Flows)
		faults = append(faults, err)
		c.all = append(c.all, linked...)
		if one.Deployment == c.deployment {
			c.present = linked
		}
		for _, d := range linked {
			c.flows[pin{one.Deployment, d.ID()}] = d
			if p.Send == nil && d.Emits() {
				fault("process %s emits, and there is no receiver", d.ID())
			}
		}
	}
	for i := range p.Package.Channels {
		ch := p.Package.Channels[i]
		if reason := c.channelFault(&ch); reason != "" {
			fault("channel %s: %s", ch.Name, reason)
		}
		switch ch.receivers = c.awaiting(ch.Message); {
		case ch.Flow != "":
			ch.receivers = []string{ch.Flow}
		case len(ch.receivers) == 0:
			ch.receivers = []string{""}
		}
		c.channels[ch.Name] = &ch
	}
	return c, errors.Join(faults...)
}

func (c *catalog) channelFault(ch *Channel) string {
	d := c.flows[pin{c.deployment, ch.Flow}]
	switch {
	case ch.Name == "":
		return "it has no name"
	case c.channels[ch.Name] != nil:
		return "its name is used twice"
	case ch.Flow == "" && ch.Message == "":
		return "it neither starts a flow nor names a message"
	case ch.Buffer < 0 || ch.Buffer > 0 && ch.Ack == OnComplete:
		return "a channel that keeps messages acknowledges when they are durable"
	case ch.Flow != "" && d == nil:
		return fmt.Sprintf("there is no process %s", ch.Flow)
	case ch.Flow != "" && !d.Starts(ch.Message) && !d.Starts(""):
		return fmt.Sprintf("process %s starts neither with message %q nor without one", ch.Flow, ch.Message)
	}
	return ""
}

// awaiting are the processes that may wait for a message of that name, of any deployment, each once, in order.
func (c *catalog) awaiting(message string) []string {
	return c.where(c.all, func(d *flow.Definition) bool { return d.Awaits(message) })
}

// startedBy are the processes of the present deployment that such a message starts, in order.
func (c *catalog) startedBy(message string) []string {
	return c.where(c.present, func(d *flow.Definition) bool { return message != "" && d.Starts(message) })
}

func (c *catalog) where(list []*flow.Definition, holds func(*flow.Definition) bool) []string {
	var ids []string
	for _, d := range list {
		if holds(d) {
			ids = append(ids, d.ID())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
