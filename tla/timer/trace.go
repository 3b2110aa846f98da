// Package timer is the binding of the specification Timer to L10: which event of which Go value is which action of Timer.tla, and how the
// timers in the store, visible and durable, and the clock are its variables.
package timer

import (
	"embed"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// Actions are the actions of Timer that executions report: those of the timers, the commit of a step that closes a wait, and the
// store's durability. Pass is the binding's own: time that went by since the event before.
var Actions = []string{"Offer", "Commit", "Fired", "Gone", "Refused", "Sync", "Crash", "Pass"}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceTimer", Config: "TraceTimer.cfg", Name: "Timer", Prefix: "Trace", Actions: Actions,
})

// Load compiles Timer for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the timers of w's execution against Timer from now on, one life after the other. The waits are those that engine holds
// now, one for each of the instances of TraceTimer.cfg, and nobody but their timers closes them.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(w, engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(w, engine))
}

func starts(w *sim.World, engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &binding{
			spec: spec, engine: engine, now: w.Scheduler().Now, open: spec.Index("open"), kept: spec.Index("kept"),
		}
		shown, err := b.shown()
		if err != nil {
			return nil, err
		}
		if shown[spec.Index("rest")], err = b.rest(); err != nil {
			return nil, err
		}
		b.run, err = bind.BeginAt(spec, b.now(), shown, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec       *trace.Spec
	run        *bind.Run
	engine     *memory.Engine
	now        func() time.Time
	open, kept int
}

// event takes one event, after the time that went by before it. Those of other specifications are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	action, vals, mine := b.values(owner, action, args)
	if !mine {
		return nil
	}
	return b.run.StepAt(b.now(), action, vals)
}

func (b *binding) values(owner any, action string, args []any) (as string, vals []value.Value, mine bool) {
	if _, ok := owner.(*timer.Timers); ok {
		return action, []value.Value{b.wait(args[0].(store.Timer).Instance)}, true
	}
	switch {
	case owner != any(b.engine):
		return "", nil, false
	case action == "LandCommit":
		st := args[0].(*store.Step)
		return "Commit", []value.Value{b.wait(st.Claim.Instance)}, len(st.Close) > 0
	default:
		return action, nil, slices.Contains(Actions, action)
	}
}

func (b *binding) wait(id store.InstanceID) value.Value { return b.spec.Str(string(id)) }

// shown maps the timers that the store shows, and those that the worst crash would leave.
func (b *binding) shown() (s trace.State, err error) {
	s = make(trace.State, len(b.spec.Vars))
	if s[b.open], err = b.waits(b.engine.Peek); err != nil {
		return nil, err
	}
	s[b.kept], err = b.waits(b.engine.PeekDurable)
	return s, err
}

func (b *binding) waits(peek func(func(step.View) error) error) (value.Value, error) {
	timers, err := timers(peek)
	var open []value.Value
	for _, t := range timers {
		open = append(open, b.wait(t.Instance))
	}
	return value.NewSet(open), err
}

// rest is for how long each wait is not due.
func (b *binding) rest() (value.Value, error) {
	timers, err := timers(b.engine.Peek)
	rest := map[value.Value]value.Value{}
	for _, id := range []string{"a", "b", "c"} {
		rest[b.spec.Str(id)] = value.MakeInt(0)
	}
	for _, t := range timers {
		rest[b.wait(t.Instance)] = value.MakeInt(int64(max(0, t.Due.Sub(b.now()))))
	}
	return trace.Function(rest), err
}

func timers(peek func(func(step.View) error) error) ([]store.Timer, error) {
	d, err := step.InspectIn(peek)
	return d.Timers, err
}
