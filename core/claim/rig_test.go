package claim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/claim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// rig is a simulated store with instances, and lanes that claim them. It judges the row's invariants of L3 after
// every step of the world, from the store itself.
type rig struct {
	*sim.World
	st      *step.Store
	engine  *memory.Engine
	granted map[store.Claim]bool // every claim that a Take returned
	seen    step.Dump            // the state after the previous step
	told    []string             // causes that a lane was told committed
	failed  []string             // causes that a lane was told have no effect
	inc     uint64
}

const instance = store.InstanceID("i")

func newRig(w *sim.World, o memory.Options, ids ...store.InstanceID) *rig {
	r := &rig{World: w, granted: map[store.Claim]bool{}}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	r.spawn(ids...)
	w.Invariant("L3.I2", r.rowInvariants)
	return r
}

// spawn fills the store before the world's first step.
func (r *rig) spawn(ids ...store.InstanceID) {
	for _, id := range ids {
		r.NoError(r.engine.Plant(given(id)))
	}
	r.seen = r.dump()
	spec.Attach(r.World, r.engine)
}

// given is a step that makes a running row at epoch 1.
func given(id store.InstanceID) *store.Step {
	return &store.Step{
		Cause: "given", Spawn: true, Status: store.Running, Flow: "f",
		Claim: store.Claim{Instance: id, Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: string(id)}},
	}
}

func (r *rig) dump() step.Dump {
	d, err := step.InspectIn(r.engine.Peek)
	r.NoError(err)
	return d
}

// rowInvariants compares the state with that of the previous step: a commit is one step.
func (r *rig) rowInvariants() error {
	before, now := r.seen, r.dump()
	r.seen = now
	for _, h := range now.Heads {
		if err := epochRises(headOf(before, h.Instance), h); err != nil {
			return err
		}
		if slices.ContainsFunc(now.Records, func(x store.Record) bool { return x.Claim == h.Claim }) {
			return sched.Broken("L3.I4", "%v has committed and is still held", h.Claim)
		}
	}
	for _, x := range now.Records {
		if !slices.Contains(before.Records, x) && headOf(before, x.Instance).Claim != x.Claim {
			return sched.Broken("L3.I3", "%s committed under %v while the row was %v", x.Cause, x.Claim, headOf(before, x.Instance).Claim)
		}
	}
	return nil
}

func epochRises(before, now store.Head) error {
	switch {
	case now.Epoch < before.Epoch:
		return sched.Broken("L3.I2", "epoch of %q fell from %d to %d", now.Instance, before.Epoch, now.Epoch)
	case now.Owner != before.Owner && now.Epoch == before.Epoch:
		return sched.Broken("L3.I2", "owner of %q changed from %v to %v at epoch %d", now.Instance, before.Owner, now.Owner, now.Epoch)
	}
	return nil
}

func headOf(d step.Dump, id store.InstanceID) store.Head {
	for _, h := range d.Heads {
		if h.Instance == id {
			return h
		}
	}
	return store.Head{Claim: store.Claim{Instance: id}}
}

// lane is one owner.
type lane struct {
	*rig
	claims *claim.Claims
}

// lane returns the claims of a new incarnation of lane n.
func (r *rig) lane(n uint32) *lane {
	r.inc++
	me := store.Owner{Replica: "a", Lane: n, Incarnation: r.inc}
	c := claim.New(r.Scheduler(), r.st, step.NewCommitter(r.Scheduler(), r.st, me), me)
	r.Own(c)
	return &lane{rig: r, claims: c}
}

// advance runs one step: it appends its cause to the snapshot. It reports whether it was told that the step
// committed; the error is a refusal.
func (l *lane) advance(scope *sched.Scope, cause string) (bool, error) {
	committed := false
	err := l.claims.With(scope, instance, func(h *claim.Hold) error {
		l.grant(h)
		in, _, err := h.Load(scope)
		if err != nil {
			return err
		}
		err = h.Commit(scope, &store.Step{
			Cause: cause, Status: store.Running, Snapshot: append(in.Snapshot, cause+" "...),
		})
		switch {
		case err == nil:
			committed = true
			l.told = append(l.told, cause)
		case store.Definite(err):
			l.failed = append(l.failed, cause)
		}
		return err
	})
	return committed, err
}

// grant judges I1: the store never grants one claim twice.
func (r *rig) grant(h *claim.Hold) {
	r.Require(!r.granted[h.Claim()], "L3.I1", "%v was granted twice", h.Claim())
	r.granted[h.Claim()] = true
}

// refused fails on every error that is not an honest refusal.
func (r *rig) refused(err error, allowed ...error) {
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	r.NoError(err)
}

// settled judges the end: exactly what lanes were told is in the instance, in some order, and nobody holds it.
func (r *rig) settled() {
	d := r.dump()
	got := strings.Fields(string(d.Instances[instance].Snapshot))
	want := slices.Clone(r.told)
	slices.Sort(got)
	slices.Sort(want)
	r.Require(slices.Equal(got, want), "L3.I3", "the instance holds %q, lanes were told %q", got, want)
	r.free(d)
}

func (r *rig) free(d step.Dump) {
	h := headOf(d, instance)
	r.Require(h.Owner.Nobody(), "L3.I5", "every hold has ended and %v is still held", h.Claim)
}

func cause(lane uint32, n int) string { return fmt.Sprintf("c%d.%d", lane, n) }
