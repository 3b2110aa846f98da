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
	ch := e.catalog.channels[d.Channel]
	if ch == nil {
		return Reply{}, fmt.Errorf("deliver %s: %w: %s", d.ID, ErrNoChannel, d.Channel)
	}
	r, err := e.attempts(scope, func() (reply, error) { return e.router.Deliver(scope, e.newRequest(ch, d)) })
	if err == nil && r.held != nil {
		r.Reply, err = e.await(scope, ch, r)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("deliver %s on channel %s: %w", d.ID, d.Channel, err)
	}
	return r.Reply, nil
}

// newRequest makes a new attempt: every attempt decodes and resolves once.
func (e *Engine) newRequest(ch *Channel, d Delivery) *request {
	q := &request{channel: ch, delivery: store.Delivery{Channel: d.Channel, ID: d.ID}}
	q.attempt = lane.NewHandoff(e.s, d.Decode, func(m Message) (correlate.Target, error) {
		return e.correlator.Resolve(e.work, ch.Message, m.Key)
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
		if !r.retry {
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
