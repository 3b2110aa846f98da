package timer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/drawn"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// operation is one step of a drawn sequence. Times are minutes.
type operation struct {
	kind string // open, close, advance, switch
	wait int    // close: which of the waits opened so far
	by   int    // open: minutes until due; advance: minutes
}

func drawOperations(t *rapid.T) []operation {
	one := rapid.Custom(func(t *rapid.T) operation {
		return operation{
			kind: rapid.SampledFrom([]string{"open", "open", "close", "advance", "advance", "switch"}).Draw(t, "kind"),
			wait: rapid.IntRange(0, 5).Draw(t, "wait"),
			by:   rapid.IntRange(0, 4).Draw(t, "by"),
		}
	})
	return rapid.SliceOfN(one, 1, 14).Draw(t, "operations")
}

// driver applies operations to the timers and to the model, and compares the fires.
type driver struct {
	*rig
	model *models.Timers
	life  *sim.Node
	live  *node
	waits []string
	admin *claim.Claims
}

func newDriver(w *sim.World) *driver {
	d := &driver{rig: newRig(w, memory.Options{}), model: models.NewTimers()}
	owner := store.Owner{Replica: "admin", Incarnation: 1}
	d.admin = claim.New(w.Scheduler(), d.st, step.NewCommitter(w.Scheduler(), d.st, owner), owner)
	d.up()
	return d
}

// up starts the next life of the node. Its timers look at the store at once.
func (d *driver) up() {
	d.life = d.Node("node")
	d.life.Go("start", func() { d.live = d.start(d.Scheduler().NewScope("life"), timer.Options{}) })
}

func (d *driver) apply(op operation) {
	switch op.kind {
	case "open":
		d.open(op)
	case "close":
		d.close(op)
	case "advance":
		d.model.Advance(op.by)
		d.NoError(d.Scheduler().Sleep(d.Scope(), "advance", time.Duration(op.by)*time.Minute))
	case "switch":
		if d.model.Switch(!d.model.Up); d.model.Up {
			d.up()
		} else {
			d.life.Crash()
			d.live = nil
		}
	}
	// Half a minute later everything that is due has had time to fire, and nothing new is due.
	d.NoError(d.Scheduler().Sleep(d.Scope(), "settle", time.Second))
}

// open parks an instance; due times lie between the minutes, so that none is due while another operation runs.
func (d *driver) open(op operation) {
	name := fmt.Sprintf("w%d", len(d.waits))
	d.waits = append(d.waits, name)
	now := d.Scheduler().Now().Sub(d.begun)
	due := now.Truncate(time.Minute) + time.Duration(op.by)*time.Minute + 30*time.Second
	d.park(store.InstanceID(name), due)
	if d.live != nil {
		d.live.timers.Armed(d.begun.Add(due))
	}
	d.model.Open(name, int(now/time.Minute)+op.by+1)
}

// close lets an administrator end an instance that still waits.
func (d *driver) close(op operation) {
	if len(d.waits) == 0 {
		return
	}
	name := d.waits[op.wait%len(d.waits)]
	err := d.admin.With(d.Scope(), store.InstanceID(name), func(h *claim.Hold) error {
		return h.Commit(d.Scope(), &store.Step{Cause: "close " + name, Status: store.Failed, Close: []uint64{1}})
	})
	d.Require(d.model.Close(name) == (err == nil), "L10.close", "close %s: %v", name, err)
}

func (d *driver) compare(after operation) {
	for _, name := range d.waits {
		want, got := d.model.Sent[name], d.fires[store.InstanceID(name)]
		d.Require(got == want, "L10.model", "after %+v: %s fired %d times, model %d", after, name, got, want)
	}
}

func TestModelL10(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L10/model", func(t *testing.T) int {
		return drawn.Run(t, "L10/model", func(rt *rapid.T) func(*sim.World) {
			operations := drawOperations(rt)
			return func(w *sim.World) {
				d := newDriver(w)
				for _, op := range operations {
					d.apply(op)
					d.compare(op)
				}
				if d.model.Up {
					d.life.Crash() // it would look at the store for ever
				}
			}
		})
	})
}
