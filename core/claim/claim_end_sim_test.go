package claim_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// unwilling is a store that frees nothing for a reason, and counts what it is asked.
type unwilling struct {
	store.Claims
	reason   error
	frees    int
	listings int
}

func (u *unwilling) Release(scope *sched.Scope, c store.Claim) (bool, store.Ticket, error) {
	if u.frees++; u.reason != nil {
		return false, 0, u.reason
	}
	return u.Claims.Release(scope, c)
}

func (u *unwilling) Claimed(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	if u.listings++; u.listings > 3 {
		return nil, 0, errors.New("it lists the same claims again and again")
	}
	return u.Claims.Claimed(scope, after, limit)
}

// A hold that cannot be freed is told to whoever had it, with what he did. A store that will answer again is asked so often, one
// that will not is asked once.
func TestSimL3WhatIsNotFreedIsTold(t *testing.T) {
	failure := errors.New("guard refused")
	sim.Check(t, "L3/what-is-not-freed-is-told", func(w *sim.World) {
		r := newRig(w, memory.Options{}, instance)
		reasons := []error{store.ErrUnavailable, store.ErrUnknown, store.ErrHalted, store.ErrClosed}
		pick := w.Choose("reason", len(reasons))
		st := &unwilling{Claims: r.st, reason: fmt.Errorf("release: %w", reasons[pick])}
		c := claim.New(w.Scheduler(), st, nil, store.Owner{Replica: "a", Lane: 1, Incarnation: 1})
		w.Own(c)
		begun := w.Scheduler().Now()
		fails := []error{nil, failure}[w.Choose("ends with", 2)]
		err := c.With(w.Scope(), instance, func(*claim.Hold) error { return fails })
		w.Require(errors.Is(err, reasons[pick]), "L3.told", "%v came of a hold that was not freed: %v", err, reasons[pick])
		w.Require(fails == nil || errors.Is(err, fails), "L3.told", "%v hides %v", err, fails)
		asks, takes := claim.FreeAttempts, claim.FreeAttempts*claim.Backoff
		if pick > 1 {
			asks, takes = 1, 0
		}
		took := w.Scheduler().Now().Sub(begun)
		w.Require(st.frees == asks && took == takes, "L3.asks", "%d attempts in %v to free it, want %d in %v", st.frees, took, asks, takes)
		w.Require(c.Outstanding() == 0, "L3.I5", "%d holds are outstanding", c.Outstanding())
	}, sim.Runs(20))
}

// takesFor returns what plants instances named alike, as many as wanted, and takes them for an owner that is gone.
func takesFor(w *sim.World, st store.Store, engine *memory.Engine) func(name string, n int) {
	return func(name string, n int) {
		for i := range n {
			id := store.InstanceID(fmt.Sprintf("%s%03d", name, i))
			w.NoError(engine.Plant(given(id)))
			_, _, err := st.Take(w.Scope(), id, 1, store.Owner{Replica: "gone", Incarnation: 1})
			w.NoError(err)
		}
	}
}

// A sweep frees what is older than its limit, all of that and nothing else, also behind a page of claims that are not; what it
// could not free it tells.
func TestSimL3SweepFreesWhatIsOld(t *testing.T) {
	const young, old = 300, 10 // more than a page of 256
	sim.Check(t, "L3/sweep-frees-what-is-old", func(w *sim.World) {
		st, engine := memory.Open(w.Scheduler(), memory.Options{})
		take := takesFor(w, st, engine)
		take("behind", old)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "age", time.Minute))
		limit := w.Scheduler().Now()
		take("ahead", young)
		swept := &unwilling{Claims: st}
		if w.Choose("store", 2) == 1 {
			swept.reason = store.ErrUnavailable
		}
		n, err := claim.Sweep(w.Scheduler(), w.Scope(), swept, limit)
		want := old
		if swept.reason != nil {
			want = 0
		}
		w.Require(n == want && errors.Is(err, swept.reason), "L3.I7", "swept %d of %d with %v: %v", n, want, swept.reason, err)
		w.Require(swept.listings <= 2, "L3.I7", "%d listings of two pages", swept.listings)
		left, _, err := st.Claimed(w.Scope(), "", young+old)
		w.NoError(err)
		w.Require(len(left) == young+old-want, "L3.I7", "%d claims are left, want %d", len(left), young+old-want)
	}, sim.Runs(4), sim.Strategies("random"))
}
