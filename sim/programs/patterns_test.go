package programs_test

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// Every pattern is found within 1,000 schedules, by most strategies; no strategy reports its fixed version.
func TestPatternsAreFoundAndTheirFixesAreNot(t *testing.T) {
	strategies := []string{"random", "pct3", "pos", "surw", "urw", "rff"}
	patterns := programs.Patterns()
	if len(patterns) < 20 {
		t.Fatalf("%d patterns", len(patterns))
	}
	for _, p := range patterns {
		found := 0
		for _, strategy := range strategies {
			r, err := sim.Explore(p.Name, strategy, p.Bug, sim.Runs(1000))
			if err != nil {
				t.Fatal(err)
			}
			if r.Failure != nil {
				found++
				if got := r.Failure.Verdict(); got != p.Verdict {
					t.Errorf("%s: %s found %s, want %s: %s", p.Name, strategy, got, p.Verdict, r.Failure.Message)
				}
			}
			r, err = sim.Explore(p.Name, strategy, p.Fixed, sim.Runs(200))
			if err != nil {
				t.Fatal(err)
			}
			if r.Failure != nil {
				t.Errorf("%s, fixed: %s reports %s: %s", p.Name, strategy, r.Failure.Verdict(), r.Failure.Message)
			}
		}
		t.Logf("%-45s found by %d of %d strategies", p.Name, found, len(strategies))
		if found == 0 {
			t.Errorf("%s is not found", p.Name)
		}
	}
}

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
