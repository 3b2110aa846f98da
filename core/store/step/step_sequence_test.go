package step_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/step"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// Every edge of the specification's graph is taken by committers: of steps that are answered, refused, or whose answer, fence or
// reads get lost, beside an early sweep.
func TestTraceL6Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L6/sequences-of-the-specification", plan, followCommitters)
}

// fated is a store that does to the requests of one commit what the sequence says.
type fated struct {
	*step.Store
	fate spec.Fate
}

func (f *fated) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	switch f.fate.Commit {
	case spec.Refused:
		return 0, store.ErrUnavailable
	case spec.Never:
		return 0, store.ErrUnknown
	case spec.Landed:
		if t, err := f.Store.Commit(scope, st); err != nil {
			return t, err
		}
		return 0, store.ErrUnknown
	default:
		return f.Store.Commit(scope, st)
	}
}

func (f *fated) Release(scope *sched.Scope, c store.Claim) (bool, store.Ticket, error) {
	if spend(&f.fate.LostFences) {
		return false, 0, store.ErrUnknown
	}
	return f.Store.Release(scope, c)
}

func (f *fated) Head(scope *sched.Scope, id store.InstanceID) (store.Head, store.Ticket, error) {
	if spend(&f.fate.FailedHeads) {
		return store.Head{}, 0, store.ErrUnavailable
	}
	return f.Store.Head(scope, id)
}

func (f *fated) Recorded(scope *sched.Scope, x store.Record) (bool, store.Ticket, error) {
	if spend(&f.fate.FailedReads) {
		return false, 0, store.ErrUnavailable
	}
	return f.Store.Recorded(scope, x)
}

// spend takes one of what is left.
func spend(left *int) bool {
	if *left == 0 {
		return false
	}
	*left--
	return true
}

func followCommitters(w *sim.World, each func(do func(spec.Call))) {
	r := newRig(w, memory.Options{})
	f := &fated{Store: r.st}
	spec.AttachAlways(w, r.engine, instance)
	var lanes [2]*lane
	for n := range lanes {
		l := &lane{rig: r, me: store.Owner{Replica: "a", Lane: uint32(n), Incarnation: uint64(n) + 1}}
		l.committer = step.NewCommitter(w.Scheduler(), f, l.me)
		l.claims = claim.New(w.Scheduler(), r.st, l.committer, l.me)
		lanes[n] = l
	}
	var holds [2]*claim.Hold
	var read [2]store.Instance
	each(func(c spec.Call) {
		l, h := lanes[c.Lane], holds[c.Lane]
		switch c.Name {
		case "take":
			h, err := l.claims.Take(w.Scope(), instance)
			w.NoError(err)
			in, _, err := h.Load(w.Scope())
			w.NoError(err)
			holds[c.Lane], read[c.Lane] = h, in
		case "commit":
			f.fate = c.Fate
			err := h.Commit(w.Scope(), l.fill(&store.Step{Cause: c.Cause}, read[c.Lane]))
			r.refused(err, store.ErrFenced, store.ErrUnavailable)
			w.Require(err != nil || r.durable(c.Cause), "L6.D1", "%s was told committed and a crash may take it back", c.Cause)
			f.fate = spec.Fate{}
			w.NoError(h.Free())
		case "free":
			w.NoError(h.Free())
		default:
			_, err := claim.Sweep(w.Scheduler(), w.Scope(), r.st, w.Scheduler().Now().Add(time.Hour))
			w.NoError(err)
		}
	})
}
