package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// State is how far a deployment is.
type State string

// The states. An active deployment starts instances, a draining one has some left, a retired one has none.
const (
	Active   State = "active"
	Draining State = "draining"
	Retired  State = "retired"
)

// Deployment is what a store knows of one. The times are the node's that wrote them; zero: it has not been so.
type Deployment struct {
	ID               string
	State            State
	Added, Activated time.Time
	Replaced         time.Time // another one became active after it
	Retired          time.Time
	// Instances are running, Unsent are emissions that wait for their receiver.
	Instances, Unsent int

	pieces int
}

// Deployments is Versions with their numbers. It counts all running instances and all emissions: for people and checks. What it
// tells is durable.
func (e *Engine) Deployments(scope *sched.Scope) ([]Deployment, error) {
	all, seen, err := e.versions(scope)
	if err != nil {
		return nil, err
	}
	instances, unsent := map[string]int{}, map[string]int{}
	pins, err := e.pinned(scope, func(id string) bool { instances[id]++; return true })
	var emissions store.Ticket
	if err == nil {
		emissions, err = e.unsent(scope, func(id string) bool { unsent[id]++; return true })
	}
	if err == nil {
		err = e.store.WaitDurable(scope, max(seen, pins, emissions))
	}
	if err != nil {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	for i := range all {
		x := &all[i]
		if x.Instances, x.Unsent = instances[x.ID], unsent[x.ID]; x.State == Draining && x.Instances+x.Unsent == 0 {
			e.lookAtDraining()
		}
	}
	return all, nil
}

// Versions lists every deployment that the store keeps, the active one first, then those that drain, then by the time at which they
// were activated, newest first. It counts nothing. What it tells is durable.
func (e *Engine) Versions(scope *sched.Scope) ([]Deployment, error) {
	all, seen, err := e.versions(scope)
	if err != nil {
		return nil, err
	}
	if err := e.store.WaitDurable(scope, seen); err != nil {
		return nil, fmt.Errorf("list deployments: %w", err)
	}
	return all, nil
}

// versions is Versions, before what it read is durable.
func (e *Engine) versions(scope *sched.Scope) ([]Deployment, store.Ticket, error) {
	if err := e.catchUp(scope); err != nil {
		return nil, 0, fmt.Errorf("list deployments: %w", err)
	}
	all, seen, err := e.infos(scope)
	if err != nil {
		return nil, 0, fmt.Errorf("list deployments: %w", err)
	}
	v := e.flip.Observe()
	for i := range all {
		all[i].State = stateOf(v, all[i].ID)
	}
	rank := map[State]int{Active: 0, Draining: 1, Retired: 2}
	slices.SortStableFunc(all, func(a, b Deployment) int {
		if a.State != b.State {
			return rank[a.State] - rank[b.State]
		}
		return b.Activated.Compare(a.Activated)
	})
	return all, seen, nil
}

func stateOf(v *view, id string) State {
	_, used := v.Find(id)
	switch {
	case v.Active.ID == id:
		return Active
	case used:
		return Draining
	default:
		return Retired
	}
}

// infos reads the row of every deployment, in the order of their hashes.
func (e *Engine) infos(scope *sched.Scope) ([]Deployment, store.Ticket, error) {
	rows, seen, err := e.store.Rows(scope, deploymentSpace, infoPrefix, store.MaxScan)
	if err != nil {
		return nil, 0, err
	}
	var all []Deployment
	for _, row := range rows {
		id, is := strings.CutPrefix(row.Key, infoPrefix)
		if !is {
			break
		}
		var x info
		if err := json.Unmarshal(row.Value, &x); err != nil {
			return nil, 0, fmt.Errorf("deployment %s: %w", id, err)
		}
		all = append(all, Deployment{ID: id, Added: x.Added, Activated: x.Activated, Replaced: x.Replaced, Retired: x.Retired, pieces: x.Pieces})
	}
	return all, seen, nil
}

// pinned tells the deployment of each running instance, until yield returns false. The ticket covers what it told.
func (e *Engine) pinned(scope *sched.Scope, yield func(deployment string) bool) (seen store.Ticket, err error) {
	after := store.InstanceID("")
	for {
		page, ticket, err := e.store.Pins(scope, after, store.MaxScan)
		if err != nil {
			return seen, err
		}
		seen = max(seen, ticket)
		for _, p := range page {
			if !yield(p.Deployment) {
				return seen, nil
			}
		}
		if len(page) < store.MaxScan {
			return seen, nil
		}
		after = page[len(page)-1].Instance
	}
}

// unsent tells the deployment of the instance of each emission in the outbox, until yield returns false: an empty one when the instance's
// row has made room for another of its id, and nobody can tell any more. The ticket covers what it told.
func (e *Engine) unsent(scope *sched.Scope, yield func(deployment string) bool) (seen store.Ticket, err error) {
	after, last := store.Emission{}, store.Pin{}
	for {
		page, ticket, err := e.store.Emissions(scope, after, store.MaxScan)
		if err != nil {
			return seen, err
		}
		seen = max(seen, ticket)
		for _, x := range page {
			if last.Instance != x.Instance {
				last, ticket, err = e.store.PinOf(scope, x.Instance)
				if errors.Is(err, store.ErrNotFound) {
					last, err = store.Pin{Instance: x.Instance}, nil
				}
				if err != nil {
					return seen, err
				}
				seen = max(seen, ticket)
			}
			if !yield(last.Deployment) {
				return seen, nil
			}
		}
		if len(page) < store.MaxScan {
			return seen, nil
		}
		after = page[len(page)-1]
	}
}

// quiet returns those of some deployments of which nothing is left: no instance that runs, no emission that has not left. It is one look
// at everything, that ends when something was found of each. An emission of nobody knows which may be of any; a pin of none is a
// lease.
func (e *Engine) quiet(scope *sched.Scope, ids ...string) ([]string, error) {
	quiet := slices.Clone(ids)
	look := func(deployment string) bool {
		quiet = slices.DeleteFunc(quiet, func(id string) bool { return id == deployment })
		return len(quiet) > 0
	}
	// No ticket is waited for: the decision that rests on the look is committed after what it saw, and told when it is durable.
	_, err := e.pinned(scope, look)
	if err == nil && len(quiet) > 0 {
		_, err = e.unsent(scope, func(deployment string) bool {
			if deployment == "" {
				quiet = nil
			}
			return look(deployment)
		})
	}
	if err != nil {
		return nil, err
	}
	return quiet, nil
}

// retire lets go what drains and has nothing left. What cannot be looked at or written now is tried again later.
func (e *Engine) retire(scope *sched.Scope) {
	var draining []string
	for _, d := range e.flip.Observe().Draining {
		draining = append(draining, d.ID)
	}
	if len(draining) == 0 {
		return
	}
	// Without the lanes first: most of the time something is left.
	done, err := e.quiet(scope, draining...)
	if err != nil {
		return
	}
	for _, id := range done {
		left := func() (bool, error) {
			none, err := e.quiet(scope, id)
			return len(none) == 1, err
		}
		_, _ = e.flip.Retire(scope, id, left, func(next *view) error {
			return e.decideView(scope, e.flip.Observe(), next, Package{})
		})
	}
}
