package sim_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"github.com/millrace-dev/millrace/sim/programs"
)

// After some hand-overs each goroutine is parked in another's iterator, so that one that ends on its own wakes somebody else than the
// driver. Whoever that is, the verdict must be the same and nobody may be left over (Main looks for goroutines).
func TestGoexitAfterHandOvers(t *testing.T) {
	body := func(w *sim.World) {
		n := sched.NewInt64(w.Scheduler(), "n", 0)
		for range 5 {
			w.Go("worker", func() {
				defer n.Load() // unwinds further, and must not go on
				for range 6 {
					n.Add(1)
				}
			})
		}
		w.Go("quitter", func() {
			for range 4 {
				n.Add(1)
			}
			runtime.Goexit()
		})
		w.Join()
	}
	for seed := range uint64(200) {
		r, err := sim.Explore("goexit", "random", body, sim.Runs(3), sim.Seed(seed), sim.Cores(1))
		if err != nil || r.Failure == nil || r.Failure.Verdict() != "panic quitter" {
			t.Fatalf("seed %d: %+v, %v", seed, r.Failure, err)
		}
	}
}

// A world whose execution failed in the middle goes on with the coroutines that are left.
func TestExecutionsAfterAFailure(t *testing.T) {
	body := func(fails bool) func(w *sim.World) {
		return func(w *sim.World) {
			n := sched.NewInt64(w.Scheduler(), "n", 0)
			for i := range 6 {
				w.Go("worker", func() {
					for range 5 {
						n.Add(1)
					}
					if i == 3 && fails {
						w.Fatalf("stop")
					}
				})
			}
			w.Join()
		}
	}
	for seed := range uint64(100) {
		bad, err := sim.Explore("bad", "random", body(true), sim.Runs(2), sim.Seed(seed), sim.Cores(1))
		if err != nil || bad.Failure == nil {
			t.Fatalf("seed %d: %+v, %v", seed, bad, err)
		}
		good, err := sim.Explore("good", "random", body(false), sim.Runs(20), sim.Seed(seed), sim.Cores(1))
		if err != nil || good.Failure != nil || good.Executions != 20 {
			t.Fatalf("seed %d: %+v, %v", seed, good, err)
		}
	}
}

// What is told of a failed run does not depend on what other cores ran meanwhile.
func TestFailedRunTellsTheSameOnAnyCores(t *testing.T) {
	body := func(w *sim.World) {
		w.Require(w.Choose("one in twenty", 20) > 0, "rare", "drawn")
	}
	for seed := range uint64(50) {
		one, err := sim.Explore("rare", "random", body, sim.Runs(200), sim.Seed(seed), sim.Cores(1))
		if err != nil || one.Failure == nil {
			t.Fatalf("seed %d: %+v, %v", seed, one, err)
		}
		two, err := sim.Explore("rare", "random", body, sim.Runs(200), sim.Seed(seed), sim.Cores(2))
		if err != nil || two.Executions != one.Executions || two.Distinct != one.Distinct || one.Distinct > one.Executions || one.Executions != one.Failure.Execution+1 || !slices.Equal(one.Hashes, two.Hashes) {
			t.Errorf("seed %d: one core %d (%d distinct), two cores %d (%d distinct) executions until the failure of number %d, %v", seed,
				one.Executions, one.Distinct, two.Executions, two.Distinct, one.Failure.Execution, err)
		}
	}
}

// A trace counts once, whichever strategies and bounds have shown it.
func TestATraceCountsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	t.Setenv(inventory.RecordsVar, path)
	sim.Check(t, "sim/three-values", func(w *sim.World) { w.Choose("value", 3) }, sim.Strategies("random", "pct3", "dfs2"))
	records, err := inventory.ReadRecords(path)
	if err != nil || len(records) != 1 || records[0].Distinct != 3 || records[0].Executions != 203 {
		t.Errorf("records %+v, %v; want 3 distinct traces in 203 executions", records, err)
	}
	for _, strategy := range []string{"dfs2", "dfs"} {
		r, err := sim.Explore("locks", strategy, programs.AcrossLocks, sim.Repeat(2))
		if err != nil || r.Failure == nil || r.Distinct > r.Executions {
			t.Errorf("%s: %d distinct in %d executions, %v, %v", strategy, r.Distinct, r.Executions, r.Failure, err)
		}
	}
}
