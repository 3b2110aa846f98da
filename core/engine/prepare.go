package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/store"
)

// prepare runs a request up to its transaction. It is the lanes' prepare function: nothing else calls what is below.
func (e *Engine) prepare(id int, q *request) laneStep {
	l := e.lanes[id]
	if q.word != nil {
		e.flip.Apply(id, q.word)
		return at(reply{})
	}
	q.seen = e.flip.Take(id)
	switch {
	case q.attempt != nil && q.attempt.Arrived() && q.routed != q.seen:
		return at(again(errMoved))
	case q.schedule != nil:
		return e.schedule(l, q)
	case q.attempt == nil:
		return e.input(l, q)
	case q.attempt.Arrived():
		return e.arrive(l, q)
	default:
		return e.resume(l, q) // it hopped here
	}
}

// arrive decodes a delivery, and spawns or resolves.
func (e *Engine) arrive(l *laneState, q *request) laneStep {
	if reason := nameFault(q.delivery.ID); reason != "" {
		return at(rejected("delivery id " + reason))
	}
	message, err := q.attempt.Decode()
	if err != nil {
		return at(rejected(err.Error()))
	}
	if q.channel.Flow != "" {
		if reason := nameFault(message.Key); message.Key != "" && reason != "" {
			return at(rejected("business key " + reason))
		}
		return e.spawn(l, q, message)
	}
	if reason := nameFault(message.Key); reason != "" {
		return at(rejected("correlation key " + reason))
	}
	if r, seen := e.seen(q); seen {
		return at(r)
	}
	target, err := q.attempt.Resolve()
	switch {
	case errors.Is(err, correlate.ErrNoWait):
		return e.unmatched(l, q, message)
	case err != nil:
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	switch owner := e.router.Owner(string(target.Instance)); {
	case owner == l.id:
		return e.resume(l, q)
	case e.router.Busy(owner):
		return e.stay(l, q)
	}
	return hop(q, target)
}

// hop asks the caller to bring a resolved delivery to the owner lane of its instance.
func hop(q *request, target correlate.Target) laneStep {
	return laneStep{Answer: laneAnswer{Hop: &lane.Hop[*request]{Instance: string(target.Instance), Request: q}}}
}

// stay resumes an instance of another lane where the delivery arrived, because that lane is at work: routing is affinity, and who has
// the claim may advance the instance. When somebody has it, most likely that very lane, the delivery hops and waits its turn there
// instead of bouncing.
func (e *Engine) stay(l *laneState, q *request) laneStep {
	out, err := e.enter(l, q)
	switch {
	case errors.Is(err, claim.ErrClaimed):
		_, target := q.attempt.Receive()
		return hop(q, target)
	case err != nil:
		return at(bounce(err))
	}
	return out
}

// nameFault returns what is wrong with a name that the store is to keep, or "".
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > store.MaxName:
		return fmt.Sprintf("has %d bytes, more than %d", len(name), store.MaxName)
	}
	return ""
}

func rejected(reason string) reply {
	return reply{Reply: Reply{Outcome: Rejected, Reason: reason}}
}

// resume is all that the lane which runs the step does of a delivery: claim, load, guards, pin, step.
func (e *Engine) resume(l *laneState, q *request) laneStep {
	out, err := e.enter(l, q)
	if err != nil {
		return at(bounce(err))
	}
	return out
}

// enter is resume, with the error of an instance that could not be entered: the delivery is as it was.
func (e *Engine) enter(l *laneState, q *request) (laneStep, error) {
	message, target := q.attempt.Receive()
	entered, err := e.correlator.Enter(e.work, l.claims, target)
	if err != nil {
		return laneStep{}, err
	}
	q.attempt.Enter(lane.Claimed)
	q.attempt.Enter(lane.Loaded)
	q.attempt.Enter(lane.Guarded)
	return e.advance(l, q, entered.Hold, entered.Instance,
		flow.Input{Kind: flow.Message, Wait: entered.Wait.Generation, Payload: message.Variables}), nil
}

// input runs a request that names its instance.
func (e *Engine) input(l *laneState, q *request) laneStep {
	hold, err := l.claims.Take(e.work, q.instance)
	if err != nil {
		return at(bounce(err))
	}
	in, ticket, err := hold.Load(e.work)
	switch {
	case err != nil:
		return at(bounce(errors.Join(err, hold.Free())))
	case q.describe != nil:
		return at(e.describe(q.describe, hold, in, ticket))
	}
	return e.advance(l, q, hold, in, q.input)
}

