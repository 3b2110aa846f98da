package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// gated is a store that keeps one commit inside until it is let go, and counts the instances that are read.
type gated struct {
	store.Store
	holds  func(*store.Step) bool
	inside sched.WriteOnce[bool] // the commit has come
	open   sched.WriteOnce[bool]
	loads  int
}

func newGated(w *sim.World, st store.Store, holds func(*store.Step) bool) *gated {
	return &gated{
		Store: st, holds: holds,
		inside: sched.NewWriteOnce[bool](w.Scheduler(), "inside the commit"), open: sched.NewWriteOnce[bool](w.Scheduler(), "gate"),
	}
}

func (g *gated) Commit(scope *sched.Scope, s *store.Step) (store.Ticket, error) {
	if g.holds(s) && g.inside.Set(true) {
		if _, err := g.open.Wait(nil); err != nil {
			return 0, err
		}
	}
	return g.Store.Commit(scope, s)
}

func (g *gated) Load(scope *sched.Scope, c store.Claim) (store.Instance, store.Ticket, error) {
	g.loads++
	return g.Store.Load(scope, c)
}

// account is the delivery that opens an account which ends after one amount, and the instance that it opens.
func account(name string) (engine.Delivery, store.InstanceID) {
	d := message("open", "open-"+name, "", text("account", name), integer("wanted", 1))
	return d, openedBy(d)
}

// adding reports whether a step of the instance is caused by a message.
func adding(id store.InstanceID) func(*store.Step) bool {
	return func(s *store.Step) bool { return s.Claim.Instance == id && !s.Spawn }
}

// A request that comes to the wrong lane finds the claim taken: it is answered at once that the instance is busy, and nothing of
// the instance was read. The right lane is inside its commit all the while. A test in which every request meets its own lane
// passes without any claim.
func TestSimL3MisrouteBouncesOnTheClaim(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L3/misroute-bounces-on-the-claim", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		open, id := account("a")
		right := newGated(w, x.st, adding(id))
		wrong := newGated(w, x.st, func(*store.Step) bool { return false })
		a := x.nodeOver(w.Scope(), right, engine.Options{Replica: "a", Shared: true}, nil)
		b := x.nodeOver(w.Scope(), wrong, engine.Options{Replica: "b", Shared: true, Attempts: 1}, nil)
		x.deliver(a, open)
		w.Go("right lane", func() { x.deliver(a, message("add", "one", "a", integer("amount", 1))) })
		_, err := right.inside.Wait(nil)
		w.NoError(err)
		_, err = b.Deliver(w.Scope(), message("add", "two", "a", integer("amount", 2)))
		w.Require(errors.Is(err, engine.ErrBusy), "L3.refused", "a delivery on the wrong lane: %v", err)
		_, err = b.CompleteTask(w.Scope(), id, 1, feel.NewContext())
		w.Require(errors.Is(err, engine.ErrBusy), "L3.refused", "a request on the wrong lane: %v", err)
		w.Require(wrong.loads == 0, "L3.reads-nothing", "the wrong lane has read %d instances", wrong.loads)
		right.open.Set(true)
		w.Join()
		a.Close()
		b.Close()
		in := x.durable(id)
		w.Require(in.Status == store.Completed && len(x.calls) == 1, "L3.once", "%v after %d calls", in.Status, len(x.calls))
	}, sim.Steps(40_000))
}

func (x *outside) deliver(e *engine.Engine, d engine.Delivery) engine.Reply {
	r, err := e.Deliver(x.Scope(), d)
	x.NoError(err)
	return r
}

// While the step that ends an instance is inside its commit nobody is answered: not who brought the message, not who waits for the
// end, and no duplicate of either. A test that looks after the fact sees the same answers in either order.
func TestSimL5NobodyIsAnsweredInsideTheCommit(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L5/nobody-is-answered-inside-the-commit", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		open := message("open-and-wait", "open-a", "", text("account", "a"), integer("wanted", 1))
		st := newGated(w, x.st, adding(openedBy(open)))
		e := x.nodeOver(w.Scope(), st, engine.Options{Lanes: 1 + w.Choose("lanes", 4)}, nil)
		answered := 0
		bring := func(d engine.Delivery, want engine.Outcome) {
			w.Go("transport", func() {
				r := x.deliver(e, d)
				w.Require(r.Outcome == want, "L5.end", "%s: %+v", d.ID, r)
				answered++
			})
		}
		bring(open, engine.Completed)
		bring(open, engine.Completed)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "opened", time.Second))
		add := message("add", "one", "a", integer("amount", 1))
		bring(add, engine.Accepted)
		_, err := st.inside.Wait(nil)
		w.NoError(err)
		bring(open, engine.Completed)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "meanwhile", 30*time.Second)) // less than the patience of who waits
		w.Require(answered == 0, "L5.early", "%d were answered, and the end is not committed", answered)
		st.open.Set(true)
		w.Join()
		bring(add, engine.Accepted)
		w.Join()
		e.Close()
	}, sim.Steps(40_000))
}

