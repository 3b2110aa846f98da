// Package drawn runs programs that rapid draws as simulations, one execution each, so that a model check may have tasks, virtual
// time and nodes that crash, and still shrinks its sequence of operations.
package drawn

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// Run draws bodies, runs one execution of each, and returns how many there were: the rest of a check that inventory.Run runs. It
// fails with the verdict of the first that fails.
func Run(t *testing.T, check string, draw func(*rapid.T) func(*sim.World)) (cases int) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		body, seed := draw(rt), rapid.Uint64().Draw(rt, "seed")
		r, err := sim.Explore(check, "random", body, sim.Runs(1), sim.Seed(seed), sim.Cores(1))
		if err != nil {
			rt.Fatal(err)
		}
		if f := r.Failure; f != nil {
			inventory.Observe(t, inventory.Verdict{Kind: inventory.Kind(f.Kind), ID: f.ID, Message: f.Message})
			rt.Fatal(f.Message)
		}
	})
	return cases
}
