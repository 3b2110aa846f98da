package claim_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/claim"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// Every edge of the specification's graph is taken by the production owner: it tells exactly the events that the edge
// names, and the rows of the store are those that the specification demands.
func TestTraceL3Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L3/sequences-of-the-specification", plan, follow)
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

// follow makes the calls of one sequence.
func follow(w *sim.World, each func(do func(spec.Call))) {
	s := w.Scheduler()
	st, engine := memory.Open(s, memory.Options{})
	w.NoError(engine.Plant(given(instance)))
	f := &fated{Store: st}
	spec.AttachAlways(w, engine)
	var lanes [2]*claim.Claims
	var holds [2]*claim.Hold
	for n := range lanes {
		me := store.Owner{Replica: "a", Lane: uint32(n), Incarnation: uint64(n) + 1}
		lanes[n] = claim.New(s, f, step.NewCommitter(s, f, me), me)
	}
	each(func(c spec.Call) {
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
	})
}
