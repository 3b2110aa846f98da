package tracetest

import (
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"github.com/millrace-dev/millrace/tla/trace"
)

// Follow is a check of the lane of specifications: every edge of the specification's graph is taken by the production owner. For
// each sequence of the plan body makes an owner, attaches its binding, and hands over what does one call; after each call
// the owner must have told exactly the events that the edge names. Their order, where several tasks tell some, and the values that it
// must show are the binding's business.
func Follow[C any](t *testing.T, id string, plan *trace.Plan[C], body func(w *sim.World, each func(do func(C)))) {
	t.Helper()
	inventory.Run(t, inventory.LaneSpec, id, func(t *testing.T) int {
		calls := 0
		for _, seq := range plan.Sequences {
			calls += len(seq)
			r, err := sim.Explore(id, "random", func(w *sim.World) { follow(w, plan, seq, body) }, sim.Runs(1))
			if err != nil || r.Failure != nil {
				if f := r.Failure; f != nil {
					inventory.Observe(t, inventory.Verdict{Kind: inventory.Kind(f.Kind), ID: f.ID, Message: f.Message})
				}
				t.Fatalf("%+v: %+v, %v", seq, r.Failure, err)
			}
		}
		t.Logf("%d states, %d edges: %d sequences of %d calls", plan.States, plan.Edges, len(plan.Sequences), calls)
		if plan.Edges == 0 || calls < plan.Edges {
			t.Errorf("%d calls for %d edges", calls, plan.Edges)
		}
		return len(plan.Sequences)
	})
}

func follow[C any](w *sim.World, plan *trace.Plan[C], seq []trace.Step[C], body func(w *sim.World, each func(do func(C)))) {
	var told []string
	body(w, func(do func(C)) {
		listening := true
		w.OnEvent(func(_ any, action string, _ []any) error {
			if listening && plan.Knows(action) {
				told = append(told, action)
			}
			return nil
		})
		for i, s := range seq {
			told = nil
			do(s.Call)
			w.Require(slices.Equal(slices.Sorted(slices.Values(told)), slices.Sorted(slices.Values(s.Events))), "sequence", "call %d of %+v told %q", i, seq, told)
		}
		listening = false
	})
}
