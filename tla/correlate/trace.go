// Package correlate is the binding of the specification Correlate to the owner L8: which event of a correlator or the store is
// which action of Correlate.tla, and how the rows of a store are its variables.
package correlate

import (
	"embed"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/correlate"
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

// landings are the actions that the store reports when they take effect; Resolve and Back are the correlator's.
var landings = []string{"LandTake", "LandCommit", "LandFree"}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceCorrelate", Config: "TraceCorrelate.cfg", Name: "Correlate", Prefix: "Trace",
	Actions: slices.Concat(landings, []string{"Resolve", "Back"}),
})

// Load compiles Correlate for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the deliveries of w's execution against Correlate. A task that resolves claims under a name of its own, and an
// instance waits for one message at most. Instances and keys are those of TraceCorrelate.cfg.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(w, engine)) }

// AttachAlways is Attach in every execution, whatever the share of those that are checked.
func AttachAlways(w *sim.World, engine *memory.Engine) { protocol.AttachAlways(w, starts(w, engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(w, engine))
}

func starts(w *sim.World, engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := newBinding(spec)
		b.engine, b.running = engine, w.Running
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

func newBinding(spec *trace.Spec) *binding {
	return &binding{
		spec: spec, tasks: bind.Numbers{}, lanes: map[store.Owner]value.Value{},
		insts: spec.Shape("owner", "epoch", "g", "wait"), waits: spec.Shape("g", "key", "ch"), aliases: spec.Shape("i", "g"),
		none: spec.Model("None"),
	}
}

// binding maps one execution.
type binding struct {
	spec                  *trace.Spec
	run                   *bind.Run
	engine                *memory.Engine
	running               func() int
	tasks                 bind.Numbers // tasks that resolve
	lanes                 map[store.Owner]value.Value
	insts, waits, aliases trace.Shape
	none                  value.Value
}

// event takes one event. Those of other specifications are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	var vals []value.Value
	switch {
	case isCorrelator(owner):
		vals = []value.Value{value.MakeInt(int64(b.tasks.Of(b.running())))}
		if action == "Resolve" {
			channel, key := args[0].(string), args[1].(string)
			vals = append(vals, b.key(channel, key), b.spec.Str(channel), value.Bool(args[2].(bool)))
		}
	case slices.Contains(landings, action):
		var err error
		if vals, err = b.landing(action, args[0]); err != nil {
			return err
		}
	default:
		return nil
	}
	return b.run.Step(action, vals)
}

func isCorrelator(owner any) bool {
	_, ok := owner.(*correlate.Correlator)
	return ok
}

// landing returns who takes, commits or frees, and which instance.
func (b *binding) landing(action string, arg any) ([]value.Value, error) {
	var c store.Claim
	switch arg := arg.(type) {
	case store.Claim:
		c = arg
	case *store.Step:
		c = arg.Claim
	default:
		return nil, fmt.Errorf("correlate: event %s with %T", action, arg)
	}
	if n := b.tasks[b.running()]; n > 0 && action == "LandTake" {
		b.lanes[c.Owner] = value.MakeInt(int64(n))
	}
	return []value.Value{b.lane(c.Owner), b.spec.Str(string(c.Instance))}, nil
}

func (b *binding) lane(o store.Owner) value.Value {
	switch l, ok := b.lanes[o]; {
	case o.Nobody():
		return b.spec.Model("Nobody")
	case ok:
		return l
	default:
		return b.spec.Model("Other")
	}
}

func (b *binding) key(channel, key string) value.Value { return b.spec.Str(channel + " " + key) }

// shown maps the rows of the instances and the aliases.
func (b *binding) shown() (trace.State, error) {
	d, err := step.InspectIn(b.engine.Peek)
	return b.state(d), err
}

func (b *binding) state(d step.Dump) trace.State {
	rows := map[value.Value]value.Value{}
	for _, id := range []store.InstanceID{"a", "b"} {
		rows[b.spec.Str(string(id))] = b.instance(d.Instances[id])
	}
	aliases := map[value.Value]value.Value{}
	for _, k := range []string{"paid k", "paid l", "paid other", "sent k"} {
		aliases[b.spec.Str(k)] = b.aliases.Record(b.none, value.MakeInt(0))
	}
	for _, a := range d.Aliases {
		aliases[b.key(a.Channel, a.Key)] = b.aliases.Record(b.spec.Str(string(a.Instance)), value.MakeInt(int64(a.Generation)))
	}
	s := make(trace.State, len(b.spec.Vars))
	s[b.spec.Index("inst")], s[b.spec.Index("alias")] = trace.Function(rows), trace.Function(aliases)
	return s
}

// instance maps a row. One that has ended has used up a generation, in Correlate, and waits for nothing.
func (b *binding) instance(in store.Instance) value.Value {
	generation := value.MakeInt(int64(in.Generation))
	wait := b.waits.Record(value.MakeInt(0), b.none, b.none)
	if in.Status.Terminal() {
		generation = value.MakeInt(int64(in.Generation) + 1)
	}
	for _, w := range in.Waits {
		wait = b.waits.Record(value.MakeInt(int64(w.Generation)), b.key(w.Channel, w.Key), b.spec.Str(w.Channel))
	}
	return b.insts.Record(b.lane(in.Owner), value.MakeInt(int64(in.Epoch)), generation, wait)
}
