package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// deploymentSpace holds the deployments: the row activeKey says which are active and draining, a row for each says what is known of
// it, and the rest are the pieces of its source.
const (
	deploymentSpace = "deployment"
	activeKey       = "active"
	infoPrefix      = "info/"
	sourcePrefix    = "source/"
)

// The source of a package, and the pieces in which it is stored.
const (
	MaxSource = 64 << 20
	piece     = 1 << 20
)

// MaxKept is how many deployments that retired the store keeps, the newest ones: a rollback needs what it goes back to.
const MaxKept = 100

func infoKey(id string) string          { return infoPrefix + id }
func sourceKey(id string, n int) string { return fmt.Sprintf("%s%s/%06d", sourcePrefix, id, n) }

// decision is the value of the row activeKey.
type decision struct {
	Number   uint64   `json:"number"`
	Active   string   `json:"active"`
	Draining []string `json:"draining,omitempty"`
}

// info is the value of a deployment's own row.
type info struct {
	Pieces    int       `json:"pieces"`
	Number    uint64    `json:"number,omitempty"` // of the decision that made it active last
	Added     time.Time `json:"added"`
	Activated time.Time `json:"activated"`
	Replaced  time.Time `json:"replaced,omitzero"`
	Retired   time.Time `json:"retired,omitzero"`
}

// encodeView is a function of what it says, so that rows can be compared.
func encodeView(v *view) []byte {
	x := decision{Number: v.Number, Active: v.Active.ID}
	for _, d := range v.Draining {
		x.Draining = append(x.Draining, d.ID)
	}
	text, err := json.Marshal(x)
	if err != nil {
		panic(fmt.Sprintf("engine: view %d: %v", v.Number, err)) // texts and numbers always encode
	}
	return text
}

// readView reads the view that the store says, nil when it says none. Definitions are those given, or compiled; those of a deployment that
// drains and cannot be compiled are missing: its instances stay where they are.
func (e *Engine) readView(scope *sched.Scope, given map[string]deployment) (*view, error) {
	row, ticket, err := e.store.Row(scope, deploymentSpace, activeKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = e.store.WaitDurable(scope, ticket)
	}
	var x decision
	if err == nil {
		err = json.Unmarshal(row.Value, &x)
	}
	if err != nil {
		return nil, fmt.Errorf("read deployments: %w", err)
	}
	v := &view{Number: x.Number}
	if v.Active, err = e.recall(scope, x.Active, given); err != nil {
		return nil, fmt.Errorf("read active deployment: %w", err)
	}
	for _, id := range x.Draining {
		d, err := e.recall(scope, id, given)
		if errors.Is(err, ErrNoDefinition) {
			e.options.Lost(id, err)
			d, err = deployment{ID: id}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read draining deployment: %w", err)
		}
		v.Draining = append(v.Draining, d)
	}
	return v, nil
}

// recall returns a deployment that is given, or compiles what the store keeps of it. ErrNoDefinition: that cannot be.
func (e *Engine) recall(scope *sched.Scope, id string, given map[string]deployment) (deployment, error) {
	if d, known := given[id]; known {
		return d, nil
	}
	if e.compile == nil {
		return deployment{}, fmt.Errorf("deployment %s: %w", id, ErrNoDefinition)
	}
	source, err := e.Source(scope, id)
	if err != nil {
		return deployment{}, err
	}
	p, err := e.compile(id, source)
	if err != nil {
		return deployment{}, fmt.Errorf("deployment %s: %w: %w", id, ErrNoDefinition, err)
	}
	p.Deployment = id
	d, err := e.define(p)
	if err != nil {
		return deployment{}, fmt.Errorf("deployment %s: %w: %w", id, ErrNoDefinition, err)
	}
	return d, nil
}

// Source returns what the store keeps of a deployment, active, draining or retired. ErrNoDefinition: it knows none of that hash.
func (e *Engine) Source(scope *sched.Scope, id string) ([]byte, error) {
	x, _, err := e.readInfo(scope, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("deployment %s: %w", id, ErrNoDefinition)
	}
	var source []byte
	for n := 0; n < x.Pieces && err == nil; n++ {
		var row store.Row
		row, _, err = e.store.Row(scope, deploymentSpace, sourceKey(id, n))
		source = append(source, row.Value...)
	}
	if err != nil {
		return nil, fmt.Errorf("read source of deployment %s: %w", id, err)
	}
	return source, nil
}

// readInfo reads the row of a deployment. The ticket covers what it read, also that there is none.
func (e *Engine) readInfo(scope *sched.Scope, id string) (x info, seen store.Ticket, err error) {
	row, seen, err := e.store.Row(scope, deploymentSpace, infoKey(id))
	if err == nil {
		err = json.Unmarshal(row.Value, &x)
	}
	return x, seen, err
}

