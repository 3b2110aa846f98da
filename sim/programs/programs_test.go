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

// The number of complete executions of a search is the number of Mazurkiewicz traces, computed by hand or
// published.
func TestSearchVisitsEachTraceOnce(t *testing.T) {
	for _, row := range []struct {
		name string
		body programs.Body
		want int
	}{
		{"SB", programs.StoreBuffering, 3},
		{"MP", programs.MessagePassing, 3},
		{"LB", programs.LoadBuffering, 3},
		{"CoRR", programs.CoherentReads, 3},
		{"fetch_add 2x1", programs.FetchAdd(2, 1), 2},
		{"fetch_add 2x2", programs.FetchAdd(2, 2), 6},
		{"fetch_add 2x3", programs.FetchAdd(2, 3), 20},
		{"fetch_add 2x4", programs.FetchAdd(2, 4), 70},
		{"fetch_add 3x1", programs.FetchAdd(3, 1), 6},
		{"fetch_add 3x2", programs.FetchAdd(3, 2), 90},
		{"increment 2x1", programs.Increment(2, 1), 4},
		{"increment 2x2", programs.Increment(2, 2), 34},
		{"increment 2x3", programs.Increment(2, 3), 328},
		{"load only 3x2", programs.LoadOnly(3, 2), 1},
		{"lock 2x1", programs.Lock(2, 1), 2},
		{"yield 3x3", programs.Yield(3, 3), 1},
	} {
		r, err := sim.Explore(row.name, "dfs", row.body)
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure != nil {
			t.Errorf("%s: %s: %s", row.name, r.Failure.Verdict(), r.Failure.Message)
		}
		if !r.Complete || r.Executions != row.want {
			t.Errorf("%s: %d executions (and %d pruned), complete %t, want %d", row.name, r.Executions, r.Pruned, r.Complete, row.want)
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