// The registry has room for one delivery, and that one is inside its commit. Another is refused before its own, and told so: not
// that it took effect. Sent again later it takes effect for the first time.
func TestSimL5FullRegistryRefusesBeforeTheCommit(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L5/full-registry-refuses-before-the-commit", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		first := message("open-and-wait", "open-a", "", text("account", "a"), integer("wanted", 1))
		second := message("open-and-wait", "open-b", "", text("account", "b"), integer("wanted", 1))
		st := newGated(w, x.st, func(s *store.Step) bool { return s.Claim.Instance == openedBy(first) })
		e := x.nodeOver(w.Scope(), st, engine.Options{Lanes: 2, SettleCapacity: 1}, nil)
		w.Go("first", func() {
			_, err := e.Deliver(w.Scope(), first)
			w.Require(errors.Is(err, engine.ErrUnsettled) && errors.Is(err, settle.ErrEvicted), "L5.told", "the first: %v", err)
		})
		_, err := st.inside.Wait(nil)
		w.NoError(err)
		_, err = e.Deliver(w.Scope(), second)
		w.Require(errors.Is(err, engine.ErrNoRoom) && !errors.Is(err, engine.ErrUnsettled), "L5.told", "without room: %v", err)
		st.open.Set(true)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "committed", time.Second))
		w.Go("second", func() {
			r := x.deliver(e, second)
			w.Require(r.Outcome == engine.Completed && !r.Duplicate, "L5.end", "the second: %+v", r)
		})
		w.NoError(w.Scheduler().Sleep(w.Scope(), "opened", time.Second))
		x.deliver(e, message("add", "one", "b", integer("amount", 1)))
		w.Join()
		e.Close()
	}, sim.Steps(40_000))
}

// One lane is inside a slow commit. What names an instance of the other lane goes on there, and so does every delivery that is for
// nobody on the slow lane: arrivals look for a lane that is free. Load that is spread evenly shows none of it.
func TestSimL2SlowLaneDelaysItsOwnInstancesOnly(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L2/slow-lane-delays-its-own-instances-only", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		const lanes = 2
		slow, id := account("slow")
		name := "quick"
		quick, other := account(name)
		for i := 0; lane.Hash(string(other))%lanes == lane.Hash(string(id))%lanes; i++ {
			name = fmt.Sprintf("quick %d", i)
			quick, other = account(name)
		}
		st := newGated(w, x.st, adding(id))
		e := x.nodeOver(w.Scope(), st, engine.Options{Lanes: lanes}, nil)
		x.deliver(e, slow)
		x.deliver(e, quick)
		w.Go("slow", func() { x.deliver(e, message("add", "one", "slow", integer("amount", 1))) })
		_, err := st.inside.Wait(nil)
		w.NoError(err)
		_, err = e.Describe(w.Scope(), other)
		w.Require(err == nil, "L2.straight", "a request for the quick lane: %v", err)
		answered := 0
		w.Go("arrivals", func() {
			for i := range 3 {
				x.deliver(e, message("add", fmt.Sprintf("arrival %d", i), "nobody", integer("amount", 1)))
				answered++
			}
		})
		w.NoError(w.Scheduler().Sleep(w.Scope(), "meanwhile", time.Hour))
		w.Require(answered == 3, "L2.arrivals", "%d of three arrivals were answered while one of two lanes was inside its commit", answered)
		st.open.Set(true)
		w.Join()
		x.deliver(e, message("add", "last", name, integer("amount", 1)))
		e.Close()
	}, sim.Steps(40_000))
}

// The owner lane of two instances is inside a slow commit of one. A message for the other is run where it arrives. A message for the
// slow one finds its claim taken, and waits its turn on that lane: it has two attempts, and needs the second because its wait moves.
func TestSimL2BusyOwnerIsNotWaitedFor(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L2/busy-owner-is-not-waited-for", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		const lanes = 2
		slow := message("open", "open-slow", "", text("account", "slow"), integer("wanted", 2))
		id := openedBy(slow)
		name := "quick"
		quick, other := account(name)
		for i := 0; lane.Hash(string(other))%lanes != lane.Hash(string(id))%lanes; i++ {
			name = fmt.Sprintf("quick %d", i)
			quick, other = account(name)
		}
		st := newGated(w, x.st, adding(id))
		e := x.nodeOver(w.Scope(), st, engine.Options{Lanes: lanes, Attempts: 2}, nil)
		x.deliver(e, slow)
		x.deliver(e, quick)
		answered := 0
		add := func(id, key string) {
			w.Go("transport of "+id, func() {
				x.deliver(e, message("add", id, key, integer("amount", 1)))
				answered++
			})
			w.NoError(w.Scheduler().Sleep(w.Scope(), "meanwhile", time.Minute))
		}
		add("slow 1", "slow")
		add("quick 1", name)
		w.Require(answered == 1, "L2.stays", "%d of two deliveries were answered while the lane of both was inside the commit of one", answered)
		add("slow 2", "slow")
		w.Require(answered == 1, "L2.turn", "%d of three deliveries were answered", answered)
		st.open.Set(true)
		w.Join()
		e.Close()
		w.Require(x.durable(id).Status == store.Completed && x.durable(other).Status == store.Completed, "L2.ends",
			"%v and %v", x.durable(id).Status, x.durable(other).Status)
	}, sim.Steps(40_000))
}
