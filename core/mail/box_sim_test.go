package mail_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

// rig is a box over the simulated store, with those who wait.
type rig struct {
	*sim.World
	st      *step.Store
	box     *mail.Box
	begun   time.Time
	waiting map[string]int      // how many messages a slot still waits for
	got     map[string][]string // by slot, in order
	kept    int
	busy    int // how often to refuse at most
}

// newRig starts a box that hears of nothing but by its marks: it looks by itself after an hour only.
func newRig(w *sim.World, marks int) *rig {
	r := newIdle(w, marks)
	r.box.Start(w.Scope())
	return r
}

// newIdle is newRig with a box that has not started.
func newIdle(w *sim.World, marks int) *rig {
	r := &rig{World: w, begun: w.Scheduler().Now(), waiting: map[string]int{}, got: map[string][]string{}}
	r.st, _ = memory.Open(w.Scheduler(), memory.Options{})
	var err error
	r.box, err = mail.New(w.Scheduler(), mail.Options{Marks: marks, Poll: time.Hour}, r.st, r.bring)
	w.NoError(err)
	w.Own(r.box)
	return r
}

// keep keeps a message and says so, in this order.
func (r *rig) keep(slot string, ttl time.Duration) {
	r.write(slot, ttl)
	r.box.Kept(slot)
}

// write keeps a message and says nothing.
func (r *rig) write(slot string, ttl time.Duration) {
	r.kept++
	now := r.Scheduler().Now()
	row := store.Row{Space: mail.Space, Key: mail.Key(slot, now, fmt.Sprintf("%03d", r.kept)), Value: []byte{1}}
	if ttl > 0 {
		row.Expires = now.Add(ttl)
	}
	_, err := r.st.Write(r.Scope(), []store.Row{row})
	r.NoError(err)
}

// wait opens waits for some messages and says so, in this order.
func (r *rig) wait(slot string, n int) {
	r.Scheduler().Yield()
	r.waiting[slot] += n
	r.Scheduler().Yield()
	r.box.Look(func() string { return slot })
}

// bring is the step that a message causes: it takes the row with it.
func (r *rig) bring(scope *sched.Scope, row store.Row) mail.Outcome {
	slot := row.Key[:1]
	r.Scheduler().Yield()
	if r.waiting[slot] == 0 {
		return mail.Nobody
	}
	if r.busy > 0 && r.Choose("busy", 3) == 0 {
		r.busy--
		return mail.NotNow
	}
	row.Delete = true
	if _, err := r.st.Write(scope, []store.Row{{Space: row.Space, Key: row.Key, Delete: true}}); err != nil {
		return mail.NotNow
	}
	r.waiting[slot]--
	r.got[slot] = append(r.got[slot], row.Key)
	return mail.Taken
}

// inOrder requires so many messages of a slot, first in, first out.
func (r *rig) inOrder(slot string, n int) {
	got := r.got[slot]
	r.Require(len(got) == n, "L16.arrived", "%d messages of %s arrived, want %d", len(got), slot, n)
	for i := 1; i < len(got); i++ {
		r.Require(got[i-1] < got[i], "L16.order", "%s arrived before %s", got[i-1], got[i])
	}
}

// A message is kept while somebody begins to wait for it: whoever is second finds the other, and nothing is left to the poll. With
// room for one mark only, marks for other slots do not drown it.
func TestSimL16KeptMessageFindsItsWaiter(t *testing.T) {
	sim.Check(t, "L16/kept-message-finds-its-waiter", func(w *sim.World) {
		r := newRig(w, 1)
		for _, slot := range []string{"a", "b", "c"} {
			w.Go("keeper", func() { r.keep(slot, 0) })
			w.Go("waiter", func() { r.wait(slot, 1) })
		}
		w.Go("end", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", time.Minute))
			for _, slot := range []string{"a", "b", "c"} {
				r.inOrder(slot, 1)
			}
		})
	})
}

// Messages were kept before the box started, or by another replica that says so later. Who begins to wait while the box looks at all slots for
// the first time is found, and nothing is left to the poll.
func TestSimL16WhatIsThereFindsItsWaiter(t *testing.T) {
	sim.Check(t, "L16/what-is-there-finds-its-waiter", func(w *sim.World) {
		r := newIdle(w, 1)
		slots := []string{"a", "b", "c"}
		elsewhere := w.Choose("kept elsewhere", 2) == 1
		if elsewhere {
			r.box.Start(w.Scope())
		}
		for _, slot := range slots {
			r.write(slot, 0)
		}
		for _, slot := range slots {
			w.Go("waiter", func() { r.wait(slot, 1) })
		}
		if elsewhere {
			r.box.LookAll()
		} else {
			r.box.Start(w.Scope())
		}
		w.Go("end", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", time.Minute))
			for _, slot := range slots {
				r.inOrder(slot, 1)
			}
		})
	}, sim.Runs(300))
}

// Messages of a slot arrive in the order in which they came, whatever is busy; one whose time is over does not.
func TestSimL16MessagesArriveInOrder(t *testing.T) {
	sim.Check(t, "L16/messages-arrive-in-order", func(w *sim.World) {
		r := newRig(w, 4)
		r.busy = 5
		w.Go("keeper", func() {
			r.keep("a", time.Second)
			for range 3 {
				r.keep("a", 0)
			}
		})
		w.Go("waiter", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "too late for the first", 2*time.Second))
			for range 3 {
				r.wait("a", 1)
			}
		})
		w.Go("end", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", time.Minute))
			r.inOrder("a", 3)
		})
	})
}

// Bounds are refused with their names.
func TestOptions(t *testing.T) {
	for _, o := range []mail.Options{{Marks: -1}, {Poll: -1}, {Backoff: time.Hour}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
