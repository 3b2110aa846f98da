package inbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/step"
)

// world is a rig in a simulation that judges L7 as deliveries are acknowledged.
type world struct {
	*sim.World
	*rig
	acknowledged map[string]bool
	attempts     int
}

func newWorld(w *sim.World, o memory.Options) *world {
	r, err := newRig(w.Scheduler(), o)
	w.NoError(err)
	x := &world{World: w, rig: r, acknowledged: map[string]bool{}}
	spec.AttachInbox(w, r.engine, instance)
	w.Invariant("L7.I1", func() error {
		n, err := effects(r.engine.Peek)
		if err != nil {
			return err
		}
		for id, times := range n {
			if times > 1 {
				return sched.Broken("L7.I1", "delivery %s took effect %d times", id, times)
			}
		}
		return nil
	})
	return x
}

func delivery(n int) store.Delivery { return store.Delivery{Channel: "c", ID: fmt.Sprintf("d%d", n)} }

// bringUntil attempts a delivery until it is acknowledged, and judges I2 in the moment in which the answer leaves.
func (x *world) bringUntil(l *lane, d store.Delivery, refusals int) {
	for i := range 8 {
		x.attempts++
		_, err := l.bring(x.Scope(), d, x.attempts, i < refusals)
		if err == nil {
			n, err := effects(x.engine.PeekDurable)
			x.NoError(err)
			x.Require(n[d.ID] == 1, "L7.I2", "%s was acknowledged, and the worst crash leaves %d effects", d.ID, n[d.ID])
			x.acknowledged[d.ID] = true
			return
		}
		if !again(err) {
			x.NoError(err)
		}
	}
}

// again reports whether err is one after which a transport brings its delivery again.
func again(err error) bool {
	for _, a := range []error{errGuard, claim.ErrClaimed, store.ErrFenced, store.ErrUnavailable, store.ErrDuplicate} {
		if errors.Is(err, a) {
			return true
		}
	}
	return false
}

// judge is I2 and I3 at the end: what was acknowledged is there.
func (x *world) judge() {
	n, err := effects(x.engine.Peek)
	x.NoError(err)
	for id := range x.acknowledged {
		x.Require(n[id] == 1, "L7.I2", "%s was acknowledged and took effect %d times", id, n[id])
	}
}

// The same deliveries on two lanes at once. One of the attempts at each takes effect; every acknowledgement is durable
// in the moment it leaves, and a refused attempt leaves its delivery deliverable.
func TestSimL7EffectOnce(t *testing.T) {
	sim.Check(t, "L7/effect-once", effectOnce, sim.Runs(1000))
}

func effectOnce(w *sim.World) {
	x := newWorld(w, memory.Options{Latency: 3 * time.Millisecond, Only: []string{"commit", "sync"}})
	for n := range uint32(2) {
		w.Go("lane", func() {
			l := x.lane(w.Scheduler(), n+1)
			for i := range 2 {
				x.bringUntil(l, delivery(i), w.Choose("refusals", 2))
			}
		})
	}
	w.Finally(x.judge)
}

// Answers get lost and the machine crashes at any moment: nothing that was acknowledged is lost or done twice.
func TestSimL7LostAnswersAndCrash(t *testing.T) {
	sim.Check(t, "L7/lost-answers-and-crash", lostAnswersAndCrash, sim.Runs(1000))
}

func lostAnswersAndCrash(w *sim.World) {
	x := newWorld(w, memory.Options{
		Lose: 3, Budget: 3, Latency: 3 * time.Millisecond, Scope: w.Scope(), Only: []string{"commit", "sync", "release"},
	})
	for n := range uint32(2) {
		w.Go("lane", func() {
			l := x.lane(w.Scheduler(), n+1)
			for i := range 2 {
				x.bringUntil(l, delivery(i), 0)
			}
		})
	}
	w.Go("power", func() { x.engine.Crash() })
	w.Finally(x.judge)
}

// One attempt is refused before another succeeds: the other one has to have an effect.
func TestSimL7RefusedStaysDeliverable(t *testing.T) {
	sim.Check(t, "L7/refused-stays-deliverable", func(w *sim.World) {
		x := newWorld(w, memory.Options{})
		w.Go("lane", func() {
			l := x.lane(w.Scheduler(), 1)
			_, err := l.bring(w.Scope(), delivery(1), 1, true)
			w.Require(errors.Is(err, errGuard), "L7.I3", "a refused attempt ended with %v", err)
			answer, err := l.bring(w.Scope(), delivery(1), 2, false)
			w.NoError(err)
			w.Require(!answer.Duplicate, "L7.I3", "a refused attempt has marked its delivery")
			x.acknowledged["d1"] = true
		})
		w.Finally(x.judge)
	})
}

