package claim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

// Three lanes advance one instance. What a holder works on is a Cell, so two holders at once, or one whose work does not
// happen before the next one's, are a race; no assertion has to guess the moment.
func TestSimL3OneHolder(t *testing.T) { sim.Check(t, "L3/one-holder", oneHolder, sim.Runs(1000)) }

func oneHolder(w *sim.World) {
	r := newRig(w, memory.Options{Latency: time.Millisecond}, instance)
	work := sched.NewCell(w.Scheduler(), "instance", 0)
	for n := range uint32(3) {
		w.Go("lane", func() {
			l := r.lane(n)
			for i := range 2 {
				err := l.claims.With(w.Scope(), instance, func(h *claim.Hold) error {
					l.grant(h)
					*work.Edit()++
					in, _, err := h.Load(w.Scope())
					w.Require(err == nil, "L3.I1", "nobody sweeps, and a holder lost its claim: %v", err)
					c := cause(n, i)
					err = h.Commit(w.Scope(), &store.Step{Cause: c, Status: store.Running, Snapshot: append(in.Snapshot, c+" "...)})
					w.Require(err == nil, "L3.I1", "nobody sweeps, and a holder lost its claim: %v", err)
					r.told = append(r.told, c)
					return nil
				})
				r.refused(err, claim.ErrClaimed)
			}
		})
	}
	w.Finally(r.settled)
}

// Answers get lost, transactions land late, lanes crash and come back as the next incarnation, a sweep frees claims by
// age and too early. Whatever was told is true, and at the end nothing is held.
func TestSimL3LostAnswersAndCrashes(t *testing.T) {
	sim.Check(t, "L3/lost-answers-and-crashes", lostAnswersAndCrashes, sim.Runs(1000))
}

func lostAnswersAndCrashes(w *sim.World) {
	r := newRig(w, memory.Options{
		Lose: 3, Refuse: 6, Budget: 6, Scope: w.Scope(), Only: []string{"take", "commit", "release"},
	}, instance)
	for n := range uint32(2) {
		node := w.Node("lane")
		node.Go("lane", func() { r.work(n, 0) })
		w.Go("supervisor", func() {
			node.Crash()
			w.Node("lane").Go("lane again", func() { r.work(n, 1) })
		})
	}
	w.Go("sweep", func() {
		_, err := claim.Sweep(w.Scheduler(), w.Scope(), r.st, w.Scheduler().Now().Add(time.Second))
		r.refused(err, store.ErrUnknown, store.ErrUnavailable)
	})
	w.Join()
	r.sweepAll()
	w.Finally(r.settledAfterCrash)
}

// work is one incarnation of a lane: it tries until it is told that a step committed.
func (r *rig) work(n uint32, life int) {
	l := r.lane(n)
	for i := range 3 {
		committed, err := l.advance(r.Scope(), cause(n, 10*life+i))
		if committed {
			return
		}
		r.refused(err, claim.ErrClaimed, store.ErrFenced, store.ErrUnavailable)
	}
}

// sweepAll frees what crashed lanes left, until the budget of faults is used up and it succeeds.
func (r *rig) sweepAll() {
	for range 20 {
		_, err := claim.Sweep(r.Scheduler(), r.Scope(), r.st, r.Scheduler().Now().Add(time.Hour))
		if err == nil {
			return
		}
		r.refused(err, store.ErrUnknown, store.ErrUnavailable)
	}
	r.Errorf("no sweep succeeded")
}

// settledAfterCrash allows for steps that committed and whose lane crashed before it was told.
func (r *rig) settledAfterCrash() {
	d := r.dump()
	has := map[string]int{}
	for _, c := range strings.Fields(string(d.Instances[instance].Snapshot)) {
		has[c]++
	}
	for c, n := range has {
		r.Require(n == 1, "L3.I3", "%s took effect %d times", c, n)
	}
	for _, c := range r.told {
		r.Require(has[c] == 1, "L3.I3", "%s was told committed and is not there", c)
	}
	for _, c := range r.failed {
		r.Require(has[c] == 0, "L3.I3", "%s was told failed for good and is there", c)
	}
}

