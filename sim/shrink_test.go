package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
	"github.com/millrace-dev/millrace/sim/testdata/sct"
)

// known is the most that is searched for the fewest preemptions of a failure.
const known = "dfs6"

// spare is how many preemptions more than the fewest may be left of a failure.
const spare = 2

// standIn is what tells a world of a fault that something outside drew.
type standIn struct{}

// Fault says so.
func (standIn) Fault() {}

// What is left of a failure is near the smallest there is: at most two preemptions more than the fewest, which a search finds, no fault
// that is not needed, and the same whenever it is shrunk.
func TestShrinkingComesNearTheMinimum(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   func(*sim.World)
		faults int // the fewest
	}{
		{"across locks", programs.AcrossLocks, 0},
		{"lost wake-up", programs.LostWakeUp, 0},
		{"unguarded cell", programs.UnguardedCell, 0},
		{"lost update", programs.LostUpdate, 0},
		{"deep 3", programs.Deep(3), 0},
		{"buried", programs.Buried(10), 0},
		{"livelock", polite(false), 0},
		{"one fault of three", func(w *sim.World) {
			n := 0
			for range 4 {
				if w.Fault("here", "first", "second") == 2 {
					n++
				}
				w.Scheduler().Yield()
			}
			w.Require(n == 0, "none", "%d of the second kind", n)
		}, 1},
		{"two faults", func(w *sim.World) {
			n := 0
			for range 5 {
				n += min(w.Fault("here", "only"), 1)
			}
			w.Require(n < 2, "one", "%d faults", n)
		}, 2},
		{"faults between tasks", func(w *sim.World) {
			n := 0
			for range 2 {
				w.Go("unlucky", func() {
					for range 3 {
						n += min(w.Fault("here", "first", "second"), 1)
						w.Scheduler().Yield()
					}
				})
			}
			w.Join()
			w.Require(n < 2, "one", "%d faults", n)
		}, 2},
		{"faults of a stand-in", func(w *sim.World) {
			s := w.Scheduler()
			r, third := sched.NewRand(s, "stand-in"), false
			for i := range 4 {
				if r.IntN(2) == 0 { // zero is the fault
					s.Emit(standIn{}, "it fails")
					third = third || i == 2 && r.IntN(3) > 0
				}
				s.Yield()
			}
			w.Require(!third, "third", "the third failed")
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range []string{"random", "pos"} {
				r, err := sim.Explore("shrink", strategy, c.body, sim.Runs(3000))
				if err != nil || r.Failure == nil {
					t.Fatalf("%s: %+v, %v", strategy, r, err)
				}
				shrunkNearly(t, c.body, r.Failure, c.faults)
			}
		})
	}
}

// What is left of a failure fails for the same reason, also where a smaller schedule fails for another one.
func TestShrinkingKeepsTheReason(t *testing.T) {
	body := func(w *sim.World) {
		x := sched.NewInt64(w.Scheduler(), "x", 0)
		w.Go("write", func() { x.Store(1); x.Store(2); x.Store(3) })
		w.Go("read", func() {
			v := x.Load()
			w.Require(v != 0, "nothing", "read before the first store")
			w.Require(v != 2, "middle", "read between the second and the third")
		})
	}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		r, err := sim.Explore("reason", "random", body, sim.Runs(1), sim.Seed(seed))
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure == nil {
			continue
		}
		if preempts, _, _, schedule := sim.Smallest(body, r.Failure); preempts < 0 {
			t.Fatalf("what is left of %s %s", r.Failure.Verdict(), schedule)
		}
		seen[r.Failure.Verdict()] = true
	}
	if len(seen) != 2 {
		t.Fatalf("reasons met: %v", seen)
	}
}

