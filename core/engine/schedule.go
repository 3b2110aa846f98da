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
// scheduleSpace lists them, so that those of a deployment that is not the present one are found and cancelled.
const scheduleSpace = "schedule"

// schedulePause is the pause before schedules are tried again.
const schedulePause = time.Second

// keepSchedules brings the schedules in line with the deployment, in a task of its own, until that has worked.
func (e *Engine) keepSchedules(scope *sched.Scope) {
	for scope.Err() == nil {
		err := errors.Join(e.makeSchedules(scope), e.cancelSchedules(scope))
		if err == nil {
			return
		}
		if e.s.Sleep(scope, "schedules", schedulePause) != nil {
			return
		}
	}
}

func (e *Engine) makeSchedules(scope *sched.Scope) error {
	var errs []error
	for _, d := range e.catalog.present {
		for _, element := range d.Schedules() {
			id := scheduleID(e.catalog.deployment, d.ID(), element)
			q := &request{instance: id, schedule: d, input: flow.Input{Kind: flow.Schedule, Element: element}}
			r, err := e.router.Straight(scope, string(id), q)
			errs = append(errs, err, r.err)
		}
	}
	return errors.Join(errs...)
}

// cancelSchedules ends the schedules of other deployments.
func (e *Engine) cancelSchedules(scope *sched.Scope) error {
	rows, _, err := e.store.Rows(scope, scheduleSpace, "", store.MaxScan)
	if err != nil {
		return fmt.Errorf("list schedules: %w", err)
	}
	var errs []error
	for _, row := range rows {
		if string(row.Value) == e.catalog.deployment {
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
	result, err := flow.Step(q.schedule, nil, q.input, e.environment(q.instance))
	if err != nil {
		return at(failed(err))
	}
	q.channel = &Channel{Name: scheduleChannel}
	q.rows = []store.Row{{Space: scheduleSpace, Key: string(q.instance), Value: []byte(e.catalog.deployment)}}
	return e.transact(l, &transaction{
		q: q, cause: "schedule/" + string(q.instance), instance: q.instance, deployment: e.catalog.deployment, flow: q.schedule.ID(),
		result: result, spawn: &store.Claim{Instance: q.instance, Owner: l.owner, Epoch: epoch}, inbox: true,
	})
}
