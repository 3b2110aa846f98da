// Package step is the binding of the specifications Step and Inbox to the owners L6 and L7: which event of a committer, an
// inbox or the store is which action, and how the rows of a store are their variables.
package step

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// actions are the actions of Step that the code reports, each under its own name: by holds of a claim, by the step's
// Committer and, those that begin with Land, by the store at the moment they take effect.
var actions = []string{
	"LandTake", "Send", "LandCommit", "LoseCommit", "FenceCommit", "ReadRow", "ReadRecord", "Committed", "Failed", "GiveUp",
	"LandFree",
}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceStep", Config: "TraceStep.cfg", Name: "Step", Prefix: "Trace", Actions: actions,
})

// Load compiles Step for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of w's execution against Step, with the row of instance in engine as it is after each event. Owners
// and causes are those of TraceStep.cfg; Step models no spawns.
func Attach(w *sim.World, engine *memory.Engine, instance store.InstanceID) {
	protocol.Attach(w, starts(engine, instance))
}

// AttachAlways is Attach in every execution.
func AttachAlways(w *sim.World, engine *memory.Engine, instance store.InstanceID) {
	protocol.AttachAlways(w, starts(engine, instance))
}

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine, instance store.InstanceID) {
	bind.To(w, spec, starts(engine, instance))
}

func starts(engine *memory.Engine, instance store.InstanceID) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &binding{spec: spec, engine: engine, instance: instance, row: spec.Shape("owner", "epoch", "gone")}
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec     *trace.Spec
	run      *bind.Run
	engine   *memory.Engine
	instance store.InstanceID
	row      trace.Shape
}

// event takes one event. Those of other specifications are not its business.
func (b *binding) event(_ any, action string, args []any) error {
	if !slices.Contains(actions, action) {
		return nil
	}
	var vals []value.Value
	for _, a := range args {
		switch a := a.(type) {
		case *store.Step:
			vals = append(vals, b.owner(a.Claim.Owner), value.MakeInt(int64(a.Claim.Epoch)), b.spec.Str(a.Cause))
		case store.Claim:
			vals = append(vals, b.owner(a.Owner), value.MakeInt(int64(a.Epoch)))
		case string:
			vals = append(vals, b.spec.Str(a))
		case bool:
			vals = append(vals, value.Bool(a))
		default:
			return fmt.Errorf("step: event %s with %T", action, a)
		}
	}
	return b.run.Step(action, vals)
}

func (b *binding) owner(o store.Owner) value.Value {
	if o.Nobody() {
		return b.spec.Model("Nobody")
	}
	return b.spec.Str(fmt.Sprintf("%d.%d", o.Lane, o.Incarnation))
}

// shown maps the row of the instance.
func (b *binding) shown() (trace.State, error) {
	s := make(trace.State, len(b.spec.Vars))
	err := b.engine.Peek(func(v step.View) error {
		return step.EachHead(v, func(h store.Head, _ []byte) error {
			if h.Instance == b.instance {
				s[b.spec.Index("row")] = b.row.Record(b.owner(h.Owner), value.MakeInt(int64(h.Epoch)), value.Bool(false))
			}
			return nil
		})
	})
	return s, err
}

// deliveries returns the words of the snapshot of the instance that a state shows.
func deliveries(peek func(func(step.View) error) error, instance store.InstanceID) (words []string, err error) {
	err = peek(func(v step.View) error {
		return step.EachHead(v, func(h store.Head, snapshot []byte) error {
			if h.Instance == instance {
				words = strings.Fields(string(snapshot))
			}
			return nil
		})
	})
	return words, err
}
