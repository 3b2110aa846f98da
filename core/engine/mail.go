package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// kept is a message that waits for somebody to wait for it: the value of its row.
type kept struct {
	Flow      string          `json:"flow"`
	Message   string          `json:"message,omitempty"` // empty: it starts the flow
	Start     string          `json:"start,omitempty"`   // the message name that it starts the flow by
	Key       string          `json:"key"`
	Variables json.RawMessage `json:"variables"`
}

func (k kept) slot() string { return digest(aliasChannel(k.Flow, k.Message), k.Key) }

// keep takes a delivery in that nobody waits for: one transaction writes its receipt and the message's row. It runs as the commit
// of a lane's step, and is a step of a row of its own, which has ended at once.
func (e *Engine) keep(l *laneState, q *request, message Message) reply {
	k := kept{Flow: q.flow, Message: q.channel.Message, Key: message.Key}
	if q.channel.Flow != "" {
		k = kept{Flow: q.channel.Flow, Start: q.channel.Message, Key: message.Key}
	}
	id := mailID(q.delivery)
	head, _, err := e.store.Head(e.work, id)
	if err != nil {
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	st, err := e.keepStep(l, q, k, message, head)
	if err != nil {
		return rejected(err.Error())
	}
	if head.Status.Terminal() { // its receipt was forgotten, or the row not collected yet
		if _, err := e.store.Collect(e.work, id); err != nil {
			return again(err)
		}
		st.Claim.Epoch = 0
	}
	// Epochs of a row that is collected begin again: no record of an earlier message under this id must decide about this one.
	l.respawns++
	st.Cause = fmt.Sprintf("%s/%d", st.Cause, l.respawns)
	switch err := l.committer.Commit(e.work, st); {
	case err == nil:
	case !store.Definite(err):
		return failed(fmt.Errorf("%w: %w", ErrUndecided, err))
	case errors.Is(err, store.ErrDuplicate):
		return e.duplicate(q, id)
	case errors.Is(err, store.ErrSuperseded):
		return again(fmt.Errorf("%w: %w", errMoved, err))
	case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrConflict):
		return again(err)
	default:
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	// The row has done its work. When this fails it stays until the next message under the same id.
	_, _ = e.store.Collect(e.work, id)
	e.box.Kept(k.slot())
	e.hint(store.HintMail)
	return reply{Reply: Reply{Outcome: Kept}}
}

func (e *Engine) keepStep(l *laneState, q *request, k kept, message Message, head store.Head) (*store.Step, error) {
	var err error
	if k.Variables, err = feel.AppendJSON(nil, message.Variables); err != nil {
		return nil, err
	}
	value, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	now := e.s.Now()
	id := mailID(q.delivery)
	return &store.Step{
		Expect: e.expectation(l, q.seen),
		Cause:  q.cause(), Claim: store.Claim{Instance: id, Owner: l.owner, Epoch: head.Epoch}, Spawn: true, Status: store.Completed,
		Inbox: q.receipt(now),
		Rows: []store.Row{{
			Space: mail.Space, Key: mail.Key(k.slot(), now, string(id)), Value: value, Expires: now.Add(q.channel.Buffer),
		}},
	}, nil
}

// receipt is what the inbox is to remember of the delivery.
func (q *request) receipt(now time.Time) *store.Receipt {
	r := &store.Receipt{Delivery: q.delivery}
	if keep := q.channel.Keep; keep > 0 {
		r.Expires = now.Add(keep)
	}
	return r
}

// bring delivers a kept message as if it had just come. Its row goes with the step that it causes.
func (e *Engine) bring(scope *sched.Scope, row store.Row) mail.Outcome {
	var k kept
	if err := json.Unmarshal(row.Value, &k); err != nil {
		// Only keep writes these rows.
		panic(fmt.Sprintf("engine: kept message %s: %v", row.Key, err))
	}
	routes := e.routes()
	ch := &Channel{Name: mailChannel, Message: k.Message, Keep: RememberSent}
	if k.Message == "" {
		ch.Flow, ch.Message, ch.Correlates = k.Flow, k.Start, true
		if routes.view.Active.Definitions.flow(k.Flow) == nil {
			return mail.Nobody // a later deployment has no such process; its time will be over
		}
	}
	q := e.newRequest(routes, ch, k.Flow, Delivery{Channel: mailChannel, ID: row.Key, Decode: func() (Message, error) {
		v, err := feel.ParseJSON(k.Variables)
		if err != nil {
			return Message{}, err
		}
		variables, ok := v.(*feel.Context)
		if !ok {
			return Message{}, fmt.Errorf("variables of kept message: %w", ErrRequest)
		}
		return Message{Variables: variables, Key: k.Key}, nil
	}})
	q.rows = []store.Row{{Space: mail.Space, Key: row.Key, Delete: true}}
	r, err := e.router.Deliver(scope, q)
	switch {
	case err != nil || r.err != nil:
		return mail.NotNow
	case r.Outcome == Unmatched:
		return mail.Nobody
	default:
		return mail.Taken
	}
}
