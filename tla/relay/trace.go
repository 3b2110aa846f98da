// Package relay is the binding of the specification Relay to the queues of C6: which event of a queue is which action of
// Relay.tla, and how its words are the specification's variables.
package relay

import (
	"embed"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// calls are the actions of who pushes; others are those of who receives, closes or resizes. A queue reports each at the
// moment when it takes effect.
var (
	calls = []string{
		"Publish", "ReadCapacity", "Add", "NoRoom", "ReadClosed", "RaiseWaiting", "Register", "Drop", "Wake", "LowerWaiting",
		"Swap", "Link", "ReadIdle", "WakeConsumer",
	}
	others = []string{
		"Take", "FreePlace", "ReadWaiting", "WakeOne", "Look", "RaiseIdle", "LookAgain", "ReadDrained", "Woken",
		"StopSleeping", "LowerIdle", "Close", "CloseReadsWaiting", "CloseWakesAll", "CloseReadsIdle", "CloseWakesConsumer",
		"Resize", "ResizeReadsWaiting", "ResizeWakesAll",
	}
)

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceRelay", Config: "TraceRelay.cfg", Name: "Relay", Prefix: "Trace", Actions: slices.Concat(calls, others),
})

// Load compiles Relay for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the events of every queue that w's execution makes from now on against Relay. A queue may take six calls
// of Push, as TraceRelay.cfg says, and none of Post, which Relay does not model.
func Attach(w *sim.World) { protocol.Attach(w, starts(w)) }

// AttachAlways is Attach in every execution.
func AttachAlways(w *sim.World) { protocol.AttachAlways(w, starts(w)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec) { bind.To(w, spec, starts(w)) }

func starts(w *sim.World) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) { return newBinding(spec, w.Running).event, nil }
}

// peeker is a queue of whatever values.
type peeker interface{ Peek() relay.Words }

// binding maps one execution.
type binding struct {
	spec                                     *trace.Spec
	running                                  func() int // the task whose event it is
	capacity, places, closed, waiting, idles int
	consumer                                 *value.Domain
	queues                                   map[peeker]*queue
	isCall                                   map[string]bool
}

// queue is one queue of the execution.
type queue struct {
	run   *trace.Run
	last  int         // number of the last call
	calls map[int]int // the call that each task is in, or was in last
}

func newBinding(spec *trace.Spec, running func() int) *binding {
	b := &binding{
		spec: spec, running: running, capacity: spec.Index("capacity"), places: spec.Index("places"),
		closed: spec.Index("closed"), waiting: spec.Index("waiting"), idles: spec.Index("idle"),
		consumer: trace.Domain(spec.Str("c")), queues: map[peeker]*queue{}, isCall: map[string]bool{},
	}
	for _, name := range calls {
		b.isCall[name] = true
	}
	return b
}

// event takes one event. Those of other owners, and of queues that are older than the binding, are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	p, ok := owner.(peeker)
	if !ok {
		return nil
	}
	if action == "New" {
		run, err := b.spec.Start(b.shown(p.Peek()))
		b.queues[p] = &queue{run: run, calls: map[int]int{}}
		return err
	}
	q := b.queues[p]
	if q == nil {
		return nil
	}
	var vals []value.Value
	switch {
	case b.isCall[action]:
		n, err := q.call(b.running(), action)
		if err != nil {
			return err
		}
		vals = []value.Value{value.MakeInt(int64(n))}
	case len(args) > 0:
		vals = []value.Value{value.MakeInt(int64(args[0].(int)))}
	}
	return q.run.Step(action, vals, b.shown(p.Peek()))
}

// call returns the number of the call that the task is in.
func (q *queue) call(task int, action string) (int, error) {
	if action == "Publish" {
		q.last++
		q.calls[task] = q.last
	}
	n := q.calls[task]
	if n == 0 {
		return 0, fmt.Errorf("relay: %s of a task that is not in Push", action)
	}
	return n, nil
}

// shown maps the words of a queue.
func (b *binding) shown(w relay.Words) trace.State {
	s := make(trace.State, len(b.spec.Vars))
	of := func(v value.Value) value.Value { return value.NewFcn(b.consumer, []value.Value{v}) }
	s[b.capacity], s[b.places] = of(value.MakeInt(int64(w.Capacity))), of(value.MakeInt(int64(w.Places)))
	s[b.closed], s[b.waiting] = of(value.Bool(w.Closed)), of(value.MakeInt(int64(w.Waiting)))
	s[b.idles] = of(value.Bool(w.Idle))
	return s
}
