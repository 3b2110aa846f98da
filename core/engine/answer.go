package engine

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// seen looks whether a delivery has taken effect, and then answers it.
func (e *Engine) seen(q *request) (reply, bool) {
	receipt, seen, err := e.inbox.Seen(e.work, q.delivery)
	if err != nil {
		return failed(fmt.Errorf("%w: %w", ErrStore, err)), true
	}
	if !seen {
		return reply{}, false
	}
	return e.duplicate(q, receipt.Instance), true
}

// unmatched answers a delivery that nothing waits for. It looks at the inbox after the alias row was found absent: the step
// that this delivery caused may have closed its wait in between.
//
// On a channel that keeps messages it is kept: then whoever opens a wait for it afterwards finds it.
func (e *Engine) unmatched(l *laneState, q *request, message Message) laneStep {
	if r, seen := e.seen(q); seen {
		return at(r)
	}
	if q.channel.Buffer > 0 && q.flow != "" {
		return laneStep{Commit: func() laneAnswer { return laneAnswer{Reply: e.keep(l, q, message)} }}
	}
	if err := e.inbox.Absent(e.work); err != nil {
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	return at(reply{Reply: Reply{Outcome: Unmatched}})
}

// duplicate answers a delivery that took effect before, from durable state. On a channel that answers on completion the
// order is: register, then read the terminal state. The other order loses an end in between.
func (e *Engine) duplicate(q *request, id store.InstanceID) reply {
	if Internal(id) {
		return e.keptBefore()
	}
	var held *entry
	if q.channel.Ack == OnComplete {
		if held = e.settlement.register(id); held == nil {
			return failed(fmt.Errorf("%w: %d deliveries are held and none can be evicted", ErrUnsettled, e.options.SettleCapacity))
		}
	}
	end, terminal, err := e.durableEnd(e.work, id)
	switch {
	case err != nil:
		e.settlement.drop(held)
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	case held == nil:
		return reply{Reply: Reply{Outcome: Accepted, Instance: id, Duplicate: true}}
	case terminal:
		e.settlement.drop(held)
		return reply{Reply: Reply{Outcome: Completed, Instance: id, Duplicate: true, Status: end.status, Result: end.result}}
	}
	return reply{Reply: Reply{Outcome: Accepted, Instance: id, Duplicate: true}, held: e.settlement.arm(held)}
}

// keptBefore answers a delivery that was kept before, whatever has become of it.
func (e *Engine) keptBefore() reply {
	if err := e.store.WaitDurable(e.work, e.store.Visible()); err != nil {
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	return reply{Reply: Reply{Outcome: Kept, Duplicate: true}}
}

// durableEnd reads whether an instance has ended, and returns when what it read is durable. A row that is gone was collected
// after its end.
func (e *Engine) durableEnd(scope *sched.Scope, id store.InstanceID) (ending, bool, error) {
	head, ticket, err := e.store.Head(scope, id)
	if err != nil {
		return ending{}, false, err
	}
	if err := e.store.WaitDurable(scope, ticket); err != nil {
		return ending{}, false, err
	}
	if head.Status == store.Absent {
		return ending{status: store.Completed}, true, nil
	}
	return ending{status: head.Status, result: head.Result}, head.Status.Terminal(), nil
}

// await waits for the end of an instance that a delivery was told about, in the caller's task. It compares the entry with
// durable state from time to time, because the instance may end where this node does not notice.
func (e *Engine) await(scope *sched.Scope, ch *Channel, r reply) (Reply, error) {
	timeout := ch.Timeout
	if timeout == 0 {
		timeout = e.options.SettleTimeout
	}
	patience := scope.ChildTimeout("settlement", timeout)
	defer patience.Close()
	for {
		end, err := e.awaitOnce(patience, r.held)
		if err == nil {
			return e.settled(r, end)
		}
		if patience.Err() != nil {
			if e.settlement.take(r.held) {
				return Reply{}, fmt.Errorf("%w: instance %s: %w", ErrUnsettled, r.Instance, patience.Err())
			}
			continue // somebody has just settled it: the next look finds the answer
		}
		if end, terminal, err := e.durableEnd(patience, r.Instance); err == nil && terminal && e.settlement.take(r.held) {
			return e.settled(r, end)
		}
	}
}

// awaitOnce waits for the entry's outcome until the next comparison with durable state is due.
func (e *Engine) awaitOnce(patience *sched.Scope, held *entry) (ending, error) {
	if end, ok := held.outcome.Get(); ok {
		return end, nil
	}
	poll := patience.ChildTimeout("settlement poll", e.options.SettlePoll)
	defer poll.Close()
	return held.outcome.Wait(poll)
}

func (e *Engine) settled(r reply, end ending) (Reply, error) {
	if end.refused != nil {
		return Reply{}, fmt.Errorf("%w: instance %s: %w", ErrUnsettled, r.Instance, end.refused)
	}
	return Reply{Outcome: Completed, Instance: r.Instance, Duplicate: r.Duplicate, Status: end.status, Result: end.result}, nil
}

// Description is what an instance is and waits for.
type Description struct {
	Instance   store.InstanceID
	Deployment string
	Status     store.Status
	Snapshot   *flow.Snapshot
	Waits      []store.Wait
}
