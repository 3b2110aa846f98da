package step_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// counter is a client that adds one to the number in the instance's snapshot, a step each time. A step that it was told
// has failed had no effect, so it is no part of the history.
type counter struct {
	id     int
	claims *claim.Claims
	calls  *linearizability.Calls
	s      sched.Scheduler
}

func newCounter(s sched.Scheduler, st store.Store, id int, calls *linearizability.Calls) *counter {
	me := store.Owner{Replica: "a", Lane: uint32(id), Incarnation: 1}
	return &counter{id: id, claims: claim.New(s, st, step.NewCommitter(s, st, me), me), calls: calls, s: s}
}

// run makes the attempts; errors other than refusals are returned.
func (c *counter) run(attempts int) error {
	for i := range attempts {
		end := c.calls.Begin(c.id, linearizability.LaneInput{Instance: string(instance)})
		n := 0
		err := c.claims.With(nil, instance, func(h *claim.Hold) error {
			in, _, err := h.Load(nil)
			if err != nil {
				return err
			}
			if n, err = strconv.Atoi("0" + string(in.Snapshot)); err != nil {
				return err
			}
			n++
			return h.Commit(nil, &store.Step{
				Cause: fmt.Sprintf("%d.%d", c.id, i), Status: store.Running, Snapshot: []byte(strconv.Itoa(n)),
			})
		})
		switch {
		case err == nil:
			end(n)
		case !store.Definite(err):
			return err
		}
	}
	return nil
}

func given() *store.Step {
	return &store.Step{
		Cause: "given", Spawn: true, Status: store.Running,
		Claim: store.Claim{Instance: instance, Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: "i"}},
	}
}

func TestLinearL6Steps(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L6/decided-steps-are-linearizable", func(t *testing.T) int {
		return sim.Judge(t, "L6/decided-steps-are-linearizable", func(w *sim.World) {
			st, engine := memory.Open(w.Scheduler(), memory.Options{
				Lose: 3, Budget: 4, Scope: w.Scope(), Only: []string{"commit", "release"},
			})
			w.NoError(engine.Plant(given()))
			calls := &linearizability.Calls{}
			for id := range 2 {
				c := newCounter(w.Scheduler(), st, id+1, calls)
				w.Go("client", func() { w.NoError(c.run(3)) })
			}
			w.Finally(func() {
				_, err := calls.Judge(linearizability.LaneModel())
				w.Require(err == nil, "L6.linear", "%v", err)
			})
		}, sim.Runs(500))
	})
}

func TestLinearL6StepsRealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L6/decided-steps-are-linearizable-on-the-real-runtime", func(t *testing.T) int {
		const histories = 100
		for range histories {
			s := sched.Scheduler{}
			st, engine := memory.Open(s, memory.Options{})
			if err := engine.Plant(given()); err != nil {
				t.Fatal(err)
			}
			calls := &linearizability.Calls{}
			var tasks sync.WaitGroup
			for id := range 3 {
				c := newCounter(s, st, id+1, calls)
				tasks.Go(func() {
					if err := c.run(8); err != nil {
						t.Error(err)
					}
				})
			}
			tasks.Wait()
			if _, err := calls.Judge(linearizability.LaneModel()); err != nil {
				inventory.Violated(t, t, "L6.linear", "%v", err)
			}
		}
		return histories
	})
}
