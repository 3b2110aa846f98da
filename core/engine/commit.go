package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
)

// transaction is a step that ran and is not committed.
type transaction struct {
	q                *request
	cause            string
	instance         store.InstanceID
	deployment, flow string
	result           *flow.Result
	hold             *claim.Hold  // of an instance that exists
	spawn            *store.Claim // of one that does not
	inbox            bool         // the step takes a delivery in
	stuck            bool         // the instance had incidents before
	decided          bool         // the step rests on the decision that its lane saw, whether or not the store is shared
	message          Message      // of a spawn
	answer           []byte       // of an instance that ends: its variables as JSON
}

// aliasRounds bounds how often a step is committed again after its correlation keys were refused. Each round takes the
// refused waits back, so the second one fails only when a key was taken in between.
const aliasRounds = 4

// transact returns the commit of a transaction.
func (e *Engine) transact(l *laneState, t *transaction) laneStep {
	return laneStep{Commit: func() laneAnswer { return laneAnswer{Reply: e.commit(l, t)} }}
}

// commit runs the transaction until it is decided, and answers. An on-complete delivery is registered before and armed after it.
func (e *Engine) commit(l *laneState, t *transaction) reply {
	began := e.s.Now()
	run := func() (end settle.End, terminal bool, err error) {
		if err = e.decide(l, t); err == nil {
			end, terminal = e.committed(t)
			e.observeCommit(l, t, began, terminal)
		}
		return end, terminal, err
	}
	var answer settle.Answer
	var err error
	defers := t.q.attempt != nil && t.q.channel.Ack == OnComplete
	if defers {
		answer, err = e.settlement.Commit(t.instance, run)
	} else {
		_, _, err = run()
	}
	switch {
	case err != nil:
		return e.uncommitted(l, t, err)
	case defers && answer.Entry == nil:
		return reply{Reply: Reply{Outcome: Completed, Instance: t.instance, Status: answer.End.Status, Result: answer.End.Result}, locked: t.result.Locked}
	}
	return reply{Reply: Reply{Outcome: Accepted, Instance: t.instance}, locked: t.result.Locked, held: answer.Entry}
}

// decide commits until the outcome is known. Nobody is told anything before it returns.
func (e *Engine) decide(l *laneState, t *transaction) error {
	var err error
	for range aliasRounds {
		if err = e.commitOnce(l, t); !errors.Is(err, store.ErrAlias) {
			break
		}
		if err = e.refuseAliases(t); err != nil {
			break
		}
	}
	return err
}

// uncommitted answers for a transaction that did not happen, or of which that is not known.
func (e *Engine) uncommitted(l *laneState, t *transaction, err error) reply {
	if errors.Is(err, errKeyHeld) {
		return e.waitForKey(l, t)
	}
	if t.hold != nil {
		err = errors.Join(err, t.hold.Free())
	}
	switch {
	case errors.Is(err, settle.ErrFull):
		return failed(fmt.Errorf("%w: %w", ErrNoRoom, err))
	case errors.Is(err, settle.ErrClosing):
		return failed(fmt.Errorf("%w: %w", lane.ErrStopped, err))
	case !store.Definite(err):
		return failed(fmt.Errorf("%w: %w", ErrUndecided, err))
	case errors.Is(err, store.ErrDuplicate):
		return e.duplicate(t.q, t.instance)
	case errors.Is(err, store.ErrSuperseded):
		return again(fmt.Errorf("%w: %w", errMoved, err))
	case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrConflict):
		return again(err)
	case errors.Is(err, store.ErrInvalid) && t.q.attempt != nil:
		return rejected(err.Error())
	default:
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
}

func (e *Engine) commitOnce(l *laneState, t *transaction) error {
	st, err := e.storeStep(l, t)
	if err != nil {
		return err
	}
	if t.hold != nil {
		return t.hold.Commit(e.work, st)
	}
	st.Claim, st.Spawn = *t.spawn, true
	return l.committer.Commit(e.work, st)
}

// storeStep writes the result as the store's transaction: all of it, or nothing of it.
func (e *Engine) storeStep(l *laneState, t *transaction) (*store.Step, error) {
	snapshot, err := t.result.Snapshot.Encode()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	st := &store.Step{
		Cause: t.cause, Status: store.Running, Deployment: t.deployment, Flow: t.flow, Snapshot: snapshot, Close: t.result.Close,
	}
	for _, w := range t.result.Open {
		st.Open = append(st.Open, storeWait(w))
	}
	for _, x := range t.result.Emissions {
		out, err := emission(x)
		if err != nil {
			return nil, err
		}
		st.Outbox = append(st.Outbox, out)
	}
	st.Rows = append(t.q.rows[:len(t.q.rows):len(t.q.rows)], offerRows(t.instance, t.result.Offers)...)
	journal, err := e.journalRow(t)
	if err != nil {
		return nil, err
	}
	incidents, err := incidentRow(t)
	if err != nil {
		return nil, err
	}
	st.Rows = append(append(st.Rows, journal...), incidents...)
	if st.Status = statusOf(t.result.Snapshot.Status); st.Status.Terminal() {
		if t.answer, err = feel.AppendJSON(nil, t.result.Snapshot.Variables.Context); err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
		st.Result = t.answer
	}
	if t.inbox {
		st.Inbox = t.q.receipt(e.s.Now())
	}
	switch {
	case t.decided:
		st.Expect = l.decisionRow(t.q.seen)
	case t.inbox:
		st.Expect = e.expectation(l, t.q.seen)
	}
	return st, nil
}

