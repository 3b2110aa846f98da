package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// spawning returns a step that creates an instance.
func spawning(id string) *store.Step {
	return &store.Step{
		Cause: "spawn " + id, Spawn: true, Status: store.Running,
		Claim: store.Claim{Instance: store.InstanceID(id), Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: id}},
	}
}

// Owners of two replicas race for one instance: comparing and writing must be one step, whichever store it goes through.
func TestLinearS2CompareAndWrite(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S2/compare-and-write-is-one-step", func(t *testing.T) int {
		const histories = 3
		for range histories {
			o := fresh()
			replicas := []store.Store{open(t, o), open(t, o)}
			_, err := replicas[0].Commit(nil, spawning("i"))
			ok(t, err)
			calls := &linearizability.Calls{}
			var tasks sync.WaitGroup
			for lane := range 4 {
				tasks.Go(func() {
					me := store.Owner{Replica: fmt.Sprint(lane % 2), Lane: uint32(lane), Incarnation: 2}
					for i := range 8 {
						end := calls.Begin(lane, linearizability.LaneInput{Instance: "i"})
						n, err := storetest.Increment(replicas[lane%2], me, fmt.Sprint(i))
						if err != nil {
							n = -1 // nobody sweeps here: a claim that is lost was held twice
						}
						end(n)
					}
				})
			}
			tasks.Wait()
			_, err = calls.Judge(linearizability.LaneModel())
			for _, st := range replicas {
				ok(t, st.Close())
			}
			if err != nil {
				inventory.Violated(t, t, "S2.linear", "%v", err)
			}
		}
		return histories
	})
}
