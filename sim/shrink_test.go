package sim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// What is left of a failure is near the smallest there is: at most two preemptions more than the known minimum, no fault that
// is not needed, and the same whenever it is shrunk.
func TestShrinkingComesNearTheMinimum(t *testing.T) {
	for _, c := range []struct {
		name             string
		body             func(*sim.World)
		preempts, faults int // known minima
	}{
		{"across locks", programs.AcrossLocks, 1, 0},
		{"lost wake-up", programs.LostWakeUp, 1, 0},
		{"unguarded cell", programs.UnguardedCell, 0, 0},
		{"lost update", programs.LostUpdate, 1, 0},
		{"deep 3", programs.Deep(3), 5, 0},
		{"buried", programs.Buried(10), 1, 0},
		{"livelock", polite(false), 0, 0},
		{"one fault of three", func(w *sim.World) {
			n := 0
			for range 4 {
				if w.Fault("here", "first", "second") == 2 {
					n++
				}
				w.Scheduler().Yield()
			}
			w.Require(n == 0, "none", "%d of the second kind", n)
		}, 0, 1},
		{"two faults", func(w *sim.World) {
			n := 0
			for range 5 {
				n += min(w.Fault("here", "only"), 1)
			}
			w.Require(n < 2, "one", "%d faults", n)
		}, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range []string{"random", "pos"} {
				r, err := sim.Explore("shrink", strategy, c.body, sim.Runs(3000))
				if err != nil || r.Failure == nil {
					t.Fatalf("%s: %+v, %v", strategy, r, err)
				}
				preempts, faults, _, schedule := sim.Smallest(c.body, r.Failure)
				if preempts < 0 || preempts > c.preempts+2 || c.name != "livelock" && preempts < c.preempts || faults != c.faults {
					t.Errorf("%s: %d preemptions, at least %d are needed; %d faults, %d are needed: %s", strategy, preempts, c.preempts, faults, c.faults, schedule)
				}
				t.Logf("%s: %d preemptions (known minimum %d), %d faults", strategy, preempts, c.preempts, faults)
				if _, _, _, again := sim.Smallest(c.body, r.Failure); again != schedule {
					t.Errorf("%s: shrunk to %s, then to %s", strategy, schedule, again)
				}
			}
		})
	}
}