// advance steps an instance that is held. The hold ends with the commit, or here: on every other way out, panics included.
func (e *Engine) advance(l *laneState, q *request, hold *claim.Hold, in store.Instance, input flow.Input) (out laneStep) {
	defer func() {
		if out.Commit == nil {
			if err := hold.Free(); err != nil && out.Answer.Reply.err != nil {
				out.Answer.Reply.err = errors.Join(out.Answer.Reply.err, err)
			}
		}
	}()
	known, _ := e.flip.Known(l.id, in.Deployment)
	d := known.Definitions.flow(in.Flow)
	if d == nil && input.Kind != flow.Cancel {
		if err := e.current(e.work, q.seen); errors.Is(err, errMoved) {
			return at(again(err)) // another replica has activated it
		}
		return at(failed(fmt.Errorf("%w: instance %s of process %s, deployment %s", ErrNoDefinition, in.Instance, in.Flow, in.Deployment)))
	}
	tick := IsSchedule(in.Instance) && input.Kind == flow.Due
	if tick {
		if err := e.tick(q, in); err != nil {
			return at(reply{err: err, retry: errors.Is(err, errMoved)})
		}
	}
	if q.attempt != nil {
		q.attempt.Enter(lane.Pinned)
	}
	snapshot, err := flow.Decode(in.Snapshot)
	if err != nil {
		return at(failed(fmt.Errorf("%w: instance %s: %w", ErrStore, in.Instance, err)))
	}
	if q.attempt != nil {
		q.attempt.Enter(lane.Resumed)
	}
	stuck := snapshot.Stuck()
	result, err := flow.Step(d, snapshot, input, e.environment(in.Instance))
	if err != nil {
		return at(failed(leaseFault(err)))
	}
	return e.transact(l, &transaction{
		q: q, cause: q.cause(), instance: in.Instance, deployment: in.Deployment, flow: in.Flow, result: result, hold: hold,
		inbox: q.attempt != nil, decided: tick, stuck: stuck,
	})
}

// spawn starts an instance on the lane that the delivery arrived on. Its id is a function of the delivery, so there is one
// row for all attempts at it, and nothing to claim: the row is absent, or void at the epoch that this attempt asserts.
func (e *Engine) spawn(l *laneState, q *request, message Message) laneStep {
	id := SpawnID(q.delivery)
	head, _, err := e.store.Head(e.work, id)
	if err != nil {
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	epoch := head.Epoch
	if head.Status != store.Absent && head.Status != store.Void {
		var r reply
		var anew bool
		if epoch, anew, r = e.forgotten(q, head); !anew {
			return at(r)
		}
	}
	active := q.seen.Active
	d := active.Definitions.flow(q.channel.Flow)
	start := q.channel.Message
	if !d.Starts(start) {
		start = "" // define has seen that there is a none start event then
	}
	in := flow.Input{Kind: flow.Start, Message: start, Element: q.element, Payload: message.Variables}
	result, err := flow.Step(d, nil, in, e.environment(id))
	if err != nil {
		return at(rejected(err.Error()))
	}
	if q.channel.Correlates && message.Key != "" {
		result.HoldKey(message.Key)
	}
	return e.transact(l, &transaction{
		q: q, cause: q.cause(), instance: id, deployment: active.ID, flow: d.ID(), result: result,
		spawn: &store.Claim{Instance: id, Owner: l.owner, Epoch: epoch}, inbox: true, message: message,
	})
}

// forgotten looks whether a delivery whose instance exists is a new one: the channel keeps ids for a time only, the inbox has
// forgotten this one, and its instance has ended. Then the old row makes room, at the epoch that is returned. Otherwise the
// delivery is answered.
func (e *Engine) forgotten(q *request, head store.Head) (store.Epoch, bool, reply) {
	if q.channel.Keep == 0 || !head.Status.Terminal() {
		return 0, false, e.duplicate(q, head.Instance)
	}
	if r, seen := e.seen(q); seen {
		return 0, false, r
	}
	switch epoch, _, err := e.store.Vacate(e.work, head.Instance, q.delivery); {
	case err == nil:
		return epoch, true, reply{}
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrUnknown):
		return 0, false, again(err) // another lane was first, or nobody knows: look again
	default:
		return 0, false, failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
}

// cause names what made a step run: the same in every attempt, so that a record of the step decides whether it committed.
func (q *request) cause() string {
	switch {
	case q.attempt != nil:
		sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(q.delivery.Channel), q.delivery.Channel, q.delivery.ID))
		return "delivery/" + hex.EncodeToString(sum[:12])
	case q.input.Kind == flow.Resolve:
		return fmt.Sprintf("resolve/%s/%d", q.instance, q.input.Token)
	case q.input.Kind == flow.Due:
		return fmt.Sprintf("timer/%s/%d", q.instance, q.input.Wait)
	case q.input.Kind == flow.Cancel:
		return fmt.Sprintf("cancel/%s", q.instance)
	default:
		return fmt.Sprintf("task/%s/%s/%d", q.input.Kind, q.instance, q.input.Wait)
	}
}

func (e *Engine) environment(id store.InstanceID) flow.Environment {
	return flow.Environment{
		Instance: string(id), Now: e.s.Now(), Call: e.call, Fits: e.fits, MaxVisits: e.options.MaxVisits, Limits: e.options.Limits,
	}
}
