package flow

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/task"
)

// call runs the task's handler, or, when this node has none, offers the task to external workers. What a handler returns is the
// token's result.
func (m *machine) call(a *active) bool {
	job, ok := m.text(a, m.scope(a), a.node.Task.Type, "task type")
	if !ok {
		return false
	}
	left, ok := m.retries(a)
	if !ok {
		return false
	}
	result, err := m.guarded(m.callOf(a, job))
	var panicked *panicError
	var thrown *Thrown
	switch {
	case errors.As(err, &panicked):
		a.Job = nil
		m.stick(a, HandlerPanicked, err.Error())
	case errors.Is(err, ErrNoHandler):
		return m.offerTask(a, job, left)
	case errors.As(err, &thrown):
		a.Job = nil
		return m.throwError(a, thrown.Code, thrown.Message, thrown.Variables)
	case err != nil:
		m.callAgain(a, left-1, err)
	default:
		a.Phase, a.result = Completing, result
		return true
	}
	return false
}

func (m *machine) callOf(a *active, job string) Call {
	return Call{
		Instance: m.env.Instance, Token: a.ID, Element: a.Element, Type: job,
		Headers: a.node.Task.Headers, Variables: m.visible(a),
	}
}

// retries is how many attempts the task has left, this one included.
func (m *machine) retries(a *active) (int, bool) {
	if a.Job != nil {
		return a.Job.Retries, true
	}
	attribute := a.node.Task.Retries
	if attribute.Expression == nil && attribute.Literal == "" {
		return DefaultRetries, true
	}
	text, ok := m.text(a, m.scope(a), attribute, "number of retries")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxRetries {
		m.stick(a, ExpressionFailed, fmt.Sprintf("the number of retries is %.40q, not a number from 1 to %d", text, MaxRetries))
		return 0, false
	}
	return n, true
}

// callAgain waits before the handler's next attempt, or gives up.
func (m *machine) callAgain(a *active, left int, why error) {
	if left < 1 {
		a.Job = nil
		m.stick(a, HandlerFailed, why.Error())
		return
	}
	failures := 0
	if a.Job != nil {
		failures = a.Job.Failures
	}
	pause := min(RetryPause<<min(failures, 10), MaxRetryPause)
	a.Job = &Job{Retries: left, Failures: failures + 1, Reason: why.Error()}
	m.wait(a, Wait{Kind: ForTime, Due: m.env.Now.UTC().Add(pause)})
}

// panicError is a panic of a handler.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("the handler panicked: %v", p.value) }

// guarded turns a panic of the handler into an error: one bad handler must not take a lane down.
func (m *machine) guarded(c Call) (result *feel.Context, err error) {
	if m.env.Call == nil {
		return nil, ErrNoHandler
	}
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	return m.env.Call(c)
}

// offerTask offers the task to external workers.
func (m *machine) offerTask(a *active, job string, left int) bool {
	if len(job) > MaxTaskType {
		m.stick(a, ExpressionFailed, fmt.Sprintf("the task type has %d bytes, more than %d", len(job), MaxTaskType))
		return false
	}
	a.Job = &Job{Type: job, Retries: left}
	m.wait(a, Wait{Kind: ForWorker})
	m.offer(a, m.env.Now.UTC())
	return false
}

// worker runs an input of an external worker. Everything but a lock needs the lock that is held.
func (m *machine) worker(a *active, in Input) error {
	now := m.env.Now.UTC()
	if in.Kind == Lock {
		return m.lock(a, in, now)
	}
	if err := a.Job.Lease.Check(in.Lock, now); err != nil {
		return fmt.Errorf("wait %d at %s: %w", in.Wait, a.Element, err)
	}
	if holder := a.Job.Lease.Worker; in.Worker != "" && in.Worker != holder {
		return fmt.Errorf("wait %d at %s: lock %d is that of %s: %w", in.Wait, a.Element, in.Lock, holder, task.ErrNotHeld)
	}
	switch in.Kind {
	case Extend:
		lease, err := a.Job.Lease.Extend(in.Lock, now, in.Until.UTC())
		if err != nil {
			return fmt.Errorf("wait %d at %s: %w", in.Wait, a.Element, err)
		}
		m.hold(a, lease)
	case Fail:
		return m.failTask(a, in, now)
	case Throw:
		m.closeWait(a)
		a.Phase, a.Job = Entering, nil // where an error that nothing catches leaves it
		m.throwError(a, in.Code, in.Reason, in.Payload)
	default:
		m.closeWait(a)
		m.happen(a, in.Payload)
	}
	return nil
}

// lock gives the task to a worker.
func (m *machine) lock(a *active, in Input, now time.Time) error {
	if now.Before(a.Job.At) && !a.Job.Lease.Held(now) {
		return fmt.Errorf("wait %d at %s: it is offered at %s: %w", in.Wait, a.Element, a.Job.At.Format(time.RFC3339), task.ErrLocked)
	}
	lease, err := a.Job.Lease.Lock(in.Worker, now, in.Until.UTC())
	if err != nil {
		return fmt.Errorf("wait %d at %s: %w", in.Wait, a.Element, err)
	}
	m.hold(a, lease)
	m.r.Locked = &Locked{Call: m.callOf(a, a.Job.Type), Lock: lease.Number, Until: lease.Until, Retries: a.Job.Retries}
	return nil
}

// hold notes the lease; the task is offered again when its time is over.
func (m *machine) hold(a *active, l task.Lease) {
	job := *a.Job
	job.Lease = l
	a.Job = &job
	m.offer(a, l.Until)
}

// failTask offers the task again, or, without attempts left, leaves the token with an incident. Resolving offers it anew.
func (m *machine) failTask(a *active, in Input, now time.Time) error {
	if in.Retries < 0 || in.Retries > MaxRetries {
		return fmt.Errorf("wait %d at %s: %d retries: %w", in.Wait, a.Element, in.Retries, errUnfit)
	}
	if in.Retries == 0 {
		m.closeWait(a)
		a.Phase, a.Job = Entering, nil
		m.stick(a, RetriesExhausted, in.Reason)
		return nil
	}
	lease, err := a.Job.Lease.Release(in.Lock, now)
	if err != nil {
		return fmt.Errorf("wait %d at %s: %w", in.Wait, a.Element, err)
	}
	job := *a.Job
	job.Lease, job.Retries, job.Reason = lease, in.Retries, in.Reason
	a.Job = &job
	at := in.Until.UTC()
	if at.Before(now) {
		at = now
	}
	m.offer(a, at)
	return nil
}