// The draws of a failure are shrunk too: those that do not matter become zero, the one that matters the least that fails.
func TestShrinkingMakesDrawsSmall(t *testing.T) {
	body := func(w *sim.World) {
		a, b := w.Choose("a", 100), w.Choose("b", 100)
		w.Require(a < 40, "small", "a is %d, b is %d", a, b)
	}
	r, err := sim.Explore("shrink", "random", body, sim.Runs(100))
	if err != nil || r.Failure == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	_, _, draws, schedule := sim.Smallest(body, r.Failure)
	var a, b int
	if n, err := fmt.Sscanf(schedule, "=%d =%d", &a, &b); n != 2 || err != nil || draws != 2 || a < 40 || a >= 80 || b != 0 {
		t.Errorf("shrunk to %q, want a between 40 and 79 and b zero", schedule)
	}
}

// The planted programs of testdata with few threads: with many, already the schedules without a preemption are too many to search.
func TestShrinkingOfTheClassicPrograms(t *testing.T) {
	small := []string{
		"CS/twostage", "CS/reorder_3", "CS/reorder_4", "CS/stack", "CS/token_ring", "CS/lazy01", "CS/deadlock01", "CS/bluetooth_driver",
		"CS/account", "CS/wronglock_3", "CB/stringbuffer-jdk1.4",
	}
	for _, p := range sct.Programs() {
		if !slices.Contains(small, p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			options := []sim.Option{sim.Runs(10_000), sim.Steps(1 << 20), sim.WithoutRaces(), sim.Executions(200_000)}
			r, err := sim.Explore(p.Name, "rff", p.Body, options...)
			if err != nil || r.Failure == nil {
				t.Fatalf("%+v, %v", r, err)
			}
			shrunkNearly(t, p.Body, r.Failure, 0, options...)
		})
	}
}

// With many threads already the schedules without a preemption are too many to search. What is left of these has at most two preemptions,
// and so at most two more than the fewest, whatever that is.
func TestShrinkingOfAllClassicPrograms(t *testing.T) {
	for _, p := range sct.Programs() {
		if p.Name == "Inspect_benchmarks/bbuf" {
			continue // no strategy finds it, and none did where it was published
		}
		t.Run(p.Name, func(t *testing.T) {
			options := []sim.Option{sim.Runs(10_000), sim.Steps(1 << 20), sim.WithoutRaces()}
			r, err := sim.Explore(p.Name, "rff", p.Body, options...)
			if err != nil || r.Failure == nil {
				t.Fatalf("%+v, %v", r, err)
			}
			if preempts, faults, _, schedule := sim.Smallest(p.Body, r.Failure, options...); preempts < 0 || preempts > spare || faults != 0 {
				t.Errorf("%d preemptions, %d faults are left: %s", preempts, faults, schedule)
			}
		})
	}
}

// shrunkNearly holds what is left of f against the fewest preemptions with which body fails.
func shrunkNearly(t *testing.T, body func(*sim.World), f *sim.Failure, faults int, options ...sim.Option) {
	t.Helper()
	fewest := 0 // of a livelock: no search ends there, and it cannot be fewer
	if f.Kind != "livelock" {
		var err error
		if fewest, err = sim.Fewest(body, f, known, options...); err != nil || fewest < 0 {
			t.Fatalf("%s: fewest preemptions %d, %v", f.Strategy, fewest, err)
		}
	}
	preempts, got, _, schedule := sim.Smallest(body, f, options...)
	if preempts < 0 || preempts > fewest+spare || f.Kind != "livelock" && preempts < fewest || got != faults {
		t.Errorf("%s: %d preemptions, at least %d are needed; %d faults, %d are needed: %s", f.Strategy, preempts, fewest, got, faults, schedule)
	}
	t.Logf("%s: %d preemptions (fewest %d), %d faults", f.Strategy, preempts, fewest, got)
	if _, _, _, again := sim.Smallest(body, f, options...); again != schedule {
		t.Errorf("%s: shrunk to %s, then to %s", f.Strategy, schedule, again)
	}
	if once, twice := sim.SmallestTwice(body, f, options...); twice != once {
		t.Errorf("%s: %s is not minimal: shrunk again it is %s", f.Strategy, once, twice)
	}
}
