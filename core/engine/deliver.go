package engine

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Deliver brings a message and returns its answer. It runs in the caller's task, which waits for room in a queue, for the
// lane, between attempts, and, on a channel that answers on completion, for the end of the instance. An error is no answer:
// the message must be brought again, under the same id. scope bounds the wait, not the effect.
func (e *Engine) Deliver(scope *sched.Scope, d Delivery) (Reply, error) {
	var all Reply
	err := e.whileMoving(scope, func(r *routes) (err error) {
		all, err = e.deliverBy(scope, r, d)
		return err
	})
	return all, err
}

// whileMoving does something by the present routes, and again by others when the deployments changed meanwhile.
func (e *Engine) whileMoving(scope *sched.Scope, do func(*routes) error) error {
	var err error
	for range moves {
		if err = do(e.routes()); !errors.Is(err, errMoved) {
			return err
		}
		if err := e.catchUp(scope); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrBusy, err)
}

// deliverBy brings a message by the given routes.
func (e *Engine) deliverBy(scope *sched.Scope, routes *routes, d Delivery) (Reply, error) {
	ch := routes.channels[d.Channel]
	switch {
	case ch == nil:
		if err := e.current(scope, routes.view); err != nil {
			return Reply{}, fmt.Errorf("deliver %s: %w", d.ID, err)
		}
		return Reply{}, fmt.Errorf("deliver %s: %w: %s", d.ID, ErrNoChannel, d.Channel)
	case d.Deployment != "" && d.Deployment != ch.deployment:
		return Reply{}, fmt.Errorf("deliver %s on channel %s: %w: %s", d.ID, d.Channel, ErrSuperseded, ch.deployment)
	}
	var all Reply
	for i, flow := range ch.receivers {
		r, err := e.deliverTo(scope, routes, ch, flow, d)
		if err != nil {
			return Reply{}, fmt.Errorf("deliver %s on channel %s: %w", d.ID, d.Channel, err)
		}
		if i == 0 || better(r, all) {
			all = r
		}
	}
	return all, nil
}

// better reports whether an answer of one flow says more than that of those before: what took effect before what is kept, what is
// kept before what met nobody.
func better(r, than Reply) bool {
	rank := func(r Reply) int {
		switch r.Outcome {
		case Completed, Accepted:
			return 3
		case Kept:
			return 2
		default:
			return 1
		}
	}
	return rank(r) > rank(than) || rank(r) == rank(than) && than.Duplicate && !r.Duplicate
}

// deliverTo brings the message to one flow.
func (e *Engine) deliverTo(scope *sched.Scope, routes *routes, ch *Channel, flow string, d Delivery) (Reply, error) {
	r, err := e.attempts(scope, func() (reply, error) { return e.router.Deliver(scope, e.newRequest(routes, ch, flow, d)) })
	if err == nil && r.held != nil {
		r.Reply, err = e.await(scope, ch, r)
	}
	return r.Reply, err
}

// newRequest makes a new attempt: every attempt decodes and resolves once.
func (e *Engine) newRequest(routes *routes, ch *Channel, flow string, d Delivery) *request {
	q := &request{routed: routes.view, channel: ch, flow: flow, delivery: store.Delivery{Channel: d.Channel, ID: d.ID}}
	if ch.Flow == "" {
		q.delivery.Channel += separator + flow
	}
	q.attempt = lane.NewHandoff(e.s, d.Decode, func(m Message) (correlate.Target, error) {
		return e.correlator.Resolve(e.work, aliasChannel(flow, ch.Message), m.Key)
	})
	return q
}

// attempts brings a request until it does not bounce. The pause between two attempts doubles, up to a hundred times the
// first.
func (e *Engine) attempts(scope *sched.Scope, bring func() (reply, error)) (reply, error) {
	const most = 100
	pause := e.options.Backoff
	for n := 1; ; n++ {
		r, err := bring()
		if err != nil {
			return r, err
		}
		if !r.retry || errors.Is(r.err, errMoved) {
			return r, r.err
		}
		if n == e.options.Attempts {
			return r, fmt.Errorf("%w after %d attempts: %w", ErrBusy, n, r.err)
		}
		if err := e.s.Sleep(scope, "engine attempt", pause); err != nil {
			return r, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		pause = min(2*pause, most*e.options.Backoff)
	}
}

// bounce sorts the errors of taking and entering an instance: those that say "not now" send the request back to the start.
func bounce(err error) reply {
	switch {
	case errors.Is(err, claim.ErrClaimed), errors.Is(err, correlate.ErrMoved), errors.Is(err, store.ErrFenced):
		return again(err)
	case errors.Is(err, store.ErrNotFound):
		return failed(fmt.Errorf("%w: %w", ErrNoInstance, err))
	default:
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
}
