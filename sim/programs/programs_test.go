package programs_test

import (
	"iter"
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"github.com/millrace-dev/millrace/sim/programs"
)

var (
	_ = inventory.Planted("planted/lost-update", "two tasks load a counter and store it plus one")
	_ = inventory.Planted("planted/bounded-buffer", "one condition for two conditions, signalled one at a time")
	_ = inventory.Planted("planted/deep-3", "an order that takes several switches")
)

func TestMain(m *testing.M) { sim.Main(m) }

// The number of complete executions of a search is the number of Mazurkiewicz traces.
func TestSearchVisitsEachTraceOnce(t *testing.T) {
	for _, row := range programs.Optima {
		r, err := sim.Explore(row.Name, "dfs", row.Body)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil {
			t.Errorf("%s: %s: %s", row.Name, r.Failure.Verdict(), r.Failure.Message)
		}
		if !r.Complete || r.Executions != row.Traces {
			t.Errorf("%s: %d executions (and %d pruned), complete %t, want %d", row.Name, r.Executions, r.Pruned, r.Complete, row.Traces)
		}
	}
}

func TestSimPlantedBugs(t *testing.T) {
	sim.Planted(t, "planted/lost-update", "assertion lost-update", programs.LostUpdate)
	sim.Planted(t, "planted/bounded-buffer", "deadlock changed", programs.BoundedBuffer(2), sim.Runs(2000))
	sim.Planted(t, "planted/deep-3", "assertion deep", programs.Deep(3), sim.Runs(2000), sim.Strategies("random"))
}

func benchmark(b *testing.B, body programs.Body, opts ...sim.Option) {
	b.Helper()
	opts = append(opts, sim.Runs(b.N), sim.Cores(1), sim.Steps(1<<30))
	r, err := sim.Explore("bench", "random", body, opts...)
	if err != nil || r.Failure != nil {
		b.Fatal(err, r.Failure)
	}
	b.ReportMetric(float64(r.Elapsed.Nanoseconds())/float64(r.Points), "ns/point")
}

func BenchmarkEmpty(b *testing.B)      { benchmark(b, programs.Empty, sim.WithoutRaces()) }
func BenchmarkSpawnJoin2(b *testing.B) { benchmark(b, programs.SpawnJoin(2), sim.WithoutRaces()) }
func BenchmarkYield2(b *testing.B)     { benchmark(b, programs.Yield(2, 1000), sim.WithoutRaces()) }
func BenchmarkAtomic2(b *testing.B)    { benchmark(b, programs.Atomic(2, 1000), sim.WithoutRaces()) }
func BenchmarkAtomic2HB(b *testing.B)  { benchmark(b, programs.Atomic(2, 1000)) }
func BenchmarkYield10(b *testing.B)    { benchmark(b, programs.Yield(10, 1000), sim.WithoutRaces()) }

func BenchmarkYield1000(b *testing.B) { benchmark(b, programs.Yield(1000, 100), sim.WithoutRaces()) }
func BenchmarkLock2(b *testing.B)     { benchmark(b, programs.Lock(2, 1000), sim.WithoutRaces()) }
func BenchmarkLock2HB(b *testing.B)   { benchmark(b, programs.Lock(2, 1000)) }
func BenchmarkLock5(b *testing.B)     { benchmark(b, programs.Lock(5, 2000), sim.WithoutRaces()) }
func BenchmarkLock100(b *testing.B)   { benchmark(b, programs.Lock(100, 100), sim.WithoutRaces()) }
func BenchmarkSB(b *testing.B)        { benchmark(b, programs.StoreBuffering, sim.WithoutRaces()) }

func BenchmarkPull(b *testing.B) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for yield(0) {
		}
	})
	defer stop()
	for range b.N {
		next()
	}
}
