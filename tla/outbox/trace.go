// Package outbox is the binding of the specification Outbox to the sender L11: which event of which Go value is which action of
// Outbox.tla, and how the rows of the outbox, visible and durable, are its variables.
package outbox

import (
	"embed"
	"slices"

	"github.com/millrace-dev/millrace/core/outbox"
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

// The actions of Outbox that executions report: those of the sender, what the store commits and removes, and its durability.
var (
	sender     = []string{"Offer", "Secure", "Leave", "Acked", "Fails", "Done"}
	durability = []string{"Sync", "Crash"}
)

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceOutbox", Config: "TraceOutbox.cfg", Name: "Outbox", Prefix: "Trace",
	Actions: slices.Concat(sender, durability, []string{"Commit", "Remove"}),
})

// Load compiles Outbox for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the senders of w's execution against Outbox from now on, one life after the other. The instances are those of
// TraceOutbox.cfg.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(engine))
}

func starts(engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &binding{
			spec: spec, engine: engine, rows: spec.Index("rows"), kept: spec.Index("kept"), shape: spec.Shape("made", "gone"),
			insts: trace.Domain(spec.Str("a"), spec.Str("b"), spec.Str("c")),
		}
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec       *trace.Spec
	run        *bind.Run
	engine     *memory.Engine
	rows, kept int
	shape      trace.Shape
	insts      *value.Domain
}

// event takes one event. Those of other specifications are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	action, vals, mine := b.values(owner, action, args)
	if !mine {
		return nil
	}
	return b.run.Step(action, vals)
}

func (b *binding) values(owner any, action string, args []any) (as string, vals []value.Value, mine bool) {
	if _, ok := owner.(*outbox.Sender); ok {
		vals = []value.Value{b.instance(args[0].(store.InstanceID))}
		for _, a := range args[1:] {
			vals = append(vals, number(a.(uint64)))
		}
		return action, vals, true
	}
	switch {
	case owner != any(b.engine):
		return "", nil, false
	case action == "LandCommit":
		st := args[0].(*store.Step)
		return "Commit", []value.Value{b.instance(st.Claim.Instance), number(uint64(len(st.Outbox)))}, len(st.Outbox) > 0
	case action == "LandDelivered":
		return "Remove", []value.Value{b.instance(args[0].([]store.Emission)[0].Instance)}, true
	default:
		return action, nil, slices.Contains(durability, action)
	}
}

func (b *binding) instance(id store.InstanceID) value.Value { return b.spec.Str(string(id)) }

func number(n uint64) value.Value { return value.MakeInt(int64(n)) }

// shown maps the rows of the outbox as the store shows them, and as the worst crash would leave them.
func (b *binding) shown() (s trace.State, err error) {
	s = make(trace.State, len(b.spec.Vars))
	if s[b.rows], err = b.outbox(b.engine.Peek); err != nil {
		return nil, err
	}
	s[b.kept], err = b.outbox(b.engine.PeekDurable)
	return s, err
}

// outbox maps how many emissions of each instance were committed, and how many of those are removed: all before the first that is there.
func (b *binding) outbox(peek func(func(step.View) error) error) (value.Value, error) {
	d, err := step.InspectIn(peek)
	vals := make([]value.Value, len(b.insts.Keys))
	for i := range vals {
		vals[i] = b.shape.Record(number(0), number(0))
	}
	for _, in := range d.Instances { //order:each has a place of its own
		gone := in.Emitted
		for _, e := range d.Emissions {
			if e.Instance == in.Instance {
				gone = min(gone, e.Sequence-1)
			}
		}
		if i := b.insts.Index(b.instance(in.Instance)); i >= 0 {
			vals[i] = b.shape.Record(number(in.Emitted), number(gone))
		}
	}
	return value.NewFcn(b.insts, vals), err
}
