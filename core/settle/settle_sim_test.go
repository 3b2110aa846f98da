package settle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/sim"
)

// Deliveries for two instances, duplicates among them, are held by a registry that has room for two, while the instances end
// here or elsewhere, time passes early, commits fail and the node may stop. Each is answered once, and what it is told is
// true.
func TestSimL5SettledOnceWhateverRaces(t *testing.T) {
	sim.Check(t, "L5/settled-once-whatever-races", settledOnceWhateverRaces, sim.Runs(1000), sim.EarlyTimeouts())
}

func settledOnceWhateverRaces(w *sim.World) {
	r := newRig(w, 2)
	impatient := settle.Patience{Timeout: 2 * time.Second, Poll: time.Second}
	for i := range 3 {
		id := instances[i%2]
		w.Go("delivery", func() {
			err := r.deliver(id, w.Choose("commit fails", 4) == 0, impatient)
			r.expect(err, errRefused, settle.ErrFull, settle.ErrEvicted, settle.ErrTimeout, settle.ErrClosing)
		})
	}
	w.Go("duplicate", func() {
		if _, err := r.committed["a"].Wait(w.Scope()); err != nil {
			return
		}
		r.expect(r.duplicate("a", impatient), settle.ErrFull, settle.ErrEvicted, settle.ErrTimeout, settle.ErrClosing)
	})
	for _, id := range instances {
		w.Go("rest of "+string(id), func() { r.finish(id, w.Choose("here", 2) == 0) })
	}
	w.Go("patience of the begin", func() { // an instance may never begin
		w.NoError(w.Scheduler().Sleep(w.Scope(), "long", time.Minute))
		for _, id := range instances {
			r.committed[id].Set(false)
		}
	})
	if w.Choose("stops", 2) == 0 {
		w.Go("stop", func() { r.registry.Close() })
	}
}

// An instance ends on a node that this one never hears of. The comparison with durable state finds it.
func TestSimL5EndElsewhereIsFound(t *testing.T) {
	sim.Check(t, "L5/end-elsewhere-is-found", func(w *sim.World) {
		r := newRig(w, 2)
		w.Go("delivery", func() { w.NoError(r.deliver("a", false, patient)) })
		w.Go("rest", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "elsewhere", 90*time.Minute))
			r.finish("a", false)
		})
		w.Join()
		waited := w.Scheduler().Now().Sub(r.begun)
		w.Require(waited <= 3*patient.Poll, "L5.progress", "the end was found after %v", waited)
	})
}

// One of two instances ends on another node, and this one is told that something has ended somewhere: who waits for that one is answered
// soon, and who waits for the other goes on waiting, whether or not the store tells of it.
func TestSimL5ComparisonSettlesWhatHasEnded(t *testing.T) {
	sim.Check(t, "L5/comparison-settles-what-has-ended", func(w *sim.World) {
		r := newRig(w, 2)
		var first, second time.Duration
		unread := w.Choose("the store does not tell of b", 2) == 1
		w.Go("delivery a", func() {
			w.NoError(r.deliver("a", false, patient))
			first = w.Scheduler().Now().Sub(r.begun)
		})
		w.Go("delivery b", func() {
			w.NoError(r.deliver("b", false, patient))
			second = w.Scheduler().Now().Sub(r.begun)
		})
		w.Go("elsewhere", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "elsewhere", time.Minute))
			r.finish("a", false)
			r.registry.Compare(w.Scope(), func(scope *sched.Scope, id store.InstanceID) (settle.End, bool, error) {
				if id == "b" && unread {
					return settle.End{}, false, errRefused
				}
				return r.read(id)(scope)
			})
		})
		w.Go("here", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "here", time.Duration(1+w.Choose("minutes", 2))*time.Minute))
			r.finish("b", true)
		})
		w.Join()
		w.Require(first == time.Minute, "L5.progress", "the end elsewhere was told after %v", first)
		w.Require(second == time.Minute || second == 2*time.Minute, "L5.progress", "the end here was told after %v", second)
	})
}

// A registry full of deliveries whose commits are under way refuses the newcomer before its commit; one that is known to have
// taken effect makes room, and is told so.
func TestSimL5FullOfPendingRefuses(t *testing.T) {
	sim.Check(t, "L5/full-of-pending-refuses", fullOfPendingRefuses, sim.Runs(300))
}

func fullOfPendingRefuses(w *sim.World) {
	r := newRig(w, 1)
	var first, second error
	w.Go("first", func() { first = r.deliver("a", false, patient) })
	w.Go("second", func() { second = r.deliver("b", false, patient) })
	w.Go("rest", func() {
		w.NoError(w.Scheduler().Sleep(w.Scope(), "rest", time.Second))
		for _, id := range instances {
			r.ends(id)
			r.registry.Ended(id, done)
		}
	})
	w.Join()
	for _, err := range []error{first, second} {
		r.expect(err, nil, settle.ErrFull, settle.ErrEvicted)
	}
	w.Require(first == nil || second == nil, "L5.I3", "both were turned away: %v, %v", first, second)
	r.prompt()
}

// A timeout and the end of the instance race for one entry. Who comes first answers.
func TestSimL5TimeoutAgainstEnd(t *testing.T) {
	sim.Check(t, "L5/timeout-against-end", func(w *sim.World) {
		r := newRig(w, 1)
		w.Go("delivery", func() {
			err := r.deliver("a", false, settle.Patience{Timeout: time.Second, Poll: time.Hour})
			r.expect(err, nil, settle.ErrTimeout)
		})
		w.Go("rest", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "rest", time.Second))
			r.finish("a", true)
		})
	}, sim.Runs(300), sim.EarlyTimeouts())
}

// A delivery that is registered, committed and armed, against the end of its instance on another lane: every schedule. The end
// is not missed.
func TestExhaustL5ArmAgainstEnd(t *testing.T) {
	sim.Exhaust(t, "L5/arm-against-end", func(w *sim.World) {
		r := newRig(w, 1)
		w.Go("delivery", func() {
			w.NoError(r.deliver("a", false, patient))
			r.prompt()
		})
		w.Go("rest", func() { r.finish("a", true) })
	})
}

// A duplicate against the end of its instance: every schedule. It is answered from durable state or by the end.
func TestExhaustL5DuplicateAgainstEnd(t *testing.T) {
	sim.Exhaust(t, "L5/duplicate-against-end", func(w *sim.World) {
		r := newRig(w, 1)
		r.committed["a"].Set(true)
		w.Go("duplicate", func() {
			w.NoError(r.duplicate("a", patient))
			r.prompt()
		})
		w.Go("rest", func() { r.finish("a", true) })
	})
}

// A commit that fails against the end of the instance: every schedule. Nothing is left of it.
func TestExhaustL5FailedCommitLeavesNothing(t *testing.T) {
	sim.Exhaust(t, "L5/failed-commit-leaves-nothing", func(w *sim.World) {
		r := newRig(w, 1)
		r.committed["a"].Set(true)
		w.Go("delivery", func() {
			err := r.deliver("a", true, patient)
			w.Require(errors.Is(err, errRefused), "L5.I4", "the commit failed, and the delivery is told %v", err)
		})
		w.Go("rest", func() { r.finish("a", true) })
	})
}
