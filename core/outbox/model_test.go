package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/drawn"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// operation is one step of a drawn sequence.
type operation struct {
	kind     string // emit, node, receiver
	instance int
	count    int
}

func drawOperations(t *rapid.T) []operation {
	one := rapid.Custom(func(t *rapid.T) operation {
		return operation{
			kind:     rapid.SampledFrom([]string{"emit", "emit", "emit", "node", "receiver"}).Draw(t, "kind"),
			instance: rapid.IntRange(0, 2).Draw(t, "instance"),
			count:    rapid.IntRange(0, 3).Draw(t, "count"),
		}
	})
	return rapid.SliceOfN(one, 1, 12).Draw(t, "operations")
}

// driver applies operations to a sender and to the model, and compares what arrived.
type driver struct {
	*rig
	model  *models.Outbox
	life   *sim.Node
	claims *claim.Claims
	steps  int
}

func newDriver(w *sim.World) *driver {
	d := &driver{rig: newRig(w, memory.Options{}, 0), model: models.NewOutbox()}
	owner := store.Owner{Replica: "lane", Incarnation: 1}
	d.claims = claim.New(w.Scheduler(), d.st, step.NewCommitter(w.Scheduler(), d.st, owner), owner)
	for i := range 3 {
		d.NoError(d.engine.Plant(&store.Step{
			Cause: "spawn", Spawn: true, Status: store.Running, Flow: "f",
			Claim: store.Claim{Instance: instanceNamed(i), Owner: store.Owner{Replica: "given"}},
			Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: fmt.Sprint(i)}},
		}))
	}
	d.up()
	return d
}

func instanceNamed(i int) store.InstanceID { return store.InstanceID(fmt.Sprintf("i%d", i)) }

func (d *driver) up() {
	d.life = d.Node("node")
	d.life.Go("sender", func() {
		x, err := outbox.New(d.Scheduler(), outbox.Options{Workers: 2, Batch: 2}, d.st, d.reach)
		d.NoError(err)
		x.Start(d.Scheduler().NewScope("life"))
		d.sender = x
	})
}

// reach is a receiver that is up or down.
func (d *driver) reach(_ *sched.Scope, e store.Emission) error {
	d.Scheduler().Yield()
	if !d.model.ReceiverUp {
		return errDown
	}
	d.arrive(e)
	return nil
}

func (d *driver) apply(op operation) {
	switch op.kind {
	case "emit":
		d.commit(instanceNamed(op.instance), op.count)
	case "node":
		if d.model.Switch(!d.model.NodeUp, d.model.ReceiverUp); d.model.NodeUp {
			d.up()
		} else {
			d.life.Crash()
			d.sender = nil
		}
	case "receiver":
		d.model.Switch(d.model.NodeUp, !d.model.ReceiverUp)
	}
	d.NoError(d.Scheduler().Sleep(d.Scope(), "settle", 15*time.Second)) // longer than the longest backoff and poll
}

// commit is a further step of an instance that emits.
func (d *driver) commit(id store.InstanceID, count int) {
	d.NoError(d.claims.With(d.Scope(), id, func(h *claim.Hold) error {
		d.steps++
		s := &store.Step{Cause: fmt.Sprintf("step %d", d.steps), Status: store.Running}
		for range count {
			s.Outbox = append(s.Outbox, store.Emission{Target: "relay", Payload: fmt.Append(nil, d.steps)})
		}
		d.model.Commit(string(id), count) // before the sender can see it: the model may be ahead until all has settled
		return h.Commit(d.Scope(), s)
	}))
	if d.sender != nil {
		d.sender.Emitted()
	}
}

func (d *driver) compare(after operation) {
	for i := range 3 {
		want, got := d.model.Arrived[string(instanceNamed(i))], len(d.arrived[instanceNamed(i)])
		d.Require(uint64(got) == want, "L11.model", "after %+v: %d emissions of %s arrived, model %d", after, got, instanceNamed(i), want)
	}
	rows := len(d.dump(d.engine.Peek).Emissions)
	d.Require(uint64(rows) == d.model.Waiting(), "L11.model", "after %+v: %d rows, model %d", after, rows, d.model.Waiting())
}

func TestModelL11(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L11/model", func(t *testing.T) int {
		return drawn.Run(t, "L11/model", func(rt *rapid.T) func(*sim.World) {
			operations := drawOperations(rt)
			return func(w *sim.World) {
				d := newDriver(w)
				for _, op := range operations {
					d.apply(op)
					d.compare(op)
				}
				if d.model.NodeUp {
					d.life.Crash() // it would look at the store for ever
				}
			}
		})
	})
}
