package claim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	spec "github.com/millrace-dev/millrace/tla/claim"
)

// Every edge of the specification's graph is taken by the production owner: it tells exactly the events that the edge
// names, and the rows of the store are those that the specification demands.
func TestTraceL3Sequences(t *testing.T) {
	inventory.Run(t, inventory.LaneSpec, "L3/sequences-of-the-specification", func(t *testing.T) int {
		all, graph, err := spec.Sequences()
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		for _, seq := range all {
			calls += len(seq)
			r, err := sim.Explore("L3/sequences-of-the-specification", "random", func(w *sim.World) { follow(w, seq) }, sim.Runs(1))
			if err != nil || r.Failure != nil {
				t.Fatalf("%+v: %+v, %v", seq, r.Failure, err)
			}
		}
		t.Logf("%d states, %d edges: %d sequences of %d calls", graph.States, graph.Edges, len(all), calls)
		if graph.Edges < 100 || calls < graph.Edges {
			t.Errorf("%d calls for %d edges", calls, graph.Edges)
		}
		return len(all)
	})
}

// fated is a store that does to one request what the sequence says.
type fated struct {
	*step.Store
	fate string
}

func (f *fated) meets(request func() error) error {
	fate := f.fate
	f.fate = spec.Answered
	switch fate {
	case spec.Refused:
		return store.ErrUnavailable
	case spec.Landed:
		if err := request(); err != nil {
			return err
		}
		return store.ErrUnknown
	case spec.Never:
		return store.ErrUnknown
	default:
		return request()
	}
}

func (f *fated) Take(scope *sched.Scope, id store.InstanceID, seen store.Epoch, me store.Owner) (c store.Claim, t store.Ticket, err error) {
	err = f.meets(func() (err error) {
		c, t, err = f.Store.Take(scope, id, seen, me)
		return err
	})
	return c, t, err
}

func (f *fated) Commit(scope *sched.Scope, s *store.Step) (t store.Ticket, err error) {
	err = f.meets(func() (err error) {
		t, err = f.Store.Commit(scope, s)
		return err
	})
	return t, err
}

// follow makes the calls of one sequence and compares what they tell.
func follow(w *sim.World, seq []spec.Call) {
	s := w.Scheduler()
	st, engine := memory.Open(s, memory.Options{})
	w.NoError(engine.Plant(given(instance)))
	f := &fated{Store: st}
	spec.AttachAlways(w, engine)
	var told []string
	w.OnEvent(func(_ any, action string, _ []any) error {
		told = append(told, action)
		return nil
	})
	var lanes [2]*claim.Claims
	var holds [2]*claim.Hold
	for n := range lanes {
		me := store.Owner{Replica: "a", Lane: uint32(n), Incarnation: uint64(n) + 1}
		lanes[n] = claim.New(s, f, step.NewCommitter(s, f, me), me)
	}
	for i, c := range seq {
		told = nil
		f.fate = c.Fate
		switch c.Name {
		case "take":
			h, err := lanes[c.Lane].Take(w.Scope(), instance)
			if err == nil {
				holds[c.Lane] = h
			}
		case "load":
			_, _, err := holds[c.Lane].Load(w.Scope())
			w.NoError(err)
		case "commit":
			// What it answers is judged by the events that it told.
			_ = holds[c.Lane].Commit(w.Scope(), &store.Step{Cause: "c", Status: store.Running, Snapshot: []byte("c ")})
		case "free":
			w.NoError(holds[c.Lane].Free())
		default:
			_, err := claim.Sweep(s, w.Scope(), st, s.Now().Add(time.Hour))
			w.NoError(err)
		}
		w.Require(slices.Equal(told, c.Events), "L3.sequence", "call %d of %+v told %q", i, seq, told)
	}
}
