package correlate_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/correlate"
)

// Between resolving a message and claiming its instance, other steps park the instance for another key or channel, end it
// and let another instance take the key. The message resumes a wait for its own channel and key, or none.
func TestSimL8MessageResumesItsOwnWait(t *testing.T) {
	sim.Check(t, "L8/message-resumes-its-own-wait", func(w *sim.World) {
		resumeOwnWait(w, newRig(w, memory.Options{}), slices.Concat(rests, [][]target{{{"sent", "k"}, {"paid", "k"}}}))
	}, sim.Runs(500))
}

// rests are where other steps leave an instance: ended, or waiting for one message.
var rests = [][]target{{}, {{"paid", "k"}}, {{"sent", "k"}}, {{"paid", "l"}}}

func resumeOwnWait(w *sim.World, r *rig, rests [][]target) {
	r.plant("a", "paid", "k")
	r.plant("b", "paid", "other")
	if !slices.ContainsFunc(rests, func(to []target) bool { return len(to) > 1 }) {
		spec.Attach(w, r.engine) // which has one wait an instance
	}
	c := correlate.New(w.Scheduler(), r.st)
	for _, id := range []store.InstanceID{"a", "b"} {
		lane := r.lane()
		w.Go("other steps of "+string(id), func() {
			for range 2 {
				r.advance(lane, id, rests[w.Choose("rest", len(rests))]...)
			}
		})
	}
	for range 2 {
		lane := r.lane()
		w.Go("delivery", func() {
			end := r.deliver(c, lane, "paid", "k")
			w.Require(end != tired, "L8.progress", "the delivery was never answered")
		})
	}
}

// An instance is parked for the same key again and again; in every committed state somebody waits for it. So a message is
// never answered with "nothing waits", however the instance moves between its resolution and its claim.
func TestSimL8ReParkedWaitIsNotMissed(t *testing.T) {
	sim.Check(t, "L8/re-parked-wait-is-not-missed", reParked, sim.Runs(500))
}

func reParked(w *sim.World) {
	r := newRig(w, memory.Options{})
	r.plant("a", "paid", "k")
	spec.Attach(w, r.engine)
	c := correlate.New(w.Scheduler(), r.st)
	mover, lane := r.lane(), r.lane()
	w.Go("other steps", func() {
		for range 3 {
			r.advance(mover, "a", target{"paid", "k"})
		}
	})
	w.Go("delivery", func() {
		end := r.deliver(c, lane, "paid", "k")
		w.Require(end == applied, "L8.I3", "the delivery was %s while the instance waited for it", end)
	})
}

// A permanent answer rests on the absence of an alias row. The step that closed the wait is visible before it is durable,
// and a crash may take it back: the answer must not be out by then.
func TestSimL8AbsenceIsDurableBeforeItIsAnswered(t *testing.T) {
	sim.Check(t, "L8/absence-is-durable-before-it-is-answered", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		r.plant("a", "paid", "k")
		c := correlate.New(w.Scheduler(), r.st)
		node := w.Node("node")
		answered := ""
		mover, lane := r.lane(), r.lane()
		node.Go("other step", func() { r.advance(mover, "a", target{"sent", "k"}) })
		node.Go("delivery", func() {
			if _, err := c.Resolve(w.Scope(), "paid", "k"); err != nil {
				r.expect(err, correlate.ErrNoWait)
				answered = refused
			}
		})
		w.Go("power", func() {
			for range w.Choose("uptime", 12) {
				w.Scheduler().Yield()
			}
			node.Crash()
			r.engine.Crash()
			if answered == refused {
				_, err := claim.Sweep(w.Scheduler(), w.Scope(), r.st, w.Scheduler().Now().Add(1))
				w.NoError(err)
				end := r.deliver(c, lane, "paid", "k")
				w.Require(end == refused, "L8.durable", "refused before the crash, %s after it", end)
			}
		})
	}, sim.Runs(500))
}

// The store fails at any read of a delivery. That says nothing about the message, which is never answered for good by it, and
// leaves no claim behind; the delivery is brought again and resumes its wait, or, when there is none, is told so when that is durable.
func TestSimL8FailedReadAnswersNothing(t *testing.T) {
	sim.Check(t, "L8/failed-read-answers-nothing", func(w *sim.World) {
		r := newRig(w, memory.Options{Refuse: 2, Budget: 3, Only: []string{"resolve", "head", "load"}})
		reads := &brittle{Store: r.st, w: w}
		parked := w.Choose("parked", 2) == 0
		if parked {
			r.plant("a", "paid", "k")
		}
		c := correlate.New(w.Scheduler(), reads)
		lane := r.lane()
		w.Own(c)
		for range 6 {
			err := r.attempt(c, lane)
			if err == nil {
				w.Require(parked, "L8.answer", "nothing waits, and the delivery resumed it")
				return
			}
			if !parked && reads.synced {
				w.Require(errors.Is(err, correlate.ErrNoWait), "L8.answer", "nothing waits for good, and the delivery was told %v", err)
				return
			}
			w.Require(errors.Is(err, store.ErrUnavailable) && !errors.Is(err, correlate.ErrNoWait) && !errors.Is(err, correlate.ErrMoved),
				"L8.answer", "the store failed, and the delivery was told %v", err)
			w.Require(lane.Outstanding() == 0, "L8.held", "%v left a claim", err)
		}
		w.Errorf("no attempt succeeded")
	}, sim.Runs(300))
}

// brittle is a store that may fail once to tell that what was read is durable.
type brittle struct {
	*step.Store
	w              *sim.World
	failed, synced bool
}

func (b *brittle) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	if !b.failed && b.w.Choose("sync", 2) == 1 {
		b.failed = true
		return store.ErrUnavailable
	}
	b.synced = true
	return b.Store.WaitDurable(scope, t)
}

// attempt brings the message once.
func (r *rig) attempt(c *correlate.Correlator, lane *claim.Claims) error {
	target, err := c.Resolve(r.Scope(), "paid", "k")
	if err != nil {
		return err
	}
	entered, err := c.Enter(r.Scope(), lane, target)
	if err != nil {
		return err
	}
	return r.move(entered.Hold, entered.Instance, nil)
}