// A node crashes in the middle of an attempt; the transport delivers again to the next one.
func TestSimL7CrashedStaysDeliverable(t *testing.T) {
	sim.Check(t, "L7/crashed-stays-deliverable", crashedStaysDeliverable, sim.Runs(300))
}

func crashedStaysDeliverable(w *sim.World) {
	x := newWorld(w, memory.Options{Latency: time.Millisecond, Only: []string{"commit", "sync"}})
	node := w.Node("a")
	node.Go("lane", func() { x.bringUntil(x.lane(w.Scheduler(), 1), delivery(1), 0) })
	w.Go("supervisor", func() {
		node.Crash()
		_, err := claim.Sweep(w.Scheduler(), w.Scope(), x.st, w.Scheduler().Now().Add(time.Hour))
		w.NoError(err)
		w.Node("a").Go("lane again", func() {
			x.bringUntil(x.lane(w.Scheduler(), 2), delivery(1), 0)
		})
	})
	w.Finally(func() {
		w.Require(x.acknowledged["d1"], "L7.I3", "the delivery was not acknowledged in the end")
		x.judge()
	})
}

// A commit that says duplicate is no answer by itself: without a receipt nobody knows what took effect, and the delivery is
// neither acknowledged nor marked.
func TestSimL7DuplicateNeedsAReceipt(t *testing.T) {
	sim.Check(t, "L7/duplicate-needs-a-receipt", func(w *sim.World) {
		x := newWorld(w, memory.Options{})
		me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
		committer := step.NewCommitter(w.Scheduler(), x.st, me)
		answer, err := inbox.New(w.Scheduler(), x.st).Attempt(w.Scope(), delivery(1), 0, func(receipt *store.Receipt) error {
			return committer.Commit(w.Scope(), &store.Step{ // the instance is there: its receipt was forgotten
				Cause: "1", Spawn: true, Status: store.Running, Inbox: receipt, Claim: store.Claim{Instance: instance, Owner: me, Epoch: 1},
			})
		})
		w.Require(errors.Is(err, store.ErrDuplicate), "L7.I2", "acknowledged without a receipt: %+v, %v", answer, err)
	})
}

// An answer that rests on absence waits for what made it absent: a crash would bring the wait back, and with it somebody whom the
// delivery was for.
func TestSimL7AbsenceIsDurable(t *testing.T) {
	sim.Check(t, "L7/absence-is-durable", func(w *sim.World) {
		st, engine := memory.Open(w.Scheduler(), memory.Options{Latency: 3 * time.Millisecond, Only: []string{"commit", "sync"}})
		w.NoError(engine.Plant(&store.Step{
			Cause: "given", Spawn: true, Status: store.Running,
			Claim: store.Claim{Instance: instance, Owner: store.Owner{Replica: "given"}},
			Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: "i"}},
			Open:  []store.Wait{{Generation: 1, Element: "e", Channel: "c", Key: "k"}},
		}))
		w.Go("lane", func() {
			me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
			w.NoError(claim.New(w.Scheduler(), st, step.NewCommitter(w.Scheduler(), st, me), me).With(w.Scope(), instance, func(h *claim.Hold) error {
				return h.Commit(w.Scope(), &store.Step{Cause: "1", Status: store.Running, Close: []uint64{1}})
			}))
		})
		b := inbox.New(w.Scheduler(), st)
		for range 8 {
			if _, _, err := st.Resolve(w.Scope(), "c", "k"); !errors.Is(err, store.ErrNotFound) {
				w.NoError(errors.Join(err, w.Scheduler().Sleep(w.Scope(), "again", time.Millisecond)))
				continue
			}
			w.NoError(b.Absent(w.Scope()))
			w.NoError(engine.PeekDurable(func(v step.View) error {
				d, err := step.Inspect(v)
				w.Require(len(d.Aliases) == 0, "L7.I4", "answered from absence, and a crash may bring back %v", d.Aliases)
				return err
			}))
			return
		}
	}, sim.Runs(300))
}
