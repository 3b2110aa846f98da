package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// errMoved sends a request back to be routed anew: the deployments changed after it was routed.
var errMoved = errors.New("the deployments changed meanwhile")

// ErrSuperseded is wrapped when a delivery was decoded by a deployment that does not receive on its channel any more. Nothing happened;
// decode it again.
var ErrSuperseded = errors.New("the channel belongs to another deployment")

// moves bounds how often a request is routed anew.
const moves = 100

// makeFlip begins with the view that the store says, or makes the one that the parts say durable. The lanes have not started.
func (e *Engine) makeFlip(scope *sched.Scope, p Parts) error {
	first, err := e.firstView(scope, p)
	if err != nil {
		return err
	}
	e.flip = deploy.New(e.s, e.options.Lanes, first, e.place, nil)
	e.routed = sched.NewPublication(e.s, "routes", newRoutes(first))
	return nil
}

// place puts a word of the flip into a lane's queue.
func (e *Engine) place(scope *sched.Scope, lane int, m *deploy.Message[*definitions]) error {
	_, err := e.router.Place(scope, lane, &request{word: m})
	return err
}

func (e *Engine) firstView(scope *sched.Scope, p Parts) (*view, error) {
	mine, err := e.define(p.Package)
	faults := []error{err}
	given := map[string]deployment{mine.ID: mine}
	var earlier []deployment
	for _, x := range p.Earlier {
		d, err := e.define(x)
		faults = append(faults, err)
		given[d.ID] = d
		earlier = append(earlier, d)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	first := uint64(0) // the decision that was tried first
	for range moves {
		now, err := e.readView(scope, given)
		if err != nil {
			return nil, err
		}
		done, err := e.decidedSince(scope, mine.ID, first)
		if err != nil || done {
			return now, err
		}
		next, err := e.startView(scope, p, now, mine, earlier)
		if err != nil || next == now {
			return next, err
		}
		if first == 0 {
			first = next.Number
		}
		if err = e.decideView(scope, now, next, p.Package); err == nil {
			return next, nil
		}
		if !errors.Is(err, store.ErrSuperseded) { // another replica was first
			return nil, err
		}
	}
	return nil, fmt.Errorf("activate deployment %s: %w", mine.ID, ErrBusy)
}

// startView is the view to begin with, now itself when nothing changes. Now is nil on a store without deployments.
func (e *Engine) startView(scope *sched.Scope, p Parts, now *view, mine deployment, earlier []deployment) (*view, error) {
	if now == nil {
		return &view{Number: 1, Active: mine, Draining: earlier}, nil
	}
	if now.Active.ID == mine.ID {
		return now, nil
	}
	_, _, err := e.store.Row(scope, deploymentSpace, infoKey(mine.ID))
	known := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if known && !p.Reactivate {
		if now.Active.Definitions == nil {
			return nil, fmt.Errorf("start with deployment %s, which is active: %w", now.Active.ID, ErrNoDefinition)
		}
		return now, nil
	}
	return now.With(mine), nil
}

// Activate makes p the deployment that new instances start on, on every lane at once, and durably: a restart finds it, other
// replicas follow. Instances go on with the definitions that they started on. An error means that nothing has changed and nothing will,
// unless it wraps deploy.ErrUnknown: then the store or scope ended in the middle, and the store tells, to the next start or to whoever lists
// the deployments. It waits for the lanes and the store, until scope ends.
func (e *Engine) Activate(scope *sched.Scope, p Package) error {
	d, err := e.define(p)
	if err != nil {
		return fmt.Errorf("activate deployment %s: %w", p.Deployment, err)
	}
	first := uint64(0) // the decision that was tried first
	for range moves {
		done, err := e.followSince(scope, d.ID, first)
		if err != nil {
			return fmt.Errorf("activate deployment %s: %w", p.Deployment, err)
		} else if done {
			return nil
		}
		_, err = e.flip.Activate(scope, d, func(next *view) error {
			if first == 0 {
				first = next.Number
			}
			e.options.Failpoint(PointKnown)
			err := e.decideView(scope, e.flip.Observe(), next, p)
			if err == nil {
				e.options.Failpoint(PointDecided)
			}
			return err
		})
		if errors.Is(err, store.ErrSuperseded) {
			continue // another replica decided meanwhile
		}
		e.changed.One()
		return err
	}
	return fmt.Errorf("activate deployment %s: %w", p.Deployment, ErrBusy)
}

// followSince takes over what the store says, and reports whether a decision of a number or a later one has made a deployment active. Number 0:
// none was tried. Otherwise an own write may have landed, so the store is asked until it answers, for a time.
func (e *Engine) followSince(scope *sched.Scope, id string, number uint64) (done bool, err error) {
	for range moves {
		if err = e.follow(scope); err == nil {
			done, err = e.decidedSince(scope, id, number)
		}
		if err == nil || number == 0 {
			return done, err
		}
		over := errors.Is(err, store.ErrHalted) || errors.Is(err, store.ErrClosed) || errors.Is(err, lane.ErrStopped)
		if over || e.s.Sleep(scope, "deployment decision", e.options.Backoff) != nil {
			break
		}
	}
	e.changed.One() // whoever keeps the deployments finds out
	return false, fmt.Errorf("%w: %w", deploy.ErrUnknown, err)
}

// Active returns the deployment that new instances start on, and those that drain, newest first.
func (e *Engine) Active() (active string, draining []string) {
	v := e.flip.Observe()
	for _, d := range v.Draining {
		draining = append(draining, d.ID)
	}
	return v.Active.ID, draining
}

// Origins returns what the packages of the active deployment and of those that drain were made of: their Package.Origin. One that drains
// and could not be compiled is left out.
func (e *Engine) Origins() (active any, draining []any) {
	v := e.flip.Observe()
	for _, d := range v.Draining {
		if d.Definitions != nil {
			draining = append(draining, d.Definitions.origin)
		}
	}
	return v.Active.Definitions.origin, draining
}

// catchUp follows what another replica decided. On a store of its own there is nothing to follow.
func (e *Engine) catchUp(scope *sched.Scope) error {
	if !e.options.Shared {
		return nil
	}
	return e.follow(scope)
}

// follow takes over what the store says: what another replica decided, or an own decision of which this node has not learned that it
// is durable.
func (e *Engine) follow(scope *sched.Scope) error {
	if err := e.following.Acquire(scope, 1); err != nil {
		return fmt.Errorf("follow deployments: %w", err)
	}
	defer e.following.Release(1)
	now := e.flip.Observe()
	given := map[string]deployment{}
	for _, d := range now.All() {
		given[d.ID] = d
	}
	next, err := e.readView(scope, given)
	if err != nil {
		return fmt.Errorf("follow deployments: %w", err)
	}
	if next.Number <= now.Number {
		return nil
	}
	if next.Active.Definitions == nil {
		return fmt.Errorf("follow deployment %s: %w", next.Active.ID, ErrNoDefinition)
	}
	if err := e.flip.Follow(scope, next); err != nil {
		return err
	}
	e.changed.One()
	return nil
}

// current reports errMoved when another replica has decided something since the view: what rests on the absence of a wait asks
// first.
func (e *Engine) current(scope *sched.Scope, v *view) error {
	if !e.options.Shared {
		return nil
	}
	row, _, err := e.store.Row(scope, deploymentSpace, activeKey)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStore, err)
	case string(row.Value) != string(encodeView(v)):
		return errMoved
	}
	return nil
}

