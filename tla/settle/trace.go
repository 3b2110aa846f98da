// Package settle is the binding of the specification Settle to the owner L5: which event of a registry is which action of
// Settle.tla, and how its entries are the variable reg.
package settle

import (
	"embed"
	"fmt"

	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// actions are the actions of Settle that a registry reports, each at the moment when it takes effect. Complete is told by
// whoever ends an instance: that is state which the registry only reads.
var actions = []string{
	"Deliver", "Register", "RefuseFull", "RefuseStopped", "Commit", "Read", "Drop", "Arm", "Evict", "Poll", "Timeout", "Stop",
	"Complete",
}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceSettle", Config: "TraceSettle.cfg", Name: "Settle", Prefix: "Trace", Actions: actions,
})

// Load compiles Settle for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of the one registry that w's execution uses. Instances and deliveries are those of TraceSettle.cfg.
func Attach(w *sim.World) { protocol.Attach(w, start) }

// AttachAlways is Attach in every execution, whatever the share of those that are checked.
func AttachAlways(w *sim.World) { protocol.AttachAlways(w, start) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec) { bind.To(w, spec, start) }

// binding maps one execution.
type binding struct {
	spec     *trace.Spec
	run      *trace.Run
	replica  value.Value
	entry    trace.Shape
	attempts map[*settle.Entry]attempt
	sent     map[string]int
}

// attempt is a delivery: its number in all, its message, and its number among those of the message.
type attempt struct {
	n       int
	message string
	k       int
}

func start(spec *trace.Spec) (bind.Handler, error) {
	b := &binding{
		spec: spec, replica: spec.Str("r"), entry: spec.Shape("a", "st"),
		attempts: map[*settle.Entry]attempt{}, sent: map[string]int{},
	}
	var err error
	b.run, err = spec.Start(b.shown(nil))
	return b.event, err
}

// event takes one event. Those of other owners are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	r, ok := owner.(*settle.Registry)
	if !ok {
		return nil
	}
	if action == "Complete" {
		return b.run.Step(action, []value.Value{b.spec.Str(args[0].(string))}, b.shown(r.Peek()))
	}
	e, ok := args[0].(*settle.Entry)
	if !ok {
		return fmt.Errorf("settle: event %s with %T", action, args[0])
	}
	if action == "Deliver" {
		message := args[1].(string)
		b.sent[message]++
		b.attempts[e] = attempt{len(b.attempts) + 1, message, b.sent[message]}
		args = args[:1]
	}
	a := b.attempts[e]
	vals := []value.Value{value.MakeInt(int64(a.n)), b.spec.Str(a.message), value.MakeInt(int64(a.k))}
	for _, x := range args[1:] {
		switch x := x.(type) {
		case int:
			vals = append(vals, value.MakeInt(int64(x)))
		case bool:
			vals = append(vals, value.Bool(x))
		}
	}
	return b.run.Step(action, vals, b.shown(r.Peek()))
}

// shown maps the entries.
func (b *binding) shown(held []settle.Held) trace.State {
	var entries []value.Value
	for _, h := range held {
		a, st := b.attempts[h.Entry], "pending"
		if h.Armed {
			st = "armed"
		}
		pair := value.NewTuple([]value.Value{b.spec.Str(a.message), value.MakeInt(int64(a.k))})
		entries = append(entries, b.entry.Record(pair, b.spec.Str(st)))
	}
	s := make(trace.State, len(b.spec.Vars))
	s[b.spec.Index("reg")] = trace.Function(map[value.Value]value.Value{b.replica: value.NewSet(entries)})
	return s
}
