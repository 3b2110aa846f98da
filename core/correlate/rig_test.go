package correlate_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// rig is a simulated store with parked instances, lanes that advance them and deliveries that resume them.
type rig struct {
	*sim.World
	st     *step.Store
	engine *memory.Engine
	lanes  uint32
	causes int
}

func newRig(w *sim.World, o memory.Options) *rig {
	r := &rig{World: w}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	w.Invariant("L8.I1", r.aliasHasItsWait)
	return r
}

// lane is a claimant of its own.
func (r *rig) lane() *claim.Claims {
	owner := store.Owner{Replica: "r", Lane: r.lanes, Incarnation: 1}
	r.lanes++
	return claim.New(r.Scheduler(), r.st, step.NewCommitter(r.Scheduler(), r.st, owner), owner)
}

// plant gives an instance that waits for (channel, key).
func (r *rig) plant(id store.InstanceID, channel, key string) {
	r.NoError(r.engine.Plant(&store.Step{
		Cause: "spawn " + string(id), Spawn: true, Status: store.Running, Flow: "f",
		Claim: store.Claim{Instance: id, Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: string(id)}},
		Open:  []store.Wait{{Generation: 1, Element: "wait", Channel: channel, Key: key}},
	}))
}

// target is a channel and a key to wait for. A step leaves its instance with some; without any the instance ends.
type target struct{ channel, key string }

// move commits a step: it closes every wait of the instance and opens those of to.
func (r *rig) move(hold *claim.Hold, in store.Instance, to []target) error {
	r.causes++
	s := &store.Step{Cause: fmt.Sprintf("step %d", r.causes), Status: store.Completed}
	for _, w := range in.Waits {
		s.Close = append(s.Close, w.Generation)
	}
	for i, w := range to {
		s.Status = store.Running
		s.Open = append(s.Open, store.Wait{Generation: in.Generation + 1 + uint64(i), Element: "wait", Channel: w.channel, Key: w.key})
	}
	return hold.Commit(r.Scope(), s)
}

// advance is any other step of the instance: a timer, a completed task.
func (r *rig) advance(lane *claim.Claims, id store.InstanceID, to ...target) {
	err := lane.With(r.Scope(), id, func(h *claim.Hold) error {
		in, _, err := h.Load(r.Scope())
		if err != nil {
			return err
		}
		return r.move(h, in, to)
	})
	// Claimed, ended, or the key is another's: this step does not happen.
	r.expect(err, claim.ErrClaimed, store.ErrNotFound, store.ErrAlias)
}

// expect fails on an error that is none of these.
func (r *rig) expect(err error, known ...error) {
	for _, k := range known {
		if errors.Is(err, k) {
			return
		}
	}
	r.NoError(err)
}

// The ends of a delivery.
const (
	applied = "applied"
	refused = "refused"
	tired   = "still retrying"
)

// deliver brings a message until it is answered, as its transport does, and ends its instance.
func (r *rig) deliver(c *correlate.Correlator, lane *claim.Claims, channel, key string) string {
	for range 20 {
		target, err := c.Resolve(r.Scope(), channel, key)
		if errors.Is(err, correlate.ErrNoWait) {
			return refused
		}
		r.NoError(err)
		entered, err := c.Enter(r.Scope(), lane, target)
		r.Require(!errors.Is(err, correlate.ErrNoWait), "L8.I3", "a miss under the claim was answered for good: %v", err)
		if err != nil {
			r.expect(err, claim.ErrClaimed, correlate.ErrMoved, store.ErrFenced)
			r.NoError(r.Scheduler().Sleep(r.Scope(), "redelivery", time.Millisecond))
			continue
		}
		w := entered.Wait
		r.Require(w.Channel == channel && w.Key == key, "L8.I2", "a message for %s %q resumed the wait for %s %q", channel, key, w.Channel, w.Key)
		r.NoError(r.move(entered.Hold, entered.Instance, nil))
		return applied
	}
	return tired
}

// aliasHasItsWait is I1, judged on every visible state.
func (r *rig) aliasHasItsWait() error {
	d, err := step.InspectIn(r.engine.Peek)
	if err != nil {
		return err
	}
	waits := 0
	open := map[store.Alias]bool{}
	for _, in := range d.Instances {
		for _, w := range in.Waits {
			if w.Channel != "" {
				open[store.Alias{Channel: w.Channel, Key: w.Key, Instance: in.Instance, Generation: w.Generation}] = true
				waits++
			}
		}
	}
	for _, a := range d.Aliases {
		if !open[a] {
			return sched.Broken("L8.I1", "alias %+v without its wait", a)
		}
	}
	if len(d.Aliases) != waits {
		return sched.Broken("L8.I1", "%d waits for messages, %d aliases", waits, len(d.Aliases))
	}
	return nil
}
