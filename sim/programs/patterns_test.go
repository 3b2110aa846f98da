package programs_test

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// What sampling cannot show, the search does: no schedule of a fixed version fails.
func TestFixedPatternsAreCorrectInEverySchedule(t *testing.T) {
	for _, p := range programs.Patterns() {
		r, err := sim.Explore(p.Name, "dfs", p.Fixed, sim.Executions(20_000))
		if err != nil || r.Failure != nil || !r.Complete {
			t.Errorf("%s: %+v, complete %t after %d, %v", p.Name, r.Failure, r.Complete, r.Executions, err)
		}
		if r, err = sim.Explore(p.Name, "dfs", p.Bug, sim.Executions(20_000)); err != nil || r.Failure == nil {
			t.Errorf("%s: the search finds nothing in %d executions, %v", p.Name, r.Executions, err)
		}
	}
}
