// Package claim is the binding of the specification Claim to the owner L3: which event of which Go value is which action
// of Claim.tla, and how the rows of a store are its variables.
package claim

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

// Actions are the actions of Claim that the code reports, each under its own name: by Claims and its holds, by the
// step's Committer, by the sweep, and, those that begin with Land, by the store at the moment they take effect.
var Actions = []string{
	"Ask", "Granted", "Refused", "LoseTake", "FenceTake", "Lost", "Load", "Send", "Committed", "Failed", "LoseCommit",
	"FenceCommit", "GiveUp", "Freed", "Sweep", "LandTake", "LandFree", "LandCommit",
}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceClaim", Config: "TraceClaim.cfg", Name: "Claim", Prefix: "Trace", Actions: Actions,
})

// Load compiles Claim for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of w's execution against Claim from now on, with the rows of engine as they are after each
// event. Snapshots are the causes of the steps, separated by spaces. The instances are those of TraceClaim.cfg.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(engine)) }

// AttachAlways is Attach in every execution, whatever the share of those that are checked.
func AttachAlways(w *sim.World, engine *memory.Engine) { protocol.AttachAlways(w, starts(engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(engine))
}

func starts(engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := newBinding(spec, engine)
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec       *trace.Spec
	engine     *memory.Engine
	run        *bind.Run
	row, state int
	claims     trace.Shape
	heads      trace.Shape
	nobody     value.Value
	none       value.Value // the row of an instance that does not exist
	empty      value.Value // the state of one
	insts      *value.Domain

	// What was mapped before: most rows do not change from one event to the next.
	owners map[store.Owner]value.Value
	rows   map[store.Claim]value.Value
	done   map[string]value.Value
}

func newBinding(spec *trace.Spec, engine *memory.Engine) *binding {
	ids := []value.Value{spec.Str("i"), spec.Str("a"), spec.Str("b"), spec.Str("c")}
	b := &binding{
		spec: spec, engine: engine, row: spec.Index("row"), state: spec.Index("state"),
		claims: spec.Shape("inst", "owner", "epoch"), heads: spec.Shape("owner", "epoch"),
		nobody: spec.Model("Nobody"), insts: trace.Domain(ids...), empty: value.NewSet(nil),
		owners: map[store.Owner]value.Value{}, rows: map[store.Claim]value.Value{}, done: map[string]value.Value{},
	}
	b.none = b.heads.Record(b.nobody, value.MakeInt(0))
	return b
}

// event takes one event. Steps that spawn have no claim to assert: Claim does not model them.
func (b *binding) event(_ any, action string, args []any) error {
	if !slices.Contains(Actions, action) {
		return nil // of another specification
	}
	var vals []value.Value
	switch x := args[0].(type) {
	case *store.Step:
		if x.Spawn {
			return nil
		}
		vals = []value.Value{b.claim(x.Claim), b.spec.Str(x.Cause)}
	case store.Claim:
		vals = append(vals, b.claim(x))
		for _, a := range args[1:] {
			vals = append(vals, b.spec.Str(a.(string)))
		}
	default:
		return fmt.Errorf("claim: event %s with %T", action, args[0])
	}
	return b.run.Step(action, vals)
}

func (b *binding) claim(c store.Claim) value.Value {
	return b.claims.Record(b.spec.Str(string(c.Instance)), b.owner(c.Owner), value.MakeInt(int64(c.Epoch)))
}

func (b *binding) owner(o store.Owner) value.Value {
	if o.Nobody() {
		return b.nobody
	}
	v, ok := b.owners[o]
	if !ok {
		v = b.spec.Str(fmt.Sprintf("%d.%d", o.Lane, o.Incarnation))
		b.owners[o] = v
	}
	return v
}

// shown maps what the store shows: the heads of all rows, and what their snapshots say was done.
func (b *binding) shown() (trace.State, error) {
	s := make(trace.State, len(b.spec.Vars))
	rows, states := make([]value.Value, len(b.insts.Keys)), make([]value.Value, len(b.insts.Keys))
	for i := range rows {
		rows[i], states[i] = b.none, b.empty
	}
	err := b.engine.Peek(func(v step.View) error {
		return step.EachHead(v, func(h store.Head, snapshot []byte) error {
			i := b.insts.Index(b.spec.Str(string(h.Instance)))
			if i < 0 {
				return fmt.Errorf("claim: instance %q is not in TraceClaim.cfg", h.Instance)
			}
			rows[i], states[i] = b.head(h.Claim), b.causes(snapshot)
			return nil
		})
	})
	s[b.row], s[b.state] = value.NewFcn(b.insts, rows), value.NewFcn(b.insts, states)
	return s, err
}

func (b *binding) head(c store.Claim) value.Value {
	v, ok := b.rows[c]
	if !ok {
		v = b.heads.Record(b.owner(c.Owner), value.MakeInt(int64(c.Epoch)))
		b.rows[c] = v
	}
	return v
}

func (b *binding) causes(snapshot []byte) value.Value {
	v, ok := b.done[string(snapshot)]
	if ok {
		return v
	}
	var causes []value.Value
	for _, c := range strings.Fields(string(snapshot)) {
		causes = append(causes, b.spec.Str(c))
	}
	v = value.NewSet(causes)
	b.done[string(snapshot)] = v
	return v
}