// expectation is the row that a delivery's step rests on among replicas: the view by which it was routed. It is the lane's until the next
// one, and nobody changes it.
func (e *Engine) expectation(l *laneState, v *view) *store.Row {
	if !e.options.Shared {
		return nil
	}
	return l.decisionRow(v)
}

func (l *laneState) decisionRow(v *view) *store.Row {
	if l.expected != v {
		l.expected, l.row = v, &store.Row{Space: deploymentSpace, Key: activeKey, Value: encodeView(v)}
	}
	return l.row
}

// keepDeployments does what the deployments need in the background: schedules, following, retirement.
func (e *Engine) keepDeployments(scope *sched.Scope) {
	pause := e.options.Retire
	scheduled := uint64(0) // the number of the view whose schedules are there
	told := e.flip.Observe().Number
	look, rest := e.s.Now().Add(pause), e.s.Now()
	for scope.Err() == nil {
		news := e.changed.Register()
		seen := e.flip.Observe()
		if seen.Number != told {
			told = seen.Number
			e.options.Changed()
		}
		if seen.Number != scheduled && e.keepSchedules(scope) == nil {
			scheduled = seen.Number
		}
		if began := e.s.Now(); !began.Before(look) {
			e.drained.Store(false)
			e.retire(scope)
			pause = min(2*pause, maxRetirePause*e.options.Retire)
			look = e.s.Now().Add(pause)
			rest = e.s.Now().Add(retireRest * e.s.Now().Sub(began))
		}
		patience := e.patience(scope, scheduled != seen.Number, max(time.Millisecond, look.Sub(e.s.Now())))
		if news.Wait(patience) == nil {
			pause = e.options.Retire
			look = earlier(look, later(e.s.Now().Add(pause), rest))
		}
		if patience != scope {
			patience.Close()
		}
		// What cannot be read now is read the next time, and by whoever must know.
		_ = e.follow(scope)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// endedOf brings the next look at what drains forward, when an instance of a deployment that drains has ended: it may have been the last one.
// One call wakes, the others until that look are for nothing.
func (e *Engine) endedOf(deployment string) {
	if deployment != e.flip.Observe().Active.ID {
		e.lookAtDraining()
	}
}

func (e *Engine) lookAtDraining() {
	if !e.drained.Swap(true) {
		e.changed.One()
	}
}

// retireRest is how many times as long as a look at what drains took nobody looks again: it reads every running instance.
const retireRest = 20

// maxRetirePause bounds the pause between two looks at what drains, in Options.Retire.
const maxRetirePause = 30

// patience bounds a wait for a change: by the time after which a replica looks by itself, or the next look at what drains.
func (e *Engine) patience(scope *sched.Scope, unscheduled bool, pause time.Duration) *sched.Scope {
	switch {
	case unscheduled:
		return scope.ChildTimeout("deployments", schedulePause)
	case e.options.Shared:
		return scope.ChildTimeout("deployments", min(pause, e.options.Follow))
	case len(e.flip.Observe().Draining) > 0:
		return scope.ChildTimeout("deployments", pause)
	}
	return scope
}
