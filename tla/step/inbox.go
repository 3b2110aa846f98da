package step

import (
	"slices"

	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

// attempts are the actions of Inbox that an attempt reports, and durability those of the store.
var (
	attempts   = []string{"Take", "Check", "Duplicate", "Refuse", "Ack"}
	durability = []string{"Sync", "Crash"}
)

var inboxes = bind.New(trace.Options{
	Files: files, Module: "TraceInbox", Config: "TraceInbox.cfg", Name: "Inbox", Prefix: "Trace",
	Actions: slices.Concat(attempts, durability, []string{"LandCommit"}),
})

// LoadInbox compiles Inbox for traces; replace maps names of modules to other texts, those of a mutant.
func LoadInbox(replace map[string]string) (*trace.Spec, error) { return inboxes.Load(replace) }

// AttachInbox checks the attempts of w's execution against Inbox. Every effect appends its delivery to the snapshot of the
// instance. A task makes one attempt at a time.
func AttachInbox(w *sim.World, engine *memory.Engine, instance store.InstanceID) {
	inboxes.Attach(w, startsInbox(w, engine, instance))
}

// AttachInboxAlways is AttachInbox in every execution.
func AttachInboxAlways(w *sim.World, engine *memory.Engine, instance store.InstanceID) {
	inboxes.AttachAlways(w, startsInbox(w, engine, instance))
}

// AttachInboxTo is AttachInbox to a specification that was loaded before.
func AttachInboxTo(w *sim.World, spec *trace.Spec, engine *memory.Engine, instance store.InstanceID) {
	bind.To(w, spec, startsInbox(w, engine, instance))
}

func startsInbox(w *sim.World, engine *memory.Engine, instance store.InstanceID) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &inboxBinding{spec: spec, engine: engine, instance: instance, running: w.Running, lanes: bind.Numbers{}}
		var err error
		b.run, err = bind.Begin(spec, b.shown)
		return b.event, err
	}
}

// inboxBinding maps one execution.
type inboxBinding struct {
	spec     *trace.Spec
	run      *bind.Run
	engine   *memory.Engine
	instance store.InstanceID
	running  func() int
	lanes    bind.Numbers // tasks that make attempts
}

// event takes one event. Those of other specifications are not its business.
func (b *inboxBinding) event(owner any, action string, args []any) error {
	vals, mine := b.values(owner, action, args)
	if !mine {
		return nil
	}
	return b.run.Step(action, vals)
}

// values returns the arguments of an event of Inbox.
func (b *inboxBinding) values(owner any, action string, args []any) (vals []value.Value, mine bool) {
	if _, ok := owner.(*inbox.Inbox); ok {
		vals = []value.Value{value.MakeInt(int64(b.lanes.Of(b.running())))}
		for _, a := range args {
			switch a := a.(type) {
			case store.Delivery:
				vals = append(vals, b.spec.Str(a.ID))
			case bool:
				vals = append(vals, value.Bool(a))
			}
		}
		return vals, true
	}
	if owner != any(b.engine) {
		return nil, false
	}
	if action == "LandCommit" {
		in := args[0].(*store.Step).Inbox
		if in == nil {
			return nil, false
		}
		return []value.Value{b.spec.Str(in.ID)}, true
	}
	return nil, slices.Contains(durability, action)
}

// shown maps what the store shows: the log, and how much of it the worst crash would leave.
func (b *inboxBinding) shown() (trace.State, error) {
	visible, err := deliveries(b.engine.Peek, b.instance)
	if err != nil {
		return nil, err
	}
	durable, err := deliveries(b.engine.PeekDurable, b.instance)
	if err != nil {
		return nil, err
	}
	log := make([]value.Value, len(visible))
	for i, id := range visible {
		log[i] = b.spec.Str(id)
	}
	s := make(trace.State, len(b.spec.Vars))
	s[b.spec.Index("log")], s[b.spec.Index("synced")] = value.NewTuple(log), value.MakeInt(int64(len(durable)))
	return s, nil
}
