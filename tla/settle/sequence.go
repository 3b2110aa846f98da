package settle

import (
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call that a test makes: the next delivery, number N, registers for an instance, its commit ends well or fails, or an
// instance ends.
type Call struct {
	Name     string // deliver, commit, fail or ended
	N        int
	Instance string
}

// What TraceSettle-sequences.cfg says.
const (
	Capacity   = 1
	deliveries = 4
)

// Sequences returns sequences of calls that together take every edge of the graph that they span in Settle, with room for one
// entry, two instances and four deliveries.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	var (
		plan   trace.Planner[Call]
		urgent trace.Urgent
		evicts []trace.Event
	)
	add := func(name string, n int, instance string, events ...trace.Event) {
		plan.Add(name, Call{name, n, instance}, events...)
	}
	each := func(f func(n int, instance string, event func(action string) trace.Event)) {
		for n := 1; n <= deliveries; n++ {
			for _, instance := range []string{"a", "b"} {
				for k := 1; k <= n; k++ {
					args := []value.Value{value.MakeInt(int64(n)), spec.Str(instance), value.MakeInt(int64(k))}
					f(n, instance, func(action string) trace.Event { return trace.Event{Action: action, Args: args} })
				}
			}
		}
	}
	each(func(n int, _ string, event func(string) trace.Event) {
		if n == deliveries { // which has every attempt; the number itself makes no difference
			evicts = append(evicts, event("Evict"))
		}
		urgent = append(urgent, event("Arm"))
	})
	for _, e := range evicts {
		urgent = append(urgent, trace.Event{Action: "Poll", Args: e.Args})
	}
	each(func(n int, instance string, event func(string) trace.Event) {
		add("deliver", n, instance, event("Deliver"), event("Register"))
		add("deliver", n, instance, event("Deliver"), event("RefuseFull"))
		for _, evict := range evicts {
			add("deliver", n, instance, event("Deliver"), evict, event("Register"))
		}
		add("commit", n, instance, event("Commit"))
		add("fail", n, instance, event("Drop"))
	})
	for _, instance := range []string{"a", "b"} {
		add("ended", 0, instance, trace.Event{Action: "Complete", Args: []value.Value{spec.Str(instance)}})
	}
	b := &binding{spec: spec, replica: spec.Str("r"), entry: spec.Shape("a", "st")}
	return plan.Cover(spec, b.shown(nil), urgent, 20_000, 16)
}
