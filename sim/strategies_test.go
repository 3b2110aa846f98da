package sim

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// lostUpdate is two increments that are not atomic, and a draw that decides nothing.
func lostUpdate(w *World) {
	x := sched.NewUint64(w.Scheduler(), "x", 0)
	for range 2 {
		w.Go("increment", func() { x.Store(x.Load() + 1) })
	}
	w.Choose("nothing", 3)
	w.Join()
	w.Require(x.Peek() == 2, "lost", "the counter is %d", x.Peek())
}

// What a strategy found replays: the same verdict and hash, in this process; TestSchedulesReplayInAFreshProcess does it in
// another.
func TestEveryStrategysFailureReplays(t *testing.T) {
	o := newOptions(nil)
	for _, strategy := range append(samplers, "pct10", searchName, searchName+"1", optimalName) {
		r, err := Explore("x", strategy, lostUpdate, Runs(500))
		if err != nil || r.Failure == nil || r.Failure.Verdict() != "assertion lost" {
			t.Errorf("%s: %+v, %v", strategy, r, err)
			continue
		}
		w, replayed := again("x", lostUpdate, &o, r.Failure.Choices, false)
		if !w.failed || w.hash != r.Failure.Hash || replayed.diverged != 0 {
			t.Errorf("%s: verdict %s with hash %x, found with %x, diverged at %d", strategy, w.verdict, w.hash, r.Failure.Hash, replayed.diverged)
		}
	}
}

// Every strategy's executions leave neither goroutines nor memory behind, however many there are.
func TestEveryStrategyLeavesNothingBehind(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	heap := func(strategy string, runs int) uint64 {
		r, err := Explore("x", strategy, storeOf(1), Runs(runs))
		if err != nil || !r.Complete || r.Executions != runs {
			t.Fatal(r, err)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, strategy := range samplers {
		early := heap(strategy, 1000)
		if late := heap(strategy, 20_000); late > early+1<<20 {
			t.Errorf("%s: %d bytes of heap after 1,000 executions, %d after 20,000", strategy, early, late)
		}
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, now)
	}
}

// adders is n tasks with k additions each: every order is another trace.
func adders(n, k int) func(*World) {
	return func(w *World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		for range n {
			w.Go("add", func() {
				for range k {
					x.Add(1)
				}
			})
		}
	}
}

func TestSearchSaysHowFarItCame(t *testing.T) {
	for _, row := range []struct {
		strategy, want string
		body           func(*World)
		opts           []Option
	}{
		{"dfs", "complete, 6 executions", adders(2, 2), nil},
		{"dfs", "not exhaustive: bound 5 executions", adders(2, 2), []Option{Executions(5)}},
		{"dfs", "not exhaustive: bound draws of more than 4096 values", func(w *World) { w.Choose("wide", 5000) }, nil},
		{"dfs", "complete, 6 executions", func(w *World) { w.Choose("a", 3); w.Choose("b", 2) }, nil},
		{"dpor", "complete, 6 executions", adders(2, 2), nil},
		{"dpor0", "not exhaustive: bound 0 preemptions", adders(2, 2), nil},
		{"dpor9", "complete, 6 executions", adders(2, 2), nil},
		{"dfs0", "not exhaustive: bound 0 preemptions", adders(2, 2), nil},
		{"dfs1", "not exhaustive: bound 1 preemptions", adders(2, 2), nil},
		{"dfs9", "complete", adders(2, 2), nil}, // every schedule: without sleep sets there are more than traces
	} {
		r, err := Explore("x", row.strategy, row.body, row.opts...)
		if got := r.Coverage(); err != nil || r.Failure != nil || !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: %s, want %s, %+v, %v", row.strategy, got, row.want, r.Failure, err)
		}
		if strings.HasPrefix(row.want, "complete") != r.Complete {
			t.Errorf("%s: complete %t", row.strategy, r.Complete)
		}
	}
}

// The bound is raised step by step, so what is found first needs as many preemptions as the bound, and no bound below finds it.
func TestBoundedSearchFindsTheFewestPreemptions(t *testing.T) {
	for _, name := range []string{searchName, optimalName} {
		if r, err := Explore("x", name+"0", lostUpdate); err != nil || r.Failure != nil {
			t.Errorf("%s without a preemption: %+v, %v", name, r.Failure, err)
		}
		r, err := Explore("x", name+"3", lostUpdate)
		if err != nil || r.Failure == nil {
			t.Fatalf("%s with up to three: %+v, %v", name, r, err)
		}
		o := newOptions(nil)
		w := newWorld("x", lostUpdate, &o)
		g := &guided{follow: &replay{choices: r.Failure.Choices}}
		if execute(w, g, 0); !w.failed || g.preempts != 1 {
			t.Errorf("%s: verdict %s with %d preemptions, want 1", name, w.verdict, g.preempts)
		}
		w.drain()
	}
}

// A fetch-and-add program has no execution that is cut short: neither starts nor ends of tasks branch.
func TestSearchOfAddsCutsNothingShort(t *testing.T) {
	for _, row := range []struct{ tasks, adds, want int }{{2, 1, 2}, {2, 4, 70}, {3, 1, 6}, {3, 2, 90}, {4, 1, 24}} {
		r, err := Explore("x", searchName, adders(row.tasks, row.adds))
		if err != nil || !r.Complete || r.Executions != row.want || r.Pruned != 0 {
			t.Errorf("%d×%d: %d executions and %d cut short, complete %t, %v", row.tasks, row.adds, r.Executions, r.Pruned, r.Complete, err)
		}
	}
}

// Reads of one value commute: dpor tries no other order of them.
func TestOptimalSearchTriesNoOtherOrderOfReads(t *testing.T) {
	r, err := Explore("x", optimalName, func(w *World) {
		x := sched.NewUint64(w.Scheduler(), "x", 7)
		for range 3 {
			w.Go("load", func() {
				x.Load()
				x.Load()
			})
		}
	})
	if err != nil || !r.Complete || r.Executions != 1 || r.Pruned != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNamesThatAreNoStrategy(t *testing.T) {
	for _, name := range []string{"", "dfs-1", "dfsx", "dfs100", "dpor-1", "dporx", "dpor100", "pctx", "pct0", "rff2"} {
		if _, err := Explore("x", name, lostUpdate); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}

// Noting pairs of write and read changes no schedule, and every strategy's executions show some.
func TestEveryStrategyShowsPairs(t *testing.T) {
	for _, strategy := range samplers {
		plain, err := Explore("x", strategy, adders(2, 3), Runs(40), func(o *options) { o.hashes = 40 })
		if err != nil {
			t.Fatal(err)
		}
		noting, err := Explore("x", strategy, adders(2, 3), Runs(40), func(o *options) { o.hashes, o.pairs = 40, true })
		if err != nil || !slices.Equal(plain.Hashes, noting.Hashes) {
			t.Errorf("%s: other traces when pairs are noted, %v", strategy, err)
		}
		if noting.Pairs == 0 || len(noting.PairHashes) != noting.Pairs {
			t.Errorf("%s: %d pairs, %d names", strategy, noting.Pairs, len(noting.PairHashes))
		}
	}
}
