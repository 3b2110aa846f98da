package deploy

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// Decide makes the decision for the next view durable, with the definitions of what it activates, and returns when that is known. A
// definite error means that nothing is durable, and aborts; one that wraps ErrUnknown leaves the change to the next start.
type Decide[D any] func(next *View[D]) error

// Activate makes d the deployment that spawns, and returns the view in which it is. What was active drains. It waits for the lanes,
// until scope ends; then, when a lane refuses or has ended, and when decide fails, nothing of it is left and the error wraps ErrRefused.
func (f *Flip[D]) Activate(scope *sched.Scope, d Deployment[D], decide Decide[D]) (*View[D], error) {
	if err := f.changes.Acquire(scope, 1); err != nil {
		return nil, fmt.Errorf("activate deployment %s: %w", d.ID, err)
	}
	defer f.changes.Release(1)
	now := f.view.Observe()
	if now.Active.ID == d.ID {
		return now, nil
	}
	c := f.begin("Begin", know, d)
	err := f.tell(scope, c)
	if err == nil {
		next := now.With(d)
		if err = decide(next); err == nil {
			f.publish("Publish", next)
			return next, nil
		}
	}
	if !errors.Is(err, ErrUnknown) {
		_, drains := now.Find(d.ID)
		f.abort(c, drains)
	}
	return nil, fmt.Errorf("activate deployment %s: %w: %w", d.ID, ErrRefused, err)
}

// Follow takes over a view that another replica decided, or that this one finds in the store: the decision is durable. Lanes know before
// they spawn here too. An older view is ignored. An error leaves the view as it was; what lanes know already does no harm.
func (f *Flip[D]) Follow(scope *sched.Scope, next *View[D]) error {
	if err := f.changes.Acquire(scope, 1); err != nil {
		return fmt.Errorf("follow deployment %s: %w", next.Active.ID, err)
	}
	defer f.changes.Release(1)
	now := f.view.Observe()
	if next.Number <= now.Number {
		return nil
	}
	if err := f.tell(scope, f.begin("Follow", know, next.All()...)); err != nil {
		return fmt.Errorf("follow deployment %s: %w", next.Active.ID, err)
	}
	f.publish("Followed", next)
	for _, d := range now.All() {
		if _, left := next.Find(d.ID); !left {
			f.dismiss(drop, f.begin("Drop", drop, d))
		}
	}
	return nil
}

// Quiet reports whether nothing of a deployment is left: parked, unsent or unfinished.
type Quiet func() (bool, error)

// Retire takes a deployment that drains out of the view when nothing of it is left, and reports whether it did. A lane may be in the
// middle of a spawn that it began under the view before: so all lanes pass a fence first, and then quiet is asked.
func (f *Flip[D]) Retire(scope *sched.Scope, id string, quiet Quiet, decide Decide[D]) (bool, error) {
	if err := f.changes.Acquire(scope, 1); err != nil {
		return false, fmt.Errorf("retire deployment %s: %w", id, err)
	}
	defer f.changes.Release(1)
	now := f.view.Observe()
	old, drains := now.Find(id)
	if !drains || now.Active.ID == id {
		return false, nil
	}
	if err := f.tell(scope, f.begin("Fence", fence)); err != nil {
		return false, fmt.Errorf("retire deployment %s: %w", id, err)
	}
	left, err := quiet()
	if err != nil || !left {
		f.emit("Occupied")
		return false, wrapped(err, "retire deployment %s", id)
	}
	next := now.retired(id)
	if err := decide(next); err != nil {
		f.emit("Occupied")
		return false, fmt.Errorf("retire deployment %s: %w", id, err)
	}
	f.publish("Retired", next)
	f.dismiss(drop, f.begin("Drop", drop, old))
	return true, nil
}

func wrapped(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// change is one round of messages.
type change[D any] struct {
	message *Message[D]
	posted  int // lanes that have it in their queue: the first ones
}

// begin starts a round under a number of its own.
func (f *Flip[D]) begin(action string, k kind, about ...Deployment[D]) *change[D] {
	n := f.attempt.Edit()
	*n++
	refused := sched.NewWriteOnce[error](f.s, "lane refused")
	f.emit(action, *n)
	return &change[D]{message: &Message[D]{kind: k, attempt: *n, about: about, refused: &refused}}
}

// tell puts the message into every queue, one lane after the other, and waits until every lane has acknowledged it, or has ended.
func (f *Flip[D]) tell(scope *sched.Scope, c *change[D]) error {
	if err := f.enqueue(scope, c); err != nil {
		return err
	}
	for {
		told := f.told.Register()
		refused, some := c.message.refused.Get()
		switch {
		case some:
			told.Drop()
			return refused
		case f.acknowledged(c.message.attempt):
			told.Drop()
			return nil
		}
		if why, over := f.ended.Get(); over {
			told.Drop()
			return fmt.Errorf("wait for lanes: %w", why)
		}
		if err := told.Wait(scope); err != nil {
			return fmt.Errorf("wait for lanes: %w", err)
		}
	}
}

func (f *Flip[D]) enqueue(scope *sched.Scope, c *change[D]) error {
	for lane := range f.lanes {
		if err := f.post(scope, lane, c.message); err != nil {
			return fmt.Errorf("tell lane %d: %w", lane, err)
		}
		c.posted++
		f.emit("Post", lane)
	}
	return nil
}

// acknowledged reports whether every lane has answered this very attempt: an answer to an older one that was aborted says that the lane
// has its "forget" still before it.
func (f *Flip[D]) acknowledged(attempt uint64) bool {
	for lane := range f.lanes {
		if f.lanes[lane].acknowledged.Load() != attempt {
			return false
		}
	}
	return true
}

// publish is the one point at which all lanes see the next view.
func (f *Flip[D]) publish(action string, next *View[D]) {
	n := f.numbers.Edit()
	if next.Number <= n.last {
		n.broken = sched.Broken("L9.I1", "view %d is published after %d", next.Number, n.last)
	}
	n.last = next.Number
	f.view.Publish(next)
	f.emit(action)
}

// abort takes an attempt back, behind its "know" in each queue that has it. A deployment that drains stays known.
func (f *Flip[D]) abort(c *change[D], drains bool) {
	f.emit("Abort")
	if !drains {
		f.dismiss(forget, c)
	}
}

// dismiss tells lanes to forget. Nothing waits for it. A lane that has stopped needs no word.
func (f *Flip[D]) dismiss(k kind, c *change[D]) {
	m := *c.message
	m.kind = k
	most := len(f.lanes)
	if k == forget {
		most = c.posted
	}
	for lane := range most {
		if f.post(nil, lane, &m) == nil {
			f.emit("Post", lane)
		}
	}
}
