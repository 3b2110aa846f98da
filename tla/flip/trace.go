// Package flip is the binding of the specification Flip to the owner L9: which event of an activation flip, of the lanes that use it
// and of their clients is which action of Flip.tla, and how the publication and the lanes' knowledge are its variables.
package flip

import (
	"embed"
	"fmt"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// Actions are the actions of Flip that executions report. Decide and Retire are reported by who makes the decision durable, at the moment
// when it is; Request, Take, Serve and Crash by the lanes and clients around the flip.
var Actions = []string{
	"Begin", "Post", "Decide", "Publish", "Abort", "Fence", "Occupied", "Retire", "Request", "Control", "KnowFails", "Take", "Serve", "Crash",
}

// lanes is the number of lanes in TraceFlip.cfg.
const lanes = 2

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceFlip", Config: "TraceFlip.cfg", Name: "Flip", Prefix: "Trace", Actions: Actions,
})

// Load compiles Flip for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of w's execution against Flip from now on. The flip has two lanes; deployment "1" is active and "2" is activated.
// Events name the flip that they are about: after a crash there is another one.
func Attach(w *sim.World) { protocol.Attach(w, start) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec) { bind.To(w, spec, start) }

func start(spec *trace.Spec) (bind.Handler, error) { return newBinding(spec).event, nil }

// binding maps one execution.
type binding struct {
	spec         *trace.Spec
	run          *trace.Run
	active, know int
	ids          *value.Domain
	actions      map[string]bool
}

func newBinding(spec *trace.Spec) *binding {
	b := &binding{spec: spec, active: spec.Index("active"), know: spec.Index("know"), actions: map[string]bool{}}
	b.ids = trace.Domain(spec.Str("0"), spec.Str("1"))
	for _, a := range Actions {
		b.actions[a] = true
	}
	return b
}

// event takes one event. What follows another replica is not modeled.
func (b *binding) event(owner any, action string, args []any) error {
	f, ok := owner.(*deploy.Flip[int])
	if !ok || !b.actions[action] {
		return nil
	}
	shown, err := b.shown(f.Peek())
	if err != nil {
		return err
	}
	if b.run == nil {
		if b.run, err = b.spec.Start(trace.State(make([]value.Value, len(b.spec.Vars)))); err != nil {
			return err
		}
	}
	return b.run.Step(action, b.values(action, args), shown)
}

// values maps arguments: names, and lanes by number. The number of an attempt is the specification's own.
func (b *binding) values(action string, args []any) []value.Value {
	if action == "Begin" || action == "Fence" {
		return nil
	}
	vals := make([]value.Value, len(args))
	for i, a := range args {
		vals[i] = b.spec.Str(fmt.Sprint(a))
	}
	return vals
}

// shown maps the publication, which is one for all lanes, and what each lane knows.
func (b *binding) shown(words deploy.Words[int]) (trace.State, error) {
	if len(words.Known) != lanes {
		return nil, fmt.Errorf("flip: %d lanes, and TraceFlip.cfg has %d", len(words.Known), lanes)
	}
	s := make(trace.State, len(b.spec.Vars))
	active, know := make([]value.Value, lanes), make([]value.Value, lanes)
	for i, known := range words.Known {
		active[i] = value.MakeInt(int64(words.View.Active.Definitions))
		versions := make([]value.Value, len(known))
		for j, d := range known {
			versions[j] = value.MakeInt(int64(d.Definitions))
		}
		know[i] = value.NewSet(versions)
	}
	s[b.active], s[b.know] = value.NewFcn(b.ids, active), value.NewFcn(b.ids, know)
	return s, nil
}
