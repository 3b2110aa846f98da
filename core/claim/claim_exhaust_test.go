package claim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// Two lanes, one step each: every schedule.
func TestExhaustL3TwoLanesOneStep(t *testing.T) {
	sim.Exhaust(t, "L3/two-lanes-one-step", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		for n := range uint32(2) {
			w.Go("lane", func() {
				_, err := r.lane(n).advance(w.Scope(), cause(n, 0))
				r.refused(err, claim.ErrClaimed)
			})
		}
		w.Finally(r.settled)
	})
}

// A sweep that is always early against a step and the lane that comes next: every schedule.
func TestExhaustL3StepAgainstEarlySweep(t *testing.T) {
	sim.Exhaust(t, "L3/step-against-early-sweep", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		w.Go("lane", func() {
			_, err := r.lane(1).advance(w.Scope(), cause(1, 0))
			r.refused(err, claim.ErrClaimed, store.ErrFenced)
		})
		w.Go("sweep", func() {
			h, _, err := r.st.Head(w.Scope(), instance)
			w.NoError(err)
			if !h.Owner.Nobody() {
				_, _, err = r.st.Release(w.Scope(), h.Claim)
				w.NoError(err)
				_, err = r.lane(2).advance(w.Scope(), cause(2, 0))
				r.refused(err, claim.ErrClaimed, store.ErrFenced)
			}
		})
		w.Finally(r.settled)
	})
}

// One lane whose answers may get lost at each operation, in every way and at every moment.
func TestExhaustL3LostAnswer(t *testing.T) {
	sim.Exhaust(t, "L3/lost-answer", func(w *sim.World) {
		r := newRig(w, memory.Options{Lose: 2, Budget: 1, Scope: w.Scope(), Only: []string{"take", "commit", "release"}}, instance)
		w.Go("lane", func() {
			_, err := r.lane(1).advance(w.Scope(), cause(1, 0))
			r.refused(err, claim.ErrClaimed, store.ErrFenced)
		})
		w.Finally(r.settled)
	})
}

// A transaction of the lane's earlier claim is still on its way when the same lane has claimed the instance again:
// the owner is the same, only the epoch tells them apart.
func TestExhaustL3LateCommitOfTheSameOwner(t *testing.T) {
	sim.Exhaust(t, "L3/late-commit-of-the-same-owner", func(w *sim.World) {
		r := newRig(w, memory.Options{Lose: 1, Budget: 1, Scope: w.Scope(), Only: []string{"commit"}}, instance)
		l := r.lane(1)
		for i := range 2 {
			_, err := l.advance(w.Scope(), cause(1, i))
			r.refused(err, store.ErrFenced)
		}
		w.Finally(r.settled)
	})
}
