package bind

import (
	"time"

	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Run is an execution of which the same words are shown after each event, whatever it was: the rows of a store.
type Run struct {
	run   *trace.Run
	shown func() (trace.State, error)
	last  time.Time // of the event before
}

// Begin starts with what shown shows now.
func Begin(spec *trace.Spec, shown func() (trace.State, error)) (*Run, error) {
	first, err := shown()
	if err != nil {
		return nil, err
	}
	return BeginAt(spec, time.Time{}, first, shown)
}

// BeginAt starts at now with first, which may say more than what is shown later.
func BeginAt(spec *trace.Spec, now time.Time, first trace.State, shown func() (trace.State, error)) (*Run, error) {
	run, err := spec.Start(first)
	return &Run{run: run, shown: shown, last: now}, err
}

// Step takes an event, with what is shown after it.
func (r *Run) Step(action string, vals []value.Value) error {
	shown, err := r.shown()
	if err != nil {
		return err
	}
	return r.run.Step(action, vals, shown)
}

// StepAt is Step after the time that went by since the event before, or since BeginAt: the specification's action Pass, in
// nanoseconds.
func (r *Run) StepAt(now time.Time, action string, vals []value.Value) error {
	if passed := now.Sub(r.last); passed > 0 {
		if err := r.run.Step("Pass", []value.Value{value.MakeInt(int64(passed))}, nil); err != nil {
			return err
		}
		r.last = now
	}
	return r.Step(action, vals)
}
