package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// A timer start event is an instance of its own that does nothing but start others: it waits for its time, emits, and waits
// again. So it lives through restarts by what keeps every other timer and emission, and starts each instance once.
//
// Each deployment has schedules of its own, and a moment is fired by one of them. What comes due is fired by the deployment that is active
// then: the step of a tick rests on the decision, so it is before or after a change and not beside it. The schedule of a later
// deployment begins behind what earlier ones have fired. What a tick starts is of the deployment that is active when it starts.
//
// scheduleSpace lists them, so that those of a deployment that is not the present one are found and cancelled; firedSpace has the last
// moment that was fired of each timer start event, whatever the deployment.
const (
	scheduleSpace = "schedule"
	firedSpace    = "schedule/fired"
)

var errReplaced = errors.New("the timer start event is that of a deployment that is not active")

func firedKey(flow, element string) string { return digest(flow, element) }

// schedulePause is the pause before schedules are tried again.
const schedulePause = time.Second

// keepSchedules brings the schedules in line with the active deployment, once.
func (e *Engine) keepSchedules(scope *sched.Scope) error {
	v := e.flip.Observe()
	return errors.Join(e.makeSchedules(scope, v.Active), e.cancelSchedules(scope, v))
}

func (e *Engine) makeSchedules(scope *sched.Scope, active deployment) error {
	var errs []error
	for _, d := range active.Definitions.list {
		for _, element := range d.Schedules() {
			id := scheduleID(active.ID, d.ID(), element)
			q := &request{instance: id, schedule: d, of: active.ID, input: flow.Input{Kind: flow.Schedule, Element: element}}
			r, err := e.router.Straight(scope, string(id), q)
			errs = append(errs, err, r.err)
		}
	}
	return errors.Join(errs...)
}

// cancelSchedules ends the schedules of other deployments. Among replicas the view may be an old one; what was listed before it was found
// to be current is of no newer one.
func (e *Engine) cancelSchedules(scope *sched.Scope, v *view) error {
	rows, _, err := e.store.Rows(scope, scheduleSpace, "", store.MaxScan)
	if err != nil {
		return fmt.Errorf("list schedules: %w", err)
	}
	if err := e.current(scope, v); err != nil {
		return err
	}
	var errs []error
	for _, row := range rows {
		if string(row.Value) == v.Active.ID {
			continue
		}
		_, err := e.straight(scope, store.InstanceID(row.Key), flow.Input{Kind: flow.Cancel})
		if errors.Is(err, ErrNoInstance) {
			err = nil // it has ended by itself
		}
		if err == nil {
			_, err = e.store.Write(scope, []store.Row{{Space: scheduleSpace, Key: row.Key, Delete: true}})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// schedule runs the request that begins a schedule.
func (e *Engine) schedule(l *laneState, q *request) laneStep {
	if q.of != q.seen.Active.ID {
		return at(again(errMoved))
	}
	head, _, err := e.store.Head(e.work, q.instance)
	if err != nil {
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	epoch := head.Epoch
	// One for each life: a schedule begins anew when its deployment comes back after another one.
	q.delivery = store.Delivery{Channel: scheduleChannel, ID: fmt.Sprintf("%s/%d", q.instance, epoch)}
	switch head.Status {
	case store.Absent, store.Void:
	case store.Failed: // cancelled, when another deployment came
		if epoch, _, err = e.store.Vacate(e.work, q.instance, q.delivery); err != nil {
			return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
		}
	default: // it goes on, or has come to its end
		return at(reply{Reply: Reply{Outcome: Accepted, Instance: q.instance}})
	}
	if q.input.After, err = e.fired(q.schedule.ID(), q.input.Element); err != nil {
		return at(failed(fmt.Errorf("%w: %w", ErrStore, err)))
	}
	result, err := flow.Step(q.schedule, nil, q.input, e.environment(q.instance))
	if err != nil {
		return at(failed(err))
	}
	q.channel = &Channel{Name: scheduleChannel}
	q.rows = []store.Row{{Space: scheduleSpace, Key: string(q.instance), Value: []byte(q.of)}}
	return e.transact(l, &transaction{
		q: q, cause: "schedule/" + string(q.instance), instance: q.instance, deployment: q.of, flow: q.schedule.ID(),
		result: result, spawn: &store.Claim{Instance: q.instance, Owner: l.owner, Epoch: epoch}, inbox: true, decided: true,
	})
}

// tick judges whether a schedule may fire what is due, and notes that it does. errMoved: by the deployments that are known here it may not, but
// those are not the present ones.
func (e *Engine) tick(q *request, in store.Instance) error {
	if in.Deployment != q.seen.Active.ID {
		if err := e.current(e.work, q.seen); err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", errReplaced, in.Deployment)
	}
	for _, w := range in.Waits {
		if w.Generation == q.input.Wait {
			q.rows = []store.Row{{Space: firedSpace, Key: firedKey(in.Flow, w.Element), Value: []byte(w.Due.UTC().Format(time.RFC3339Nano))}}
			break
		}
	}
	return nil
}

// fired returns the last moment that was fired of a timer start event, by whatever deployment.
func (e *Engine) fired(flow, element string) (last time.Time, err error) {
	row, _, err := e.store.Row(e.work, firedSpace, firedKey(flow, element))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return last, nil
	case err == nil:
		last, err = time.Parse(time.RFC3339Nano, string(row.Value))
	}
	if err != nil {
		err = fmt.Errorf("read what timer start event %s of process %s has fired: %w", element, flow, err)
	}
	return last, err
}
