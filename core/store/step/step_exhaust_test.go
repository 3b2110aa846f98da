package step_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// One step whose answer is lost, and a fence that may get lost as well: every fate at every moment.
func TestExhaustL6LostAnswerAndLostFence(t *testing.T) {
	sim.Exhaust(t, "L6/lost-answer-and-lost-fence", func(w *sim.World) {
		r := newRig(w, memory.Options{Lose: 1, Budget: 2, Scope: w.Scope(), Only: []string{"commit", "release"}})
		w.Go("lane", func() {
			r.refused(r.lane(1).advance(w.Scope(), cause(1, 0), nil), store.ErrFenced)
		})
		w.Finally(r.judge)
	})
}

// A spawn whose answer is lost, and its fence too.
func TestExhaustL6LostSpawn(t *testing.T) {
	sim.Exhaust(t, "L6/lost-spawn-and-lost-fence", func(w *sim.World) {
		r := &rig{World: w, told: map[string]bool{}}
		r.st, r.engine = memory.Open(w.Scheduler(), memory.Options{
			Lose: 1, Budget: 2, Scope: w.Scope(), Only: []string{"commit", "release"},
		})
		w.Go("lane", func() {
			l := r.lane(1)
			r.refused(r.hear(cause(1, 0), l.committer.Commit(w.Scope(), r.spawning(cause(1, 0), 0, l.me))), store.ErrFenced)
		})
		w.Finally(r.judge)
	})
}

// The instance ends with the step whose answer is lost, and its row is collected before the decision: the record alone
// tells.
func TestExhaustL6CollectedWhileUndecided(t *testing.T) {
	sim.Exhaust(t, "L6/collected-while-undecided", func(w *sim.World) {
		r := &rig{World: w, told: map[string]bool{}}
		r.st, r.engine = memory.Open(w.Scheduler(), memory.Options{Lose: 1, Budget: 1, Scope: w.Scope(), Only: []string{"commit"}})
		given := r.spawning("given", 0, store.Owner{Replica: "given"})
		given.Outbox = nil // what has not left keeps the row
		w.NoError(r.engine.Plant(given))
		w.Go("lane", func() {
			err := r.lane(1).advance(w.Scope(), cause(1, 0), func(st *store.Step) {
				st.Status, st.Open, st.Close, st.Outbox = store.Completed, nil, nil, nil
			})
			r.refused(err, store.ErrFenced)
		})
		w.Go("collector", func() {
			_, err := r.st.Collect(w.Scope(), instance)
			r.refused(err, nil, store.ErrConflict)
		})
		w.Finally(r.judge)
	})
}

// Two lanes, no faults: every schedule of two whole steps.
func TestExhaustL6TwoSteps(t *testing.T) {
	sim.Exhaust(t, "L6/two-steps", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		for n := range uint32(2) {
			w.Go("lane", func() {
				r.refused(r.lane(n).advance(w.Scope(), cause(n, 0), nil), claim.ErrClaimed)
			})
		}
		w.Finally(r.judge)
	})
}