func storeWait(w flow.Wait) store.Wait {
	out := store.Wait{Generation: w.Generation, Element: w.Element, Key: w.Key, Due: w.Due, Data: []byte(w.Kind)}
	if w.Flow != "" {
		out.Channel = aliasChannel(w.Flow, w.Message)
	}
	return out
}

func statusOf(s flow.Status) store.Status {
	switch s {
	case flow.Completed:
		return store.Completed
	case flow.Canceled:
		return store.Failed
	default:
		return store.Running
	}
}

// errKeyHeld: the business key that a start is to hold is held by an instance that has not ended.
var errKeyHeld = errors.New("an instance with this business key has not ended")

// waitForKey keeps a delivery whose instance can only start after the end of another, or says that it met nobody.
func (e *Engine) waitForKey(l *laneState, t *transaction) reply {
	if t.q.channel.Buffer > 0 {
		return e.keep(l, t.q, t.message)
	}
	if err := e.store.WaitDurable(e.work, e.store.Visible()); err != nil {
		return failed(fmt.Errorf("%w: %w", ErrStore, err))
	}
	return reply{Reply: Reply{Outcome: Unmatched, Reason: fmt.Sprintf("%v: %s", errKeyHeld, t.message.Key)}}
}

// refuseAliases takes back the waits whose correlation key an open wait of somebody holds: each is an incident of its token.
func (e *Engine) refuseAliases(t *transaction) error {
	mine := map[[2]string]bool{}
	for _, w := range slices.Clone(t.result.Open) {
		if w.Flow == "" {
			continue
		}
		name := [2]string{aliasChannel(w.Flow, w.Message), w.Key}
		holder, err := e.aliasHolder(e.work, t, w)
		if err != nil {
			return err
		}
		if mine[name] {
			holder = "another wait of this instance"
		}
		mine[name] = true
		if holder != "" && w.Generation == t.result.Snapshot.KeyWait {
			return errKeyHeld
		}
		if holder != "" {
			t.result.Refuse(w.Generation, fmt.Sprintf("correlation key %q for message %s is held by %s", w.Key, w.Message, holder))
		}
	}
	return nil
}

// aliasHolder names who holds the key of a wait, or returns "" when it is free or will be with this step.
func (e *Engine) aliasHolder(scope *sched.Scope, t *transaction, w flow.Wait) (string, error) {
	alias, _, err := e.store.Resolve(scope, aliasChannel(w.Flow, w.Message), w.Key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case alias.Instance != t.instance:
		return "instance " + string(alias.Instance), nil
	case !slices.Contains(t.result.Close, alias.Generation):
		return "another wait of this instance", nil
	}
	return "", nil
}

// committed tells the timers and the sender that there is something to read, and settles who waited for the instance
// when it has ended.
func (e *Engine) committed(t *transaction) (settle.End, bool) {
	var kinds store.Hint
	for _, w := range t.result.Open {
		if !w.Due.IsZero() {
			e.timers.Armed(w.Due)
			if e.timers.Overlooked(w.Due) {
				kinds |= store.HintTimers
			}
		}
	}
	if len(t.result.Emissions) > 0 {
		e.outbox.Emitted()
		kinds |= store.HintEmissions
	}
	if offered(t.result.Offers) {
		e.board.Announce()
		kinds |= store.HintTasks
	}
	status := statusOf(t.result.Snapshot.Status)
	if status.Terminal() && e.hinter != nil && e.routes().holding[t.flow] {
		kinds |= store.HintEnds
	}
	e.hint(kinds)
	e.lookForKept(t.result)
	if !status.Terminal() {
		return settle.End{}, false
	}
	e.endedOf(t.deployment)
	end := settle.End{Status: status, Result: t.answer}
	e.settlement.Ended(t.instance, end)
	return end, true
}

// lookForKept tells the box for whom messages may have been kept: for waits that the step opened, and for the next start under a
// business key that it gave back.
func (e *Engine) lookForKept(r *flow.Result) {
	for _, w := range r.Open {
		if w.Flow != "" && w.Message != "" {
			e.box.Look(kept{Flow: w.Flow, Message: w.Message, Key: w.Key}.slot)
		}
	}
	if s := r.Snapshot; s.KeyWait != 0 && s.Status != flow.Running {
		e.box.Look(kept{Flow: s.Flow, Key: s.Key}.slot)
	}
}
