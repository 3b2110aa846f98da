package timer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// rig is a simulated store with parked instances, and what became of their timers.
type rig struct {
	*sim.World
	st     *step.Store
	engine *memory.Engine
	begun  time.Time
	fires  map[store.InstanceID]int           // steps that committed for a timer
	early  []store.Timer                      // those that committed before they were due
	at     map[store.InstanceID]time.Duration // when those that committed began, after the check's begin
	looks  *sched.Chan[struct{}]              // when set, gets a value when the timers begin their second look
}

// Timers implements timer.Source.
func (r *rig) Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) ([]store.Timer, store.Ticket, error) {
	if r.looks != nil && until.Sub(r.begun) == 10*time.Minute && after.Generation == 0 {
		r.looks.TrySend(struct{}{})
	}
	return r.st.Timers(scope, after, until, limit)
}

func newRig(w *sim.World, o memory.Options) *rig {
	r := &rig{World: w, fires: map[store.InstanceID]int{}, at: map[store.InstanceID]time.Duration{}, begun: w.Scheduler().Now()}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	return r
}

// park gives an instance that waits until the given time after the check's begin.
func (r *rig) park(id store.InstanceID, after time.Duration) {
	r.NoError(r.engine.Plant(&store.Step{
		Cause: "spawn " + string(id), Spawn: true, Status: store.Running, Flow: "f",
		Claim: store.Claim{Instance: id, Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: string(id)}},
		Open:  []store.Wait{{Generation: 1, Element: "wait", Due: r.begun.Add(after)}},
	}))
}

// ownerLane spreads instances over two lanes by the last letter of their id.
func ownerLane(id store.InstanceID) int { return int(id[len(id)-1]) % 2 }

// node is one incarnation of the timers with two lanes, each of which claims for itself.
type node struct {
	r      *rig
	claims []*claim.Claims
	timers *timer.Timers
	// Both run on the lane's task before the claim is taken.
	hold    func(store.Timer)
	refuses func(store.Timer) bool
	instead timer.Outcome // of those that are refused
}

func (r *rig) start(scope *sched.Scope, o timer.Options) *node {
	n := r.build(scope, o)
	n.timers.Start(scope)
	return n
}

func (r *rig) build(scope *sched.Scope, o timer.Options) *node {
	n := &node{r: r, hold: func(store.Timer) {}, refuses: func(store.Timer) bool { return false }, instead: timer.Refused}
	incarnation, err := r.st.Incarnate(scope)
	r.NoError(err)
	for id := range uint32(2) {
		owner := store.Owner{Replica: "node", Lane: id, Incarnation: incarnation}
		n.claims = append(n.claims, claim.New(r.Scheduler(), r.st, step.NewCommitter(r.Scheduler(), r.st, owner), owner))
	}
	_, err = claim.Sweep(r.Scheduler(), scope, r.st, r.Scheduler().Now().Add(time.Hour)) // all earlier claims are void
	r.NoError(err)
	o.Lanes = 2
	n.timers, err = timer.New(r.Scheduler(), o, r, ownerLane, n.fire)
	r.NoError(err)
	r.Own(n.timers)
	return n
}

// fire is the lane: it claims, looks whether the wait is still open and ends the instance.
func (n *node) fire(scope *sched.Scope, t store.Timer) timer.Outcome {
	n.hold(t)
	outcome := timer.Refused
	if n.refuses(t) {
		return n.instead
	}
	err := n.claims[ownerLane(t.Instance)].With(scope, t.Instance, func(h *claim.Hold) error {
		in, _, err := h.Load(scope)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(in.Waits, func(x store.Wait) bool { return x.Generation == t.Generation }) {
			outcome = timer.Gone
			return nil
		}
		due := n.r.Scheduler().Now()
		err = h.Commit(scope, &store.Step{
			Cause: fmt.Sprintf("timer %s/%d", t.Instance, t.Generation), Status: store.Completed, Close: []uint64{t.Generation},
		})
		if err == nil {
			outcome = timer.Fired
			n.r.fires[t.Instance]++
			n.r.at[t.Instance] = due.Sub(n.r.begun)
			if due.Before(t.Due) {
				n.r.early = append(n.r.early, t)
			}
		}
		return err
	})
	n.r.Logf("fire %s: %v %v", t.Instance, outcome, err)
	return outcome
}

// settled requires that each timer fired exactly once and not early.
func (r *rig) settled(ids ...store.InstanceID) {
	for _, id := range ids {
		r.Require(r.fires[id] == 1, "L10.once", "the timer of %s fired %d times", id, r.fires[id])
	}
	r.Require(len(r.early) == 0, "L10.early", "fired before they were due: %v", r.early)
}
