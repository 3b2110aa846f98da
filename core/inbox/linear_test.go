package inbox_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// client brings deliveries and records what it was told.
type client struct {
	id    int
	lane  *lane
	calls *linearizability.Calls
	n     int
}

func (c *client) bring(d store.Delivery) error {
	c.n++
	attempt := 100*c.id + c.n
	end := c.calls.Begin(c.id, linearizability.InboxInput{Delivery: d.ID, Attempt: attempt})
	answer, err := c.lane.bring(nil, d, attempt, false)
	out := linearizability.InboxOutput{Duplicate: answer.Duplicate, Lost: err != nil && !store.Definite(err)}
	if err == nil {
		if out.First, err = strconv.Atoi(string(answer.Receipt.Reply)); err != nil {
			return err
		}
	}
	end(out)
	return nil
}

func TestLinearL7Deliveries(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L7/deliveries-are-linearizable", func(t *testing.T) int {
		return sim.Judge(t, "L7/deliveries-are-linearizable", func(w *sim.World) {
			r, err := newRig(w.Scheduler(), memory.Options{Lose: 4, Budget: 2, Scope: w.Scope(), Only: []string{"commit"}})
			w.NoError(err)
			calls := &linearizability.Calls{}
			for id := range 3 {
				c := &client{id: id + 1, lane: r.lane(w.Scheduler(), uint32(id+1)), calls: calls}
				w.Go("client", func() {
					for i := range 2 {
						w.NoError(c.bring(delivery(i)))
					}
				})
			}
			w.Finally(func() {
				_, err := calls.Judge(linearizability.InboxModel())
				w.Require(err == nil, "L7.linear", "%v", err)
			})
		}, sim.Runs(500))
	})
}

// The same on the real runtime, where the processors interleave them.
func TestLinearL7DeliveriesRealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L7/deliveries-are-linearizable-on-the-real-runtime", func(t *testing.T) int {
		const histories = 100
		for range histories {
			r, err := newRig(sched.Scheduler{}, memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			calls := &linearizability.Calls{}
			var tasks sync.WaitGroup
			for id := range 3 {
				c := &client{id: id + 1, lane: r.lane(sched.Scheduler{}, uint32(id+1)), calls: calls}
				tasks.Go(func() {
					for i := range 3 {
						if err := c.bring(delivery(i)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			tasks.Wait()
			if _, err := calls.Judge(linearizability.InboxModel()); err != nil {
				inventory.Violated(t, t, "L7.linear", "%v", err)
			}
		}
		return histories
	})
}
