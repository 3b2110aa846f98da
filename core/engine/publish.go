package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// thrown is the payload of an emission that goes to other instances.
type thrown struct {
	Message   string          `json:"message"`
	Key       string          `json:"key,omitempty"`
	Variables json.RawMessage `json:"variables"`
}

// emission writes what a step emits for the store.
func emission(x flow.Emission) (store.Emission, error) {
	out := store.Emission{Target: x.Target, Payload: x.Payload}
	if x.Target == flow.ToInstances {
		var err error
		if out.Payload, err = json.Marshal(thrown{x.Message, x.Key, x.Payload}); err != nil {
			return out, fmt.Errorf("%w: thrown message %s: %w", store.ErrInvalid, x.Message, err)
		}
	}
	return out, nil
}

// send gives an emission to its receiver: to other instances here, everything else to what the engine was given.
func (e *Engine) send(scope *sched.Scope, x store.Emission) error {
	id := fmt.Sprintf("%s/%d", x.Instance, x.Sequence)
	switch x.Target {
	case flow.ToInstances:
		return e.publish(scope, id, x.Payload)
	case flow.ToStart:
		return e.startScheduled(scope, id, x.Payload)
	default:
		if e.sendOut == nil {
			return fmt.Errorf("send emission %s: there is no receiver %q", id, x.Target)
		}
		return e.sendOut(scope, x)
	}
}

// publish brings a thrown message to every flow that waits for it and starts every flow that begins with it. Whoever does not wait
// yet has Options.MessageTTL to begin; when nobody is meant at all the message is dropped, and Options.Dropped is told.
func (e *Engine) publish(scope *sched.Scope, id string, payload []byte) error {
	var t thrown
	if err := json.Unmarshal(payload, &t); err != nil {
		return fmt.Errorf("publish message %s: %w", id, err)
	}
	decode := func() (Message, error) {
		v, err := feel.ParseJSON(t.Variables)
		if err != nil {
			return Message{}, err
		}
		variables, ok := v.(*feel.Context)
		if !ok {
			return Message{}, fmt.Errorf("variables of message %s: %w", t.Message, ErrRequest)
		}
		return Message{Variables: variables, Key: t.Key}, nil
	}
	reached := false
	err := e.whileMoving(scope, func(r *routes) error {
		some, err := e.publishBy(scope, r, t, Delivery{ID: id, Decode: decode})
		reached = reached || some
		return err
	})
	if err != nil {
		return fmt.Errorf("publish message %s: %w", id, err)
	}
	if !reached {
		e.dropped(t.Message, t.Key)
	}
	return nil
}

func (e *Engine) dropped(message, key string) {
	if e.options.Dropped != nil {
		e.options.Dropped(message, key)
	}
}

// publishBy brings a thrown message by the given routes, and reports whether somebody was meant.
func (e *Engine) publishBy(scope *sched.Scope, routes *routes, t thrown, d Delivery) (reached bool, err error) {
	bring := func(ch *Channel, flow string) error {
		d.Channel = ch.Name
		r, err := e.attempts(scope, func() (reply, error) { return e.router.Deliver(scope, e.newRequest(routes, ch, flow, d)) })
		reached = reached || err == nil && (r.Outcome == Accepted || r.Outcome == Kept)
		return err
	}
	var errs []error
	if t.Key != "" {
		for _, f := range routes.awaiting(t.Message) {
			errs = append(errs, bring(&Channel{Name: thrownChannel, Message: t.Message, Buffer: e.options.MessageTTL, Keep: RememberSent}, f))
		}
	}
	for _, f := range routes.startedBy(t.Message) {
		ch := &Channel{Name: startedChannel + separator + f, Message: t.Message, Flow: f, Correlates: true, Buffer: e.options.MessageTTL, Keep: RememberSent}
		errs = append(errs, bring(ch, f))
	}
	return reached, errors.Join(errs...)
}

// startScheduled starts an instance at a timer start event that came due.
func (e *Engine) startScheduled(scope *sched.Scope, id string, payload []byte) error {
	var p flow.ToStartPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return fmt.Errorf("start by timer %s: %w", id, err)
	}
	ch := &Channel{Name: startedChannel, Flow: p.Flow, Keep: RememberSent}
	nothing := func() (Message, error) { return Message{Variables: feel.NewContext()}, nil }
	return e.whileMoving(scope, func(r *routes) error {
		if d := r.view.Active.Definitions.flow(p.Flow); d == nil || !slices.Contains(d.Schedules(), p.Element) {
			e.dropped(fmt.Sprintf("timer start event %s of process %s, which the active deployment has not", p.Element, p.Flow), "")
			return nil
		}
		_, err := e.attempts(scope, func() (reply, error) {
			q := e.newRequest(r, ch, p.Flow, Delivery{Channel: ch.Name, ID: id, Decode: nothing})
			q.element = p.Element
			return e.router.Deliver(scope, q)
		})
		return err
	})
}
