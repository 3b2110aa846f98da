// Package lane is the binding of the specification Lane to the owners L1 and L2: which event of a lane on which request is
// which action of Lane.tla, and how the words of a lane are its variables.
package lane

import (
	"embed"
	"fmt"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// actions are the actions of Lane that a lane reports, Arrive and Hop in the task of the caller that enqueues, each at the
// moment when it takes effect.
var actions = []string{"Arrive", "Hop", "Dequeue", "Resolve", "Answer", "Begin", "Commit", "Reply"}

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceLane", Config: "TraceLane.cfg", Name: "Lane", Prefix: "Trace", Actions: actions,
})

// Load compiles Lane for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of the lanes of the one router that w's execution uses. TraceLane.cfg bounds lanes and requests.
func Attach(w *sim.World) { protocol.Attach(w, start) }

// AttachAlways is Attach in every execution, whatever the share of those that are checked.
func AttachAlways(w *sim.World) { protocol.AttachAlways(w, start) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec) { bind.To(w, spec, start) }

// binding maps one execution.
type binding struct {
	run      *trace.Run
	requests bind.Numbers // a request that hopped has the number that it had on its arrival lane
	lanes    map[int]any
}

func start(spec *trace.Spec) (bind.Handler, error) {
	run, err := spec.Start(make(trace.State, len(spec.Vars)))
	b := &binding{run: run, requests: bind.Numbers{}, lanes: map[int]any{}}
	return b.event, err
}

// event takes one event. Those of other owners are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	l, ok := owner.(interface{ Peek() lane.Words })
	if !ok {
		return nil
	}
	w := l.Peek()
	if known := b.lanes[w.Lane]; known != nil && known != owner {
		return fmt.Errorf("lane: two routers have a lane %d", w.Lane)
	}
	b.lanes[w.Lane] = owner
	if action == "Hop" {
		b.requests[args[0]] = b.requests.Of(args[1])
	}
	var vals []value.Value
	for _, n := range []int{w.Lane, b.requests.Of(args[0]), w.Capacity, w.Queued, w.Busy, w.Undecided} {
		vals = append(vals, value.MakeInt(int64(n)))
	}
	return b.run.Step(action, vals, nil)
}
