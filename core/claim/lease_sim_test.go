package claim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/lease"
)

const (
	ttl  = spec.TTL
	poll = time.Second
)

// troupe is a simulated store and the replicas that want one role of it.
type troupe struct {
	*sim.World
	st     *step.Store
	engine *memory.Engine
	actors []*actor
	late   int // answers that may be late for each replica
}

// actor is one replica: its lease, and how often the role came to it.
type actor struct {
	*troupe
	node  *sim.Node
	scope *sched.Scope
	lease *claim.Lease
	taken int
}

func newTroupe(w *sim.World, o memory.Options) *troupe {
	r := &troupe{World: w}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	w.Invariant("L4.I3", r.onePlaysIt)
	spec.Attach(w, r.engine)
	return r
}

func (r *troupe) onePlaysIt() error {
	holders, now := []int{}, r.Scheduler().Now()
	for i, a := range r.actors {
		if a.lease != nil && a.lease.PeekHeld(now) {
			holders = append(holders, i)
		}
	}
	if len(holders) > 1 {
		return sched.Broken("L4.I3", "replicas %v all have the role", holders)
	}
	return nil
}

// enter starts a replica that wants the role, on a node of its own.
func (r *troupe) enter(name string) *actor {
	a := &actor{troupe: r, node: r.Node(name), scope: r.Scheduler().NewScope("life of " + name)}
	r.actors = append(r.actors, a)
	me := store.Owner{Replica: name, Lane: 100, Incarnation: uint64(len(r.actors))}
	a.node.Go("lease", func() {
		lease, err := claim.NewLease(r.Scheduler(), claim.LeaseOptions{TTL: ttl, Poll: poll, Taken: func() { a.taken++ }}, &slow{r.st, r.World, r.late}, "timers", me)
		r.NoError(err)
		r.Own(lease)
		a.lease = lease
		lease.Run(a.scope)
		r.Require(!lease.Held(), "L4.I4", "the lease of %s has ended and is held", name)
	})
	return a
}

func (a *actor) held() bool { return a.lease != nil && a.lease.Held() }

// leave ends the replica's lease in order.
func (a *actor) leave() { a.scope.Close() }

func (r *troupe) sleep(d time.Duration) { r.NoError(r.Scheduler().Sleep(r.Scope(), "time passes", d)) }

// holder returns the one that has the role, looking for a while.
func (r *troupe) holder(within time.Duration, of ...*actor) *actor {
	for waited := time.Duration(0); waited <= within; waited += poll / 4 {
		for _, a := range of {
			if a.held() {
				return a
			}
		}
		r.sleep(poll / 4)
	}
	r.Require(false, "L4.progress", "nobody has the role after %v", within)
	return nil
}

func other(a *actor, of ...*actor) *actor {
	for _, x := range of {
		if x != a {
			return x
		}
	}
	return nil
}

// Three replicas want a role while the store is slow, refuses, and loses answers. One at a time has it, and when the store is well
// again one does have it.
func roleIsHeldByOne(w *sim.World) {
	r := newTroupe(w, memory.Options{Latency: 2 * time.Second, Refuse: 6, Lose: 4, Budget: 8, Scope: w.Scope()})
	r.tale(3, 40*time.Second)
}

func (r *troupe) tale(replicas int, faults time.Duration) {
	var all []*actor
	for i := range replicas {
		all = append(all, r.enter("replica-"+string(rune('a'+i))))
	}
	r.Go("audience", func() {
		r.sleep(faults)
		// The store may be slow still: a holder that is late at its renewal loses the role for a moment.
		r.holder(6*ttl, all...)
		for _, a := range all {
			a.leave()
		}
	})
	r.Join()
}

func TestSimL4RoleIsHeldByOne(t *testing.T) {
	sim.Check(t, "L4/role-is-held-by-one", roleIsHeldByOne, sim.Steps(60_000))
}

// A holder that is stopped in order hands over within two looks of a candidate, though the scope that its store calls ran in has
// just ended.
func cleanStopHandsOver(w *sim.World) {
	r := newTroupe(w, memory.Options{Latency: poll / 10})
	a, b := r.enter("a"), r.enter("b")
	w.Go("operator", func() {
		first := r.holder(3*poll, a, b)
		r.sleep(3 * poll)
		first.leave()
		stopped := w.Scheduler().Now()
		second := r.holder(2*ttl, other(first, a, b))
		took := w.Scheduler().Now().Sub(stopped)
		w.Require(took < 4*poll, "L4.handover", "the hand-over took %v of a TTL of %v", took, ttl)
		second.leave()
	})
	w.Join()
}

func TestSimL4CleanStopHandsOver(t *testing.T) {
	sim.Check(t, "L4/clean-stop-hands-over", cleanStopHandsOver, sim.Steps(40_000))
}

// A holder that dies gives nothing back. After TTL, and some looks, another replica has the role.
func TestSimL4RoleOfTheDeadMoves(t *testing.T) {
	sim.Check(t, "L4/role-of-the-dead-moves", func(w *sim.World) {
		r := newTroupe(w, memory.Options{})
		a, b := r.enter("a"), r.enter("b")
		w.Go("fate", func() {
			first := r.holder(3*poll, a, b)
			r.sleep(5*poll + poll/2)
			first.node.Crash()
			second := other(first, a, b)
			first.lease = nil // whoever is dead believes nothing
			r.holder(ttl+4*poll, second)
			second.leave()
		})
		w.Join()
	}, sim.Steps(40_000))
}

