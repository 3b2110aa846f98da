package engine

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
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
	if err := e.current(e.work, q.seen); err != nil {
		if errors.Is(err, errMoved) {
			return at(again(err))
		}
		return at(failed(err))
	}
	if err := e.inbox.Absent(e.work); err != nil {
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	return at(reply{Reply: Reply{Outcome: Unmatched}})
}

// duplicate answers a delivery that took effect before, from durable state. On a channel that answers on completion it waits
// for the end like the first one.
func (e *Engine) duplicate(q *request, id store.InstanceID) reply {
	if Internal(id) {
		return e.keptBefore()
	}
	read := func(scope *sched.Scope) (settle.End, bool, error) { return e.durableEnd(scope, id) }
	told := Reply{Outcome: Accepted, Instance: id, Duplicate: true}
	var answer settle.Answer
	var err error
	if q.channel.Ack == OnComplete {
		answer, err = e.settlement.Duplicate(e.work, id, read)
	} else {
		_, _, err = read(e.work)
	}
	switch {
	case errors.Is(err, settle.ErrFull), errors.Is(err, settle.ErrClosing):
		return failed(fmt.Errorf("%w: %w", ErrUnsettled, err))
	case err != nil:
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	case q.channel.Ack == OnComplete && answer.Entry == nil:
		told.Outcome, told.Status, told.Result = Completed, answer.End.Status, answer.End.Result
	}
	return reply{Reply: told, held: answer.Entry}
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
func (e *Engine) durableEnd(scope *sched.Scope, id store.InstanceID) (settle.End, bool, error) {
	head, ticket, err := e.store.Head(scope, id)
	if err != nil {
		return settle.End{}, false, err
	}
	if err := e.store.WaitDurable(scope, ticket); err != nil {
		return settle.End{}, false, err
	}
	if head.Status == store.Absent {
		return settle.End{Status: store.Completed}, true, nil
	}
	return settle.End{Status: head.Status, Result: head.Result}, head.Status.Terminal(), nil
}

// await waits for the end of an instance that a delivery was told about, in the caller's task.
func (e *Engine) await(scope *sched.Scope, ch *Channel, r reply) (Reply, error) {
	patience := settle.Patience{Timeout: ch.Timeout, Poll: e.options.SettlePoll}
	if patience.Timeout == 0 {
		patience.Timeout = e.options.SettleTimeout
	}
	end, err := e.settlement.Await(scope, r.held, patience, func(scope *sched.Scope) (settle.End, bool, error) {
		return e.durableEnd(scope, r.Instance)
	})
	if err != nil {
		return Reply{}, fmt.Errorf("%w: instance %s: %w", ErrUnsettled, r.Instance, err)
	}
	return Reply{Outcome: Completed, Instance: r.Instance, Duplicate: r.Duplicate, Status: end.Status, Result: end.Result}, nil
}

// Description is what an instance is and waits for.
type Description struct {
	Instance   store.InstanceID
	Deployment string
	Status     store.Status
	Snapshot   *flow.Snapshot
	Waits      []store.Wait
}
