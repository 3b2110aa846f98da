package relay

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
)

// ErrDecided means that the attempt was decided before the batch was published, so nobody was handed it.
var ErrDecided = errors.New("relay: attempt already decided")

// ErrRemoved fails a share whose consumer went away before it was handed the batch, or cannot go on. Neither must lose a
// batch of a source that is still sending, so it is never an acknowledgement: the source sends again, to whoever is
// attached then.
var ErrRemoved = errors.New("relay: consumer removed")

// Payload is what relays carry: record batches, counted by references.
type Payload interface {
	Rows() int
	Retain()
	Release()
}

// Batch is the envelope of one batch: its rows, who they are, and the unit they commit with. Processors that hand
// part of a batch on keep the last two.
type Batch[P Payload] struct {
	Rows P
	IDs  IDs  // one per row
	Unit Unit // nil before a deduplicator
}

// Delivery is a batch in the hands of one consumer, which releases it and resolves its share.
type Delivery[P Payload] struct {
	Batch[P]
	Share *ack.Share
}

// Relay (C6) is a named stream of batches. It owns the list of its consumers, an immutable value that is replaced
// whole; a publisher reads it once and uses only what it read.
//
// Invariants
//
//	I4  the shares reserved for a batch are as many as the consumers it is offered to: one snapshot decides both.
//	I5  every reserved share reaches its consumer's queue or is failed with the reason.
//	I6  a batch that is published after a consumer gave up is not acknowledged.
//	I7  a queued batch has a reference of its consumer's own; one that was refused has given it back.
//
//	Linearization Publish at its read of the list; Attach and Remove at their publication.
//	Waits         Publish for each queue in turn, in order of attachment, bounded by its scope; removing a
//	              consumer ends the wait for it and stops nobody.
//	Hot path      one load of the list, one Attach to the tree, one Push per consumer.
type Relay[P Payload] struct {
	s         sched.Scheduler
	name      string
	consumers sched.Publication[[]*Consumer[P]]
}

// New returns a relay without consumers: what is published to it then is acknowledged by nobody's absence.
func New[P Payload](s sched.Scheduler, name string) *Relay[P] {
	r := &Relay[P]{s: s, name: name}
	r.consumers = sched.NewPublication(s, name+" consumers", &[]*Consumer[P]{})
	s.Own("C6", r, nil)
	return r
}

// Name returns the relay's name.
func (r *Relay[P]) Name() string { return r.name }

// Publish offers the batch to every consumer and waits for room in their queues. Each gets a reference of its own
// and one new share of the tree that share belongs to; share itself is not resolved, and the caller's reference is
// not released. What could not be handed over fails its share, so the error is only information: ErrDecided,
// ErrRemoved, or the cause of scope's end.
func (r *Relay[P]) Publish(scope *sched.Scope, share *ack.Share, b Batch[P]) error {
	targets := *r.consumers.Observe()
	shares := share.Attach(len(targets))
	if r.s.Traced() {
		r.s.Check("C6", func() error { return sameSnapshot(len(shares), len(targets)) })
	}
	if len(shares) > 0 && !shares[0].Owned() {
		return fmt.Errorf("publish to relay %s: %w", r.name, ErrDecided)
	}
	var first error
	for i, c := range targets {
		if err := c.offer(scope, Delivery[P]{Batch: b, Share: &shares[i]}); err != nil && first == nil {
			first = fmt.Errorf("publish to relay %s: %w", r.name, err)
		}
	}
	return first
}

func sameSnapshot(shares, targets int) error {
	if shares != targets {
		return sched.Broken("C6.I4", "%d shares for %d consumers", shares, targets)
	}
	return nil
}

// Attach adds a consumer with a queue of the given capacity. It gets what is published from now on.
func (r *Relay[P]) Attach(name string, capacity int) *Consumer[P] {
	c := &Consumer[P]{relay: r, name: name, queue: NewQueue[Delivery[P]](r.s, r.name+"/"+name, capacity)}
	r.consumers.Update(func(old *[]*Consumer[P]) *[]*Consumer[P] {
		list := append(append(make([]*Consumer[P], 0, len(*old)+1), *old...), c)
		return &list
	})
	return c
}

// Consumers returns the names of the attached consumers in order of attachment.
func (r *Relay[P]) Consumers() []string {
	list := *r.consumers.Observe()
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	return names
}

// Consumer is one attachment to a relay. One task receives from it.
type Consumer[P Payload] struct {
	relay *Relay[P]
	name  string
	queue *Queue[Delivery[P]]
}

// Name returns the consumer's name.
func (c *Consumer[P]) Name() string { return c.name }

// Receive waits for the next delivery; see [Queue.Receive]. ErrClosed means removed, with nothing left.
func (c *Consumer[P]) Receive(scope *sched.Scope, timer *sched.Timer) (Delivery[P], error) {
	return c.queue.Receive(scope, timer)
}

// Resize changes how many deliveries may wait.
func (c *Consumer[P]) Resize(capacity int) { c.queue.Resize(capacity) }

// Queued returns how many deliveries wait, and how many may.
func (c *Consumer[P]) Queued() (n, capacity int) { return c.queue.Len(), c.queue.Capacity() }

// Remove takes the consumer off its relay. Publishers that wait for it go on; what is queued is still received.
func (c *Consumer[P]) Remove() {
	c.relay.consumers.Update(func(old *[]*Consumer[P]) *[]*Consumer[P] {
		list := make([]*Consumer[P], 0, len(*old))
		for _, other := range *old {
			if other != c {
				list = append(list, other)
			}
		}
		return &list
	})
	c.queue.Close()
}

// Discard fails everything that is still queued and whatever is published from now on: what a receiving task does last
// when it cannot go on. The consumer stays attached, because a relay without it would acknowledge rows that nobody in its
// place has taken; a removed one refuses nothing. It waits only for producers that have a place and link it next.
func (c *Consumer[P]) Discard(cause error) {
	c.queue.Close()
	for {
		d, err := c.queue.Receive(nil, nil)
		if err != nil {
			return
		}
		d.Rows.Release()
		d.Share.Fail(cause)
	}
}

// offer queues one delivery or fails its share.
func (c *Consumer[P]) offer(scope *sched.Scope, d Delivery[P]) error {
	d.Rows.Retain()
	err := c.queue.Push(scope, d)
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrClosed) {
		err = fmt.Errorf("consumer %s: %w", c.name, ErrRemoved)
	}
	d.Rows.Release()
	d.Share.Fail(err)
	return err
}
