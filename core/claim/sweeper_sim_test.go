package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

const age = 10 * time.Second

// sweeper runs a sweeper until the check is over.
func (r *rig) sweeper() *claim.Sweeper {
	w, err := claim.NewSweeper(r.Scheduler(), claim.SweepOptions{Age: age, Poll: time.Second}, r.st)
	r.NoError(err)
	r.Own(w)
	r.Scheduler().Go(r.Scope(), "sweeper", func() { w.Run(r.Scope(), nil) })
	return w
}

func (r *rig) sleep(d time.Duration) { r.NoError(r.Scheduler().Sleep(r.Scope(), "time passes", d)) }

// A lane dies while it holds the claim. After the age, and some looks, another lane goes on with the instance.
func TestSimL4SilentOwnerIsFreed(t *testing.T) {
	sim.Check(t, "L4/silent-owner-is-freed", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		n := w.Node("dies")
		n.Go("lane", func() {
			_, err := r.lane(1).claims.Take(nil, instance)
			w.NoError(err)
			w.NoError(w.Scheduler().Sleep(nil, "for ever", 1000*time.Hour))
		})
		r.sleep(time.Second)
		n.Crash()
		r.sweeper()
		w.Go("successor", func() {
			r.sleep(age + 5*time.Second)
			committed, err := r.lane(2).advance(w.Scope(), cause(2, 0))
			w.Require(committed, "L4.progress", "the claim of the dead is still held: %v", err)
		})
		w.Join()
		r.settled()
	})
}

// An owner is suspended for longer than the age, and wakes: another lane went on meanwhile, and its own commit is refused.
func TestSimL4WokenOwnerCannotCommit(t *testing.T) {
	sim.Check(t, "L4/woken-owner-cannot-commit", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		r.sweeper()
		w.Go("sleeper", func() {
			err := r.lane(1).claims.With(w.Scope(), instance, func(h *claim.Hold) error {
				r.grant(h)
				in, _, err := h.Load(w.Scope())
				w.NoError(err)
				r.sleep(3 * age)
				err = h.Commit(w.Scope(), &store.Step{Cause: "late", Status: store.Running, Snapshot: append(in.Snapshot, "late "...)})
				w.Require(err != nil, "L4.fence", "an owner that slept through the sweep has committed")
				return err
			})
			r.refused(err, store.ErrFenced)
		})
		w.Go("successor", func() {
			r.sleep(2 * age)
			_, err := r.lane(2).advance(w.Scope(), cause(2, 0))
			w.NoError(err)
		})
		w.Join()
		r.settled()
	})
}

// A busy instance is claimed at every look, each time by another step. Nobody loses a claim.
func TestSimL4BusyInstanceIsLeftAlone(t *testing.T) {
	sim.Check(t, "L4/busy-instance-is-left-alone", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		r.sweeper()
		w.Go("lane", func() {
			l := r.lane(1)
			for i := range 8 {
				err := l.claims.With(w.Scope(), instance, func(h *claim.Hold) error {
					r.grant(h)
					in, _, err := h.Load(w.Scope())
					w.NoError(err)
					r.sleep(age / 2)
					c := cause(1, i)
					err = h.Commit(w.Scope(), &store.Step{Cause: c, Status: store.Running, Snapshot: append(in.Snapshot, c+" "...)})
					w.Require(err == nil, "L4.early", "a claim that was held for half of the age is lost: %v", err)
					r.told = append(r.told, c)
					return err
				})
				w.NoError(err)
			}
		})
		w.Join()
		r.settled()
	}, sim.Steps(20_000))
}

// Claims of roles, which have leases of their own, fill half of a page, and more claims are behind them. All that are not roles' are freed
// after the age.
func TestSimL4SweepsBehindRoles(t *testing.T) {
	const ahead, roles, behind = 200, 100, 10 // a page is 256
	sim.Check(t, "L4/sweeps-behind-roles", func(w *sim.World) {
		st, engine := memory.Open(w.Scheduler(), memory.Options{})
		take := takesFor(w, st, engine)
		take("ahead", ahead)
		take(claim.RolePrefix, roles)
		take("silent", behind)
		s, err := claim.NewSweeper(w.Scheduler(), claim.SweepOptions{Age: age}, st)
		w.NoError(err)
		w.Own(s)
		for _, want := range []int{0, ahead + behind} {
			n, err := s.Look(w.Scope())
			w.NoError(err)
			w.Require(n == want, "L4.all", "a look freed %d of %d claims", n, want)
			w.NoError(w.Scheduler().Sleep(w.Scope(), "age", age))
		}
	}, sim.Runs(2), sim.Strategies("random"))
}

func TestSweepOptionsNameEveryFault(t *testing.T) {
	err := claim.SweepOptions{Age: time.Millisecond, Poll: -1}.Validate()
	for _, field := range []string{"Age", "Poll"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
}