// A hold ends with its task's function, in whichever way that ends.
func TestSimL3EveryExitFrees(t *testing.T) {
	sim.Check(t, "L3/every-exit-frees", everyExitFrees, sim.Runs(1000))
}

func everyExitFrees(w *sim.World) {
	failure := errors.New("guard refused")
	r := newRig(w, memory.Options{Lose: 3, Refuse: 3, Budget: 4, Scope: w.Scope(), Only: []string{"take", "release"}}, instance)
	exits := []func(*sched.Scope, *claim.Hold) error{
		func(*sched.Scope, *claim.Hold) error { return nil },
		func(*sched.Scope, *claim.Hold) error { return failure },
		func(*sched.Scope, *claim.Hold) error { panic(failure) },
		func(scope *sched.Scope, _ *claim.Hold) error { scope.Cancel(failure); return failure },
		func(scope *sched.Scope, h *claim.Hold) error {
			if _, _, err := h.Load(scope); err != nil {
				return err
			}
			return h.Commit(scope, &store.Step{Cause: "refused", Status: store.Running, Close: []uint64{7}})
		},
	}
	for n := range uint32(2) {
		exit := exits[w.Choose("exit", len(exits))]
		w.Go("lane", func() {
			l := r.lane(n)
			scope := w.Scope().Child("request")
			defer scope.Close()
			err := attempt(func() error {
				return l.claims.With(scope, instance, func(h *claim.Hold) error { return exit(scope, h) })
			})
			r.refused(err, nil, failure, claim.ErrClaimed, store.ErrConflict, store.ErrUnavailable)
			w.Require(l.claims.Outstanding() == 0, "L3.I5", "%d holds are outstanding", l.claims.Outstanding())
		})
	}
	w.Finally(func() { r.free(r.dump()) })
}

// attempt turns a panic with an error into that error, as a lane does.
func attempt(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(error)
			if !ok {
				panic(v)
			}
			err = e
		}
	}()
	return f()
}

// The holder waits for the one who is refused: a claim that made it wait would never be given back.
func TestSimL3RefusalDoesNotWait(t *testing.T) {
	sim.Check(t, "L3/refusal-does-not-wait", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		held, told := sched.NewNotify(w.Scheduler(), "held"), sched.NewNotify(w.Scheduler(), "told")
		w.Go("holder", func() {
			w.NoError(r.lane(1).claims.With(w.Scope(), instance, func(*claim.Hold) error {
				held.One()
				return told.Wait(nil)
			}))
		})
		w.Go("other", func() {
			w.NoError(held.Wait(nil))
			_, err := r.lane(2).claims.Take(w.Scope(), instance)
			w.Require(errors.Is(err, claim.ErrClaimed), "L3.I1", "take of a held claim: %v", err)
			told.One()
		})
	})
}

// An owner that comes back is another owner; so is every lane. Administrative requests run on a lane, as its owner.
func TestSimL3OwnerIsOneLaneOfOneIncarnation(t *testing.T) {
	sim.Check(t, "L3/owner-is-one-lane-of-one-incarnation", func(w *sim.World) {
		ids := []store.InstanceID{"a", "b", "c"}
		r := newRig(w, memory.Options{}, ids...)
		lanes := []*lane{r.lane(1), r.lane(2), r.lane(1)} // the third is the first one's next incarnation
		for i, id := range ids {
			w.Go("lane", func() {
				_, err := lanes[i].claims.Take(w.Scope(), id)
				w.NoError(err)
				_, err = lanes[i].claims.Take(w.Scope(), id)
				w.Require(errors.Is(err, claim.ErrClaimed), "L3.I1", "%v entered %q twice: %v", lanes[i].claims.Owner(), id, err)
			})
		}
		w.Finally(func() {
			by := map[store.Owner]store.InstanceID{}
			for _, h := range r.dump().Heads {
				if other, twice := by[h.Owner]; twice && !h.Owner.Nobody() {
					w.Require(false, "L3.I6", "%q and %q were claimed by different lanes as %v", other, h.Instance, h.Owner)
				}
				by[h.Owner] = h.Instance
			}
		})
	})
}

