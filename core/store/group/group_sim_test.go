package group_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/sim"
)

// Three lanes commit through groups while answers get lost, land late or never, and a sweep is early. Each lane is told the truth
// about each of its steps.
func everyMemberIsToldTheTruth(w *sim.World) {
	r := newRig(w, 3, memory.Options{
		Lose: 2, Refuse: 6, Budget: 5, Latency: 20 * time.Millisecond, Scope: w.Scope(), Only: []string{"commit", "release", "head", "recorded"},
	})
	for n := range 3 {
		w.Go("lane", func() {
			l := r.lane(n)
			for i := range 2 {
				cause := fmt.Sprintf("step%d.%d", n, i)
				r.expect(l.advance(cause, cause), claim.ErrClaimed, store.ErrFenced, store.ErrUnavailable)
			}
		})
	}
	w.Go("sweep", func() {
		_, err := claim.Sweep(w.Scheduler(), w.Scope(), r.group, w.Scheduler().Now().Add(time.Second))
		r.expect(err, store.ErrUnavailable, store.ErrUnknown)
	})
}

func TestSimS3EveryMemberIsToldTheTruth(t *testing.T) {
	sim.Check(t, "S3/every-member-is-told-the-truth", everyMemberIsToldTheTruth, sim.Runs(1000))
}

// Lanes bring the same delivery to two instances, and others bring their own: of the two one is refused, and nobody else.
func newGuiltyRig(w *sim.World) *rig {
	return newRig(w, 4, memory.Options{Latency: 10 * time.Millisecond, Only: []string{"commit", "sync"}})
}

func (r *rig) onlyTheGuiltyFails() {
	refused := 0
	for n := range 4 {
		r.Go("lane", func() {
			delivery := []string{"own0", "own1", "shared", "shared"}[n]
			err := r.lane(n).advance(fmt.Sprint("step", n), delivery)
			if n < 2 {
				r.Require(err == nil, "S3.I3", "lane %d, which did nothing wrong, is told %v", n, err)
			} else if err != nil {
				refused++
				r.expect(err, store.ErrDuplicate)
			}
		})
	}
	r.Join()
	r.Require(refused == 1, "S3.I3", "%d of two steps with one delivery were refused", refused)
}

func TestSimS3OnlyTheGuiltyFails(t *testing.T) {
	sim.Check(t, "S3/only-the-guilty-fails", func(w *sim.World) { newGuiltyRig(w).onlyTheGuiltyFails() }, sim.Runs(300))
}

// A commit after Stop is refused for good, whether or not its queue has room: nobody has to find out what became of it.
func TestSimS3StopRefusesForGood(t *testing.T) {
	sim.Check(t, "S3/stop-refuses-for-good", func(w *sim.World) {
		r := newRig(w, 0, memory.Options{})
		r.group.Stop()
		for n := range 2 {
			_, err := r.group.Commit(w.Scope(), spawning(n))
			w.Require(errors.Is(err, store.ErrClosed) && store.Definite(err), "S3.stop", "a commit after the stop is told %v", err)
		}
	})
}

// counted is a store that remembers its largest group.
type counted struct {
	*step.Store
	largest int
}

func (c *counted) CommitAll(scope *sched.Scope, all []*store.Step) (store.Ticket, error) {
	c.largest = max(c.largest, len(all))
	return c.Store.CommitAll(scope, all)
}

// More lanes commit than may share a transaction, and the rest wait for room meanwhile: no transaction has more members than Most.
func TestSimS3GroupsHoldTheirBound(t *testing.T) {
	sim.Check(t, "S3/groups-hold-their-bound", func(w *sim.World) {
		const most, lanes = 2, 7
		st, _ := memory.Open(w.Scheduler(), memory.Options{Latency: 10 * time.Millisecond, Only: []string{"commit", "sync"}})
		c := &counted{Store: st}
		g, err := group.New(w.Scheduler(), w.Scope(), group.Options{Most: most}, c)
		w.NoError(err)
		w.Own(g)
		for n := range lanes {
			w.Go("lane", func() {
				_, err := g.Commit(w.Scope(), spawning(n))
				w.NoError(err)
			})
		}
		w.Join()
		w.Require(c.largest <= most, "S3.I4", "a transaction had %d members, at most %d may be", c.largest, most)
	})
}

// Attempts at one spawn from two lanes may meet in one group: one spawns, the other finds a duplicate.
func TestSimS3AttemptsAtOneSpawn(t *testing.T) {
	sim.Check(t, "S3/attempts-at-one-spawn", func(w *sim.World) {
		r := newRig(w, 0, memory.Options{Latency: 10 * time.Millisecond, Only: []string{"commit", "sync"}})
		spawned := 0
		for n := range 3 {
			w.Go("lane", func() {
				st := spawning(0)
				st.Cause, st.Claim.Owner = fmt.Sprint("attempt", n), store.Owner{Replica: "a", Lane: uint32(n), Incarnation: 1}
				err := r.hear(st.Cause, r.lane(n).committer.Commit(w.Scope(), st))
				if err == nil {
					spawned++
					return
				}
				r.expect(err, store.ErrDuplicate)
			})
		}
		w.Join()
		w.Require(spawned == 1, "S3.I1", "%d attempts spawned", spawned)
	}, sim.Runs(300))
}

// lone is a store that commits one step at a time.
type lone struct{ store.Store }

func TestOptionsAndStoresAreChecked(t *testing.T) {
	err := group.Options{Most: -1, Leaders: 65}.Validate()
	for _, field := range []string{"Most", "Leaders"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
	if _, err := group.New(sched.Scheduler{}, nil, group.Options{}, lone{}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a store that commits one step at a time: %v", err)
	}
}

// After Stop nothing is committed.
func TestStopRefuses(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	st, _ := memory.Open(s, memory.Options{})
	g, err := group.New(s, scope, group.Options{}, st)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Commit(scope, spawning(1)); err != nil {
		t.Fatal(err)
	}
	g.Stop()
	if _, err := g.Commit(scope, spawning(2)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("commit after the stop: %v", err)
	}
}

// Grouped commits are commits.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s := sched.Scheduler{}
		scope := s.NewScope("suite")
		t.Cleanup(scope.Close)
		st, _ := memory.Open(s, memory.Options{})
		g, err := group.New(s, scope, group.Options{}, st)
		if err != nil {
			t.Fatal(err)
		}
		return g
	})
}
