package step_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/step"
)

// Commits, fences and reads lose their answers, land late or never; a sweep is early now and then. Each lane is told
// the truth about each of its steps.
func TestSimL6UnknownIsDecided(t *testing.T) {
	sim.Check(t, "L6/unknown-is-decided", unknownIsDecided, sim.Runs(1000))
}

func unknownIsDecided(w *sim.World) {
	r := newRig(w, memory.Options{
		Lose: 2, Refuse: 6, Budget: 6, Latency: 20 * time.Millisecond, Scope: w.Scope(),
		Only: []string{"commit", "release", "head", "recorded"},
	})
	spec.Attach(w, r.engine, instance)
	for n := range uint32(2) {
		w.Go("lane", func() {
			l := r.lane(n)
			for i := range 3 {
				err := l.advance(w.Scope(), cause(n, i), nil)
				r.refused(err, claim.ErrClaimed, store.ErrFenced, store.ErrUnavailable)
			}
		})
	}
	w.Go("sweep", func() {
		_, err := claim.Sweep(w.Scheduler(), w.Scope(), r.st, w.Scheduler().Now().Add(time.Second))
		r.refused(err, store.ErrUnavailable, store.ErrUnknown)
	})
	w.Finally(r.judge)
}

// Attempts at one delivery spawn one instance. There is no row to fence: a void row takes its place.
func TestSimL6SpawnIsDecided(t *testing.T) {
	sim.Check(t, "L6/spawn-is-decided", func(w *sim.World) {
		r := &rig{World: w, told: map[string]bool{}}
		r.st, r.engine = memory.Open(w.Scheduler(), memory.Options{
			Lose: 2, Budget: 4, Scope: w.Scope(), Only: []string{"commit", "release"},
		})
		w.Invariant("L6.I1", r.atomic)
		for n := range uint32(2) {
			w.Go("lane", func() {
				l := r.lane(n)
				for i := range 3 {
					h, _, err := r.st.Head(w.Scope(), instance)
					w.NoError(err)
					c := cause(n, i)
					err = r.hear(c, l.committer.Commit(w.Scope(), r.spawning(c, h.Epoch, l.me)))
					if err == nil {
						return
					}
					r.refused(err, store.ErrDuplicate, store.ErrFenced)
				}
			})
		}
		w.Finally(r.judge)
	}, sim.Runs(1000))
}

// The machine crashes at any moment. What is left is whole, and what was told committed is part of it.
func TestSimL6CrashLeavesWholeSteps(t *testing.T) {
	sim.Check(t, "L6/crash-leaves-whole-steps", func(w *sim.World) {
		r := newRig(w, memory.Options{Latency: 3 * time.Millisecond, Only: []string{"commit", "sync"}})
		for n := range uint32(2) {
			w.Go("lane", func() {
				l := r.lane(n)
				for i := range 2 {
					err := l.advance(w.Scope(), cause(n, i), nil)
					r.refused(err, claim.ErrClaimed, store.ErrFenced)
				}
			})
		}
		w.Go("power", func() { r.engine.Crash() })
		w.Finally(r.judge)
	}, sim.Runs(1000))
}

// The store halts in the middle of a decision: the step stays undecided, nobody is told anything, and the committer is
// of no further use.
func TestSimL6HaltLeavesUndecided(t *testing.T) {
	sim.Check(t, "L6/halt-leaves-undecided", func(w *sim.World) {
		r := newRig(w, memory.Options{Halt: 2, Budget: 1})
		w.Go("lane", func() {
			l := r.lane(1)
			halted := false
			for i := range 3 {
				err := l.advance(w.Scope(), cause(1, i), nil)
				w.Require(err == nil || !halted || store.Definite(err), "L6.D3", "step after the halt: %v", err)
				r.refused(err, nil, store.ErrHalted)
				halted = err != nil
			}
		})
		w.Finally(r.judge)
	})
}

// The scope ends before the decision: the step stays undecided, whatever became of it, and its committer sends no other.
func TestSimL6UndecidedSendsNoOther(t *testing.T) {
	sim.Check(t, "L6/undecided-sends-no-other", func(w *sim.World) {
		r := newRig(w, memory.Options{Lose: 1, Budget: 4, Scope: w.Scope(), Only: []string{"commit", "release", "head", "recorded"}, Refuse: 2})
		patience := w.Scope().Child("patience")
		w.Go("impatience", func() { patience.Cancel(nil) })
		w.Go("lane", func() {
			l := r.lane(1)
			err := l.advance(patience, cause(1, 0), nil)
			undecided := err != nil && !store.Definite(err)
			r.refused(err, nil, store.ErrFenced, store.ErrUnavailable, step.ErrUndecided, sched.ErrCanceled)
			err = l.hear(cause(1, 1), l.committer.Commit(w.Scope(), r.spawning(cause(1, 1), 0, l.me)))
			w.Require(errors.Is(err, step.ErrUndecided) == undecided, "L6.D3", "after a step that is undecided, %t, another one: %v", undecided, err)
		})
		w.Finally(func() {
			patience.Close()
			r.judge()
		})
	})
}

// A committer sends the steps of its owner and of nobody who shares a part of its name.
func TestSimL6CommitterIsOneOwners(t *testing.T) {
	sim.Check(t, "L6/committer-is-one-owners", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		l := r.lane(1)
		other := l.me
		[]func(){
			func() { other.Replica = "b" },
			func() { other.Lane++ },
			func() { other.Incarnation++ },
		}[w.Choose("differs in", 3)]()
		head, _, err := r.st.Head(w.Scope(), instance)
		w.NoError(err)
		held, _, err := r.st.Take(w.Scope(), instance, head.Epoch, other)
		w.NoError(err)
		in, _, err := r.st.Load(w.Scope(), held)
		w.NoError(err)
		err = l.committer.Commit(w.Scope(), l.fill(&store.Step{Cause: "theirs", Claim: held}, in))
		w.Require(errors.Is(err, store.ErrInvalid), "L6.D5", "%v committed a step of %v: %v", l.me, other, err)
	})
}