// decideView makes the step from now to next durable: the row of the decision and, with it, the definitions that it activates. It returns when
// that is known. Repeating the write is what fences it: once the row has moved on, an earlier attempt can never land. store.ErrSuperseded means
// that the row has moved; with deploy.ErrUnknown beside it an own write may have done that, which decidedSince knows.
func (e *Engine) decideView(scope *sched.Scope, now, next *view, p Package) error {
	rows, err := e.decisionRows(scope, now, next, p)
	if err != nil {
		return err
	}
	expect := store.Row{Space: deploymentSpace, Key: activeKey, Delete: now == nil}
	if now != nil {
		expect.Value = encodeView(now)
	}
	unknown := false
	for { // until it is known, the store has ended, or scope has
		_, err := e.store.WriteIf(scope, expect, rows)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, store.ErrHalted), errors.Is(err, store.ErrClosed), scope.Err() != nil:
			if unknown || errors.Is(err, store.ErrUnknown) {
				return fmt.Errorf("%w: %w", deploy.ErrUnknown, err)
			}
			return err
		case errors.Is(err, store.ErrSuperseded) && unknown: // by whoever built on it, or was first: decidedSince tells
			return fmt.Errorf("%w: %w", deploy.ErrUnknown, err)
		case !errors.Is(err, store.ErrUnknown) && !unknown:
			return err
		}
		unknown = true
		if err := e.s.Sleep(scope, "deployment decision", e.options.Backoff); err != nil {
			return fmt.Errorf("%w: %w", deploy.ErrUnknown, err)
		}
	}
}

// decidedSince reports whether a deployment was made active by the decision of a number or a later one: by an own write whose answer got lost,
// and on which others may have built since, or by another replica meanwhile. To decide it again would take back what came after it. What it
// reports is durable: an operator is told that the deployment is active, or a later try rests on it.
func (e *Engine) decidedSince(scope *sched.Scope, id string, number uint64) (bool, error) {
	if number == 0 {
		return false, nil
	}
	x, seen, err := e.readInfo(scope, id)
	if errors.Is(err, store.ErrNotFound) {
		x, err = info{}, nil
	}
	if err == nil {
		err = e.store.WaitDurable(scope, seen)
	}
	return err == nil && x.Number >= number, err
}

// decisionRows are the rows of a decision. What is retired keeps its source, up to MaxKept of them.
func (e *Engine) decisionRows(scope *sched.Scope, now, next *view, p Package) ([]store.Row, error) {
	rows := []store.Row{{Space: deploymentSpace, Key: activeKey, Value: encodeView(next)}}
	put := func(id string, x info) error {
		text, err := json.Marshal(x)
		rows = append(rows, store.Row{Space: deploymentSpace, Key: infoKey(id), Value: text})
		return err
	}
	note := func(id string, change func(*info)) error {
		x, _, err := e.readInfo(scope, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		change(&x)
		return put(id, x)
	}
	at := e.s.Now().UTC()
	if now != nil && now.Active.ID == next.Active.ID { // a retirement
		for _, d := range now.Draining {
			if _, left := next.Find(d.ID); left {
				continue
			}
			if err := note(d.ID, func(x *info) { x.Retired = at }); err != nil {
				return nil, err
			}
		}
		return rows, nil
	}
	x, _, err := e.readInfo(scope, next.Active.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		x = info{Added: at}
		for n, part := range slices.Collect(slices.Chunk(p.Source, piece)) {
			rows = append(rows, store.Row{Space: deploymentSpace, Key: sourceKey(p.Deployment, n), Value: part})
			x.Pieces = n + 1
		}
	case err != nil:
		return nil, err
	}
	x.Number, x.Activated, x.Replaced, x.Retired = next.Number, at, time.Time{}, time.Time{}
	if err := put(next.Active.ID, x); err != nil {
		return nil, err
	}
	if now != nil {
		if err := note(now.Active.ID, func(x *info) { x.Replaced = at }); err != nil {
			return nil, err
		}
	}
	forgotten, err := e.tooOld(scope, next)
	return append(rows, forgotten...), err
}

// tooOld are the removals of what the store keeps of deployments beyond MaxKept.
func (e *Engine) tooOld(scope *sched.Scope, next *view) ([]store.Row, error) {
	all, _, err := e.infos(scope)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d Deployment) bool {
		_, used := next.Find(d.ID)
		return used
	})
	if len(all) <= MaxKept {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b Deployment) int { return b.Retired.Compare(a.Retired) })
	var rows []store.Row
	for _, d := range all[MaxKept:] {
		rows = append(rows, store.Row{Space: deploymentSpace, Key: infoKey(d.ID), Delete: true})
		for n := range d.pieces {
			rows = append(rows, store.Row{Space: deploymentSpace, Key: sourceKey(d.ID, n), Delete: true})
		}
	}
	return rows, nil
}