// A claim that was given back and taken again after the sweep listed it is somebody's live claim: the sweep frees what it saw,
// and leaves that one alone. The listing is held up until the instance has its new holder.
func TestSimL3SweepLeavesTheNextClaim(t *testing.T) {
	sim.Check(t, "L3/sweep-leaves-the-next-claim", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		s := w.Scheduler()
		first, err := r.lane(1).claims.Take(w.Scope(), instance)
		w.NoError(err)
		w.NoError(s.Sleep(w.Scope(), "age", time.Minute))
		before := s.Now()
		listed := &slowListing{Claims: r.st, listed: sched.NewNotify(s, "listed"), moved: sched.NewNotify(s, "moved"), scope: w.Scope()}
		w.Go("sweep", func() {
			n, err := claim.Sweep(w.Scheduler(), w.Scope(), listed, before)
			w.NoError(err)
			w.Require(n == 0, "L3.I7", "the sweep freed %d claims, and the one that it listed was gone", n)
		})
		w.NoError(listed.listed.Wait(w.Scope()))
		w.NoError(first.Free())
		second, err := r.lane(2).claims.Take(w.Scope(), instance)
		w.NoError(err)
		listed.moved.One()
		w.Join()
		_, _, err = second.Load(w.Scope())
		w.NoError(err)
		err = second.Commit(w.Scope(), &store.Step{Cause: "c2.0", Status: store.Running, Snapshot: []byte("c2.0 ")})
		w.Require(err == nil, "L3.I7", "a claim younger than the sweep's listing was freed: %v", err)
		r.told = append(r.told, "c2.0")
		w.Finally(r.settled)
	})
}

// slowListing holds up a sweep between its listing and what it does with it.
type slowListing struct {
	store.Claims
	listed, moved sched.Notify
	scope         *sched.Scope
}

func (l *slowListing) Claimed(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	heads, ticket, err := l.Claims.Claimed(scope, after, limit)
	l.listed.One()
	return heads, ticket, errors.Join(err, l.moved.Wait(l.scope))
}

// More claims than one transaction of a reclaim and one listing of a sweep take: all are freed, and no record is left.
func TestSimL3EveryClaimOfAnEarlierLifeIsFreed(t *testing.T) {
	const instances = 1100 // more than a batch of 1000, and several pages of 256
	sim.Check(t, "L3/every-claim-of-an-earlier-life-is-freed", func(w *sim.World) {
		st, engine := memory.Open(w.Scheduler(), memory.Options{})
		for i := range instances {
			id := store.InstanceID(fmt.Sprintf("i%04d", i))
			w.NoError(engine.Plant(given(id)))
			_, _, err := st.Take(w.Scope(), id, 1, store.Owner{Replica: "gone", Incarnation: 1})
			w.NoError(err)
		}
		reclaim := w.Choose("reclaim", 2) == 1
		if reclaim {
			_, err := step.Reclaim(w.Scope(), engine)
			w.NoError(err)
		} else {
			n, err := claim.Sweep(w.Scheduler(), w.Scope(), st, w.Scheduler().Now().Add(time.Second))
			w.NoError(err)
			w.Require(n == instances, "L3.I5", "the sweep freed %d of %d claims", n, instances)
		}
		held, _, err := st.Claimed(w.Scope(), "", 1)
		w.NoError(err)
		w.Require(len(held) == 0, "L3.I5", "a claim of an earlier life is held: %v", held)
		records := 0
		w.NoError(engine.Peek(func(v step.View) error {
			d, err := step.Inspect(v)
			records = len(d.Records)
			return err
		}))
		w.Require(records == 0 || !reclaim, "L3.I5", "%d records of an earlier life are left", records)
	}, sim.Runs(4), sim.Strategies("random"))
}
