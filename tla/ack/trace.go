// Package ack is the binding of the specification Ack to the owner A1: which event of a tree is which action of
// Ack.tla, and how its words are the specification's variables.
package ack

import (
	"embed"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// Actions are the actions of Ack that a tree reports, each at the moment when it takes effect.
var Actions = []string{
	"Take", "Lower", "Enter", "Keep", "Leave", "Notify", "Retire", "Raise", "Reserve", "Refuse",
}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceAck", Config: "TraceAck.cfg", Name: "Ack", Prefix: "Trace", Actions: Actions,
})

// Load compiles Ack for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of every tree that w's execution makes from now on against Ack. A tree may have five shares,
// and four tasks may be at work on it at once: TraceAck.cfg says so.
func Attach(w *sim.World) { protocol.Attach(w, start) }

// AttachAlways is Attach in every execution, whatever the share of those that are checked.
func AttachAlways(w *sim.World) { protocol.AttachAlways(w, start) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec) { bind.To(w, spec, start) }

func start(spec *trace.Spec) (bind.Handler, error) { return newBinding(spec).event, nil }

// binding maps one execution.
type binding struct {
	spec                        *trace.Spec
	pending, tracking, receiver int
	word, work                  trace.Shape
	trees                       map[*ack.Tree]*tree
}

// tree is one tree of the execution.
type tree struct {
	run      *trace.Run
	received bool // it was made with a receiver
	taken    map[*ack.Share]bool
}

func newBinding(spec *trace.Spec) *binding {
	return &binding{
		spec: spec, pending: spec.Index("pending"), tracking: spec.Index("tracking"), receiver: spec.Index("receiver"),
		word: spec.Shape("left", "decided", "failed"), work: spec.Shape("phase", "active"),
		trees: map[*ack.Tree]*tree{},
	}
}

// event takes one event. Those of other owners, and of trees that are older than the binding, are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	t, ok := owner.(*ack.Tree)
	if !ok {
		return nil
	}
	if action == "New" {
		return b.start(t)
	}
	known := b.trees[t]
	if known == nil {
		return nil
	}
	return known.run.Step(action, known.values(args), b.shown(t, known))
}

func (b *binding) start(t *ack.Tree) error {
	x := &tree{received: t.Peek().Receiver, taken: map[*ack.Share]bool{}}
	run, err := b.spec.Start(b.shown(t, x))
	if err != nil {
		return err
	}
	x.run = run
	b.trees[t] = x
	return nil
}

// values maps arguments. A share is told from others only by whether somebody has taken it before.
func (x *tree) values(args []any) []value.Value {
	vals := make([]value.Value, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case *ack.Share:
			vals[i] = value.Bool(!x.taken[a])
			x.taken[a] = true
		case bool:
			vals[i] = value.Bool(a)
		case uint64:
			vals[i] = value.MakeInt(int64(a))
		}
	}
	return vals
}

// shown maps what a tree shows now.
func (b *binding) shown(t *ack.Tree, x *tree) trace.State { return b.state(t.Peek(), x.received) }

// state maps words. A tree that was made without a receiver does not show whether it is there.
func (b *binding) state(words ack.Words, received bool) trace.State {
	s := make(trace.State, len(b.spec.Vars))
	s[b.pending] = b.word.Record(value.MakeInt(int64(words.Left)), value.Bool(words.Decided), value.Bool(words.Failed))
	s[b.tracking] = b.work.Record(value.MakeInt(int64(words.Phase)), value.MakeInt(int64(words.Active)))
	if received {
		s[b.receiver] = value.Bool(words.Receiver)
	}
	return s
}
