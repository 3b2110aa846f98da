package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/timer"
)

// CompleteTask completes the user task that an instance waits in. wait is the generation of its wait. The answer is durable.
// ErrBusy means that the instance is claimed and that nothing was read or done; a second completion is refused with
// ErrNotWaiting.
func (e *Engine) CompleteTask(scope *sched.Scope, id store.InstanceID, wait uint64, result *feel.Context) (Reply, error) {
	r, err := e.once(scope, id, flow.Input{Kind: flow.Complete, Wait: wait, Payload: result})
	if err != nil {
		return r, fmt.Errorf("complete task %s/%d: %w", id, wait, err)
	}
	return r, nil
}

// ResolveIncident corrects variables of an instance and tries the stuck token again. The errors are those of CompleteTask.
func (e *Engine) ResolveIncident(scope *sched.Scope, id store.InstanceID, token uint64, variables *feel.Context) (Reply, error) {
	r, err := e.once(scope, id, flow.Input{Kind: flow.Resolve, Token: token, Payload: variables})
	if err != nil {
		return r, fmt.Errorf("resolve incident %s/%d: %w", id, token, err)
	}
	return r, nil
}

// CancelInstance ends an instance wherever it is. A called flow is part of the instance that calls it: with the token of a call
// activity the request is refused with ErrCalled. The errors else are those of CompleteTask.
func (e *Engine) CancelInstance(scope *sched.Scope, id store.InstanceID, token uint64) (Reply, error) {
	r, err := e.once(scope, id, flow.Input{Kind: flow.Cancel, Token: token})
	if err != nil {
		return r, fmt.Errorf("cancel instance %s: %w", id, err)
	}
	return r, nil
}

// once brings an input to the owner lane of its instance, one time: an administrative request that bounces is answered.
func (e *Engine) once(scope *sched.Scope, id store.InstanceID, in flow.Input) (Reply, error) {
	r, err := e.straight(scope, id, in)
	return r.Reply, e.told(scope, err)
}

// told lets an error leave. One that refuses for good rests on what was read of the instance, which a loss of power may take back as long as
// it is not durable: then it would have been refused for nothing. In the caller's task, so that no lane waits for it.
func (e *Engine) told(scope *sched.Scope, err error) error {
	if !slices.ContainsFunc(refusals, func(why error) bool { return errors.Is(err, why) }) {
		return err
	}
	if waited := e.store.WaitDurable(scope, e.store.Visible()); waited != nil {
		return fmt.Errorf("%w: refused for what is not durable: %w", ErrStore, waited)
	}
	return err
}

// refusals are the errors that are for good and rest on a read.
var refusals = []error{ErrNoInstance, ErrNotWaiting, ErrLease, ErrNoDefinition, flow.ErrCalled}

func (e *Engine) straight(scope *sched.Scope, id store.InstanceID, in flow.Input) (reply, error) {
	var r reply
	err := e.whileMoving(scope, func(*routes) (err error) {
		if r, err = e.router.Straight(scope, string(id), &request{instance: id, input: in}); errors.Is(r.err, errMoved) {
			return r.err
		}
		return err
	})
	switch {
	case err != nil:
		return reply{}, err
	case r.retry:
		return reply{}, fmt.Errorf("%w: %w", ErrBusy, r.err)
	}
	return r, r.err
}

// Describe returns what a running instance is and waits for. Its answer is durable.
func (e *Engine) Describe(scope *sched.Scope, id store.InstanceID) (Description, error) {
	q := &request{instance: id, describe: &Description{}}
	r, err := e.router.Straight(scope, string(id), q)
	if err == nil {
		err = r.err
	}
	if r.retry {
		err = fmt.Errorf("%w: %w", ErrBusy, r.err)
	}
	if err = e.told(scope, err); err != nil {
		return Description{}, fmt.Errorf("describe instance %s: %w", id, err)
	}
	return *q.describe, nil
}

// describe fills d in, on the lane.
func (e *Engine) describe(d *Description, hold *claim.Hold, in store.Instance, ticket store.Ticket) reply {
	err := hold.Free()
	if err == nil {
		err = e.store.WaitDurable(e.work, ticket)
	}
	snapshot, broken := flow.Decode(in.Snapshot)
	if err := errors.Join(err, broken); err != nil {
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	*d = Description{
		Instance: in.Instance, Deployment: in.Deployment, Status: in.Status, Snapshot: snapshot, Waits: slices.Clone(in.Waits),
	}
	return reply{Reply: Reply{Outcome: Accepted, Instance: in.Instance}}
}

// fire brings a due timer to its instance's lane. It is what the timers call.
func (e *Engine) fire(scope *sched.Scope, t store.Timer) timer.Outcome {
	_, err := e.straight(scope, t.Instance, flow.Input{Kind: flow.Due, Wait: t.Generation})
	switch {
	case err == nil:
		return timer.Fired
	case errors.Is(err, ErrNotWaiting), errors.Is(err, ErrNoInstance):
		return timer.Gone
	default:
		return timer.Refused
	}
}

// call runs a handler for a service task.
func (e *Engine) call(c flow.Call) (*feel.Context, error) {
	h := e.handlers[c.Type]
	if h == nil {
		return nil, flow.ErrNoHandler
	}
	return h(e.work, c)
}
