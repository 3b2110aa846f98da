package sim

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// traceShare is the share of executions whose events are checked against a specification in a sampled check: one in so
// many, chosen by the seed. MILLRACE_SIM changes it: traces=1 is all, traces=0 none. A check of the lane of specifications
// checks all of its executions; a search none.
const traceShare = 10

// traced reports whether the events of the execution with this seed are checked. Searches and replays have the seed 0.
// With delayed stores none is: an event is reported with its step, when memory does not show the step's store yet. With
// batons neither, for the reason that invariants are not.
func (o *options) traced(seed uint64) bool {
	if o.tso || batons {
		return false
	}
	return o.everyTrace || o.traces > 0 && seed != 0 && seed%o.traces == 0
}

// tracing returns the options for running a failed execution again: a mismatch can only be found where events are checked,
// and another verdict might not be reached there.
func (o *options) tracing(kind string) *options {
	again := *o
	again.everyTrace = again.everyTrace || kind == string(inventory.KindMismatch)
	return &again
}

// Trace is Check in the lane of specifications: the events of every execution are checked.
func Trace(t *testing.T, id string, body func(w *World), opts ...Option) {
	t.Helper()
	c := newChecker(t, id, inventory.LaneSpec, body, opts)
	if c == nil {
		return
	}
	c.opts.everyTrace = true
	if c.replayed() {
		return
	}
	for _, name := range c.opts.strategies {
		if !c.explore(name) {
			break
		}
	}
	c.report()
}

// Traced reports whether the events of this execution are to be checked: a rig then attaches its binding with OnEvent.
// A replay of a failure does as the failed execution did.
func (w *World) Traced() bool { return w.validate }

// OnEvent calls f for each event that an owner emits from now on, at the moment when it takes effect. An error ends the
// execution with the verdict "mismatch"; its ID method, when it has one, gives the id.
func (w *World) OnEvent(f func(owner any, action string, args []any) error) {
	w.onEvent = append(w.onEvent, f)
}

// Running returns the number of the task that runs: bindings whose events belong to tasks tell them apart by it.
func (w *World) Running() int { return int(w.current.id) }

// identified is an error that names what a verdict is judged by.
type identified interface {
	error
	ID() string
}

// mismatch ends the execution: the code did what its specification does not allow.
func (w *World) mismatch(action string, err error) {
	id := action
	if x := identified(nil); errors.As(err, &x) {
		id = x.ID()
	}
	w.halt(string(inventory.KindMismatch), id, err.Error())
}

// actions collects, over all executions of a check, how often each action of a specification was an event.
type actions struct {
	mu   sync.Mutex
	read map[any]func() map[string]int64
}

// Covers registers where the counts of a specification's actions are read when the check ends; key identifies the
// specification, so that each is read once.
func (w *World) Covers(key any, read func() map[string]int64) {
	a := w.opts.actions
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read[key] = read
}

// counts returns what all registered specifications have counted.
func (a *actions) counts() map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]int64{}
	for _, read := range a.read { //order:keys of different specifications differ
		maps.Copy(all, read())
	}
	return all
}
