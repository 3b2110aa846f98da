// Package group is the binding of the specification Group to the group commit S3: which event of which Go value is which action of
// Group.tla, and how what the store holds is its variable done.
package group

import (
	"embed"
	"strconv"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// Actions are the actions of Group that executions report: the group store, the store below at the moment a transaction takes effect
// (LandGroup, and Shut when it frees a claim), and the holds of the lanes (Conclude).
var Actions = []string{
	"Commit", "Shut", "Conclude", "Gather", "Alone", "Committed", "Unknown", "RolledBack", "Failed", "LandGroup",
}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceGroup", Config: "TraceGroup.cfg", Name: "Group", Prefix: "Trace", Actions: Actions,
})

// Load compiles Group for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the groups of w's execution against Group from now on, with what engine holds after each event. Steps are known by
// their causes, which are those of TraceGroup.cfg, and none of them spawns.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(engine))
}

func starts(engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &binding{spec: spec, engine: engine, done: spec.Index("done"), under: map[store.Claim]string{}, freed: map[store.Claim]bool{}, causes: map[string]bool{}}
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec   *trace.Spec
	run    *bind.Run
	engine *memory.Engine
	done   int
	under  map[store.Claim]string // the step that was committed under a claim
	freed  map[store.Claim]bool   // claims that are gone
	causes map[string]bool        // of those steps
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
	switch owner.(type) {
	case *group.Store:
		return action, b.grouped(action, args), true
	case *claim.Claims:
		v, concludes := map[string]string{"Committed": "committed", "Failed": "failed"}[action]
		if !concludes || !b.causes[args[1].(string)] {
			return "", nil, false // of another specification, or refused before it waited
		}
		return "Conclude", []value.Value{b.spec.Str(args[1].(string)), b.spec.Str(v)}, true
	case *memory.Engine:
		return b.landed(action, args)
	default:
		return "", nil, false
	}
}

// grouped maps an event of the group store.
func (b *binding) grouped(action string, args []any) []value.Value {
	if action == "Commit" {
		st := args[0].(*store.Step)
		b.under[st.Claim], b.causes[st.Cause] = st.Cause, true
		return []value.Value{b.spec.Str(st.Cause), b.spec.Str(st.Inbox.ID), value.Bool(!b.freed[st.Claim])}
	}
	vals := []value.Value{b.spec.Str(strconv.Itoa(args[0].(int)))}
	for _, a := range args[1:] {
		switch a := a.(type) {
		case []*store.Step:
			vals = append(vals, b.members(a))
		case *store.Step:
			vals = append(vals, b.spec.Str(a.Cause))
		}
	}
	return vals
}

// landed maps an event of the store below: a transaction, or a claim that was freed beside it.
func (b *binding) landed(action string, args []any) (as string, vals []value.Value, mine bool) {
	switch action {
	case "LandGroup":
		return action, []value.Value{b.members(args[0].([]*store.Step))}, true
	case "LandCommit":
		return "LandGroup", []value.Value{b.members([]*store.Step{args[0].(*store.Step)})}, true
	case "LandFree":
		c := args[0].(store.Claim)
		b.freed[c] = true
		cause, known := b.under[c]
		return "Shut", []value.Value{b.spec.Str(cause)}, known
	default:
		return "", nil, false
	}
}

func (b *binding) members(steps []*store.Step) value.Value {
	var all []value.Value
	for _, st := range steps {
		all = append(all, b.spec.Str(st.Cause))
	}
	return value.NewSet(all)
}

// shown maps what the store holds: the causes of the steps that took effect.
func (b *binding) shown() (trace.State, error) {
	d, err := step.InspectIn(b.engine.Peek)
	var done []value.Value
	for _, x := range d.Receipts {
		if b.causes[x.Cause] {
			done = append(done, b.spec.Str(x.Cause))
		}
	}
	s := make(trace.State, len(b.spec.Vars))
	s[b.done] = value.NewSet(done)
	return s, err
}
