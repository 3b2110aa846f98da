package step_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

func TestModelL6StoreAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L6/store-against-model", func(t *testing.T) int {
		return storetest.Sequences(t, func(what string) {
			inventory.Observe(t, inventory.Verdict{Kind: inventory.KindAssertion, ID: "L6.model", Message: what})
		}, func(*rapid.T) (store.Store, func() (step.Dump, error)) {
			st, engine := memory.Open(sched.Scheduler{}, memory.Options{})
			return st, func() (step.Dump, error) { return step.InspectIn(engine.Peek) }
		})
	})
}