// A holder is suspended for longer than TTL. Another replica has the role when it wakes, and it does not believe to have it for a
// moment: the invariant holds at every step.
func TestSimL4WokenHolderHasLostTheRole(t *testing.T) {
	sim.Check(t, "L4/woken-holder-has-lost-the-role", func(w *sim.World) {
		r := newTroupe(w, memory.Options{})
		a, b := r.enter("a"), r.enter("b")
		w.Go("fate", func() {
			first := r.holder(3*poll, a, b)
			second := other(first, a, b)
			first.node.Pause()
			r.holder(ttl+5*poll, second)
			first.node.Resume()
			r.sleep(5 * poll)
			w.Require(!first.held() && second.held(), "L4.woken", "after the first replica woke, it has the role: %v, the second: %v", first.held(), second.held())
			second.leave()
			r.holder(4*poll, first) // it wants the role still
			first.leave()
		})
		w.Join()
	}, sim.Steps(40_000))
}

// The store loses power in the middle of renewals and may come back with an older row. The holder, alone, gets the role again.
func TestSimL4RoleComesBackAfterALossOfPower(t *testing.T) {
	sim.Check(t, "L4/role-comes-back-after-a-loss-of-power", func(w *sim.World) {
		r := newTroupe(w, memory.Options{})
		a := r.enter("a")
		w.Go("fate", func() {
			r.holder(3*poll, a)
			r.sleep(3*poll + poll/2)
			r.engine.Crash()
			r.sleep(ttl + poll)
			r.holder(2*poll, a)
			a.leave()
		})
		w.Join()
	}, sim.Steps(40_000))
}

// slow is a store whose answers to one replica are late at times: what was asked has happened, and the replica learns of it when
// its time with the role may long be over.
type slow struct {
	*step.Store
	w    *sim.World
	late int // answers that may be late still
}

func (x *slow) answer() {
	if x.late == 0 || x.w.Choose("answer", 6) > 0 {
		return
	}
	x.late--
	x.w.NoError(x.w.Scheduler().Sleep(nil, "late answer", time.Duration(1+x.w.Choose("delay", 2))*ttl))
}

func (x *slow) Renew(scope *sched.Scope, c store.Claim) (store.Claim, store.Ticket, error) {
	next, t, err := x.Store.Renew(scope, c)
	x.answer()
	return next, t, err
}

func (x *slow) Take(scope *sched.Scope, id store.InstanceID, seen store.Epoch, me store.Owner) (store.Claim, store.Ticket, error) {
	c, t, err := x.Store.Take(scope, id, seen, me)
	x.answer()
	return c, t, err
}

func (x *slow) Head(scope *sched.Scope, id store.InstanceID) (store.Head, store.Ticket, error) {
	h, t, err := x.Store.Head(scope, id)
	x.answer()
	return h, t, err
}

// Answers come when the time with the role that they tell of is over, also those after a renewal whose own answer was lost.
func lateAnswers(w *sim.World) {
	r := newTroupe(w, memory.Options{Lose: 3, Budget: 4, Scope: w.Scope(), Only: []string{"renew", "take"}})
	r.late = 3
	r.tale(2, 60*time.Second)
}

func TestSimL4LateAnswers(t *testing.T) {
	sim.Check(t, "L4/late-answers", lateAnswers, sim.Steps(40_000), sim.Runs(500))
}

// The store crashes and loses what was not durable, while the replicas live on. What one of them believes is not taken back.
func roleOutlivesCrashes(w *sim.World) {
	r := newTroupe(w, memory.Options{})
	w.Go("power", func() {
		for range 3 {
			r.sleep(time.Duration(w.Choose("uptime", 4)) * poll)
			for range w.Choose("steps", 20) {
				w.Scheduler().Yield()
			}
			r.engine.Crash()
		}
	})
	r.tale(3, 10*poll)
}

func TestSimL4RoleOutlivesTheStoresCrash(t *testing.T) {
	sim.Check(t, "L4/role-outlives-a-crash-of-the-store", roleOutlivesCrashes, sim.Steps(40_000), sim.Runs(300))
}

// Candidates watch a holder for many times TTL. It renews, so it keeps the role.
func TestSimL4RenewedRoleStays(t *testing.T) {
	sim.Check(t, "L4/renewed-role-stays", func(w *sim.World) {
		r := newTroupe(w, memory.Options{})
		a, b := r.enter("a"), r.enter("b")
		w.Go("audience", func() {
			first := r.holder(3*poll, a, b)
			r.sleep(4 * ttl)
			w.Require(first.held() && a.taken+b.taken == 1, "L4.stays", "the role moved %d times", a.taken+b.taken)
			a.leave()
			b.leave()
		})
		w.Join()
	}, sim.Steps(40_000))
}

func TestLeaseOptionsNameEveryFault(t *testing.T) {
	err := claim.LeaseOptions{TTL: time.Millisecond, Poll: time.Hour}.Validate()
	for _, field := range []string{"TTL", "Poll"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
	if _, err := claim.NewLease(sched.Scheduler{}, claim.LeaseOptions{}, nil, "timers", store.Owner{}); err == nil {
		t.Error("nobody got a lease")
	}
}
