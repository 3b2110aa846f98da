package inbox_test

import (
	"errors"
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
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// Every edge of the specification's graph is taken by an inbox: two lanes bring the same deliveries or others, and wait until the
// store syncs or crashes.
func TestTraceL7Sequences(t *testing.T) {
	plan, err := spec.InboxSequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L7/sequences-of-the-specification", plan, followInbox)
}

// gate holds up who waits until a commit, or what an inbox has read, is durable.
type gate struct {
	w     *sim.World
	opens sched.Notify
	open  int // times that the gate was opened
	ever  bool
}

func (g *gate) pass() {
	for at := g.open; !g.ever && g.open == at; {
		opened := g.opens.Register()
		g.w.NoError(opened.Wait(nil))
	}
}

func (g *gate) let() {
	g.open++
	g.opens.All()
}

// gated is an engine whose commits of steps are visible at once, and answered when the gate opens.
type gated struct {
	*memory.Engine
	gate *gate
}

func (g gated) Update(scope *sched.Scope, name string, durable bool, f func(step.Tx) error) (store.Ticket, error) {
	if name != "commit" {
		return g.Engine.Update(scope, name, durable, f)
	}
	t, err := g.Engine.Update(scope, name, false, f)
	if err != nil {
		return t, err
	}
	g.gate.pass()
	if err := g.WaitDurable(scope, t); err != nil {
		return t, errors.Join(store.ErrUnknown, err)
	}
	return t, nil
}

// gatedStore is what an inbox sees of a store.
type gatedStore struct {
	*step.Store
	gate *gate
}

func (g gatedStore) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	g.gate.pass()
	return g.Store.WaitDurable(scope, t)
}

func followInbox(w *sim.World, each func(do func(spec.InboxCall))) {
	s := w.Scheduler()
	r, err := newRig(s, memory.Options{})
	w.NoError(err)
	plain := r.st
	g := &gate{w: w, opens: sched.NewNotify(s, "gate")}
	r.st = step.New(gated{r.engine, g})
	spec.AttachInboxAlways(w, r.engine, instance)
	var orders [2]*sched.Chan[string] // what a lane does: bring that delivery, and what its guard says
	for n := range orders {
		orders[n] = sched.NewChan[string](s, "orders", 1)
		l := r.lane(s, uint32(n)+1)
		l.inbox = inbox.New(s, gatedStore{r.st, g})
		w.Go("lane", func() { l.obey(w, orders[n]) })
	}
	each(func(c spec.InboxCall) {
		switch c.Name {
		case "bring":
			orders[c.Lane-1].Send(c.Delivery)
		case "commit", "refuse":
			orders[c.Lane-1].Send(c.Name)
		case "sync": // what it writes makes sure that there is something to sync
			_, err := plain.Write(w.Scope(), []store.Row{{Space: "s", Key: "k"}})
			w.NoError(err)
			g.let()
		case "crash":
			r.engine.CrashTaking(0)
			g.let()
		default:
			r.engine.CrashTaking(r.engine.Unsynced())
			g.let()
		}
		w.NoError(s.Sleep(w.Scope(), "until everybody waits", time.Second))
	})
	g.ever = true
	g.let()
	for _, o := range orders {
		o.Close()
	}
	w.Join()
}

// obey brings deliveries; the step of each waits for an order to commit, and refuses on any other.
func (l *lane) obey(w *sim.World, orders *sched.Chan[string]) {
	for {
		id, open := orders.Receive()
		if !open {
			return
		}
		d := store.Delivery{Channel: "c", ID: id}
		// What it answers is judged by the events that it told.
		_, _ = l.inbox.Attempt(w.Scope(), d, 0, func(receipt *store.Receipt) error {
			if what, _ := orders.Receive(); what != "commit" {
				return errGuard
			}
			return l.claims.With(w.Scope(), instance, func(h *claim.Hold) error { return l.step(w.Scope(), h, d, id, receipt) })
		})
	}
}
