package main

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
)

// A failpoint that a run was to die at and did not reach must be seen: such a run shows less than its row says.
func TestCrashTableShowsWhatWasNotReached(t *testing.T) {
	random := crashRow{Run: 0, Deaths: 3}
	hit := crashRow{Run: 1, Points: []crashPoint{{"sink/after-write", 4, true}}, Deaths: 1}
	missed := crashRow{Run: 3, Points: []crashPoint{{"source/before-reply", 1, true}, {"store/after-sync", 12, false}}, Faults: []string{"lost"}}
	for _, c := range []struct {
		row            crashRow
		where, reached string
	}{{random, "random instants", "-"}, {hit, "sink/after-write", "1 of 1"}, {missed, "source/before-reply and 1 more", "1 of 2"}} {
		if got := c.row.cells(); got[1] != c.where || got[2] != c.reached {
			t.Errorf("row %d says %q", c.row.Run, got)
		}
	}
	got := missedPoints([]crashRow{random, hit, missed})
	if slices.Contains(got, "sink/after-write") || !slices.Contains(got, "store/after-sync") || len(got) != len(crashPoints)-2 {
		t.Errorf("missed %q", got)
	}
	if words := missed.cells()[7]; words == hit.cells()[7] || strings.Contains(words, "balances") {
		t.Errorf("a row with faults says %q", words)
	}
}

// However few runs there are, each failpoint has its turn.
func TestCrashRunsShareAllFailpoints(t *testing.T) {
	for runs := 1; runs <= 60; runs++ {
		var rows []crashRow
		for run := range runs {
			row := crashRow{Run: run, Points: pointsOf(rand.New(rand.NewPCG(1, uint64(run))), run, runs)}
			if (len(row.Points) > 0) != (run%2 == 1 || runs == 1) {
				t.Fatalf("run %d of %d has points %v", run, runs, row.Points)
			}
			n := &orders.Node{}
			for row.arm(n); n.Env != nil; row.arm(n) {
				row.died()
			}
			if row.pending() != 0 || row.Deaths != len(row.Points) {
				t.Fatalf("run %d of %d: %+v", run, runs, row)
			}
			if runs >= pointRuns && len(row.Points) > 1 {
				t.Fatalf("run %d of %d has to die at %v", run, runs, row.Points)
			}
			rows = append(rows, row)
		}
		if missed := missedPoints(rows); len(missed) > 0 {
			t.Fatalf("%d runs have no turn for %q", runs, missed)
		}
	}
}

func TestCrashRefusesArguments(t *testing.T) {
	for _, args := range [][]string{{"--runs", "0"}, {"--orders", "-1"}, {"--seed", "x"}, {"more"}} {
		if err := crash(t.Context(), args); err == nil || !strings.Contains(err.Error(), "crash [--runs N]") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestBenchCommandsRefuseArguments(t *testing.T) {
	if benchNode(t.Context(), []string{"x=1"}) == nil || benchFlows(t.Context(), []string{"n=none"}) == nil {
		t.Error("arguments that mean nothing are taken")
	}
}

func TestMedianIsTheMiddleOne(t *testing.T) {
	same := func(x float64) float64 { return x }
	if got := median([]float64{9, 1, 5}, same); got != 5 {
		t.Errorf("median %v", got)
	}
	if got := median([]flowsRow{{CPU: 3}}, func(r flowsRow) float64 { return r.CPU }); got != 3 {
		t.Errorf("median of one %v", got)
	}
}

// The CPU time of this process grows while it computes.
func TestCPUSecondsGrow(t *testing.T) {
	before, x := cpuSeconds(os.Getpid()), 0.0
	for i := 0; cpuSeconds(os.Getpid()) <= before; i++ {
		for k := range 1_000_000 {
			x += math.Sqrt(float64(k))
		}
		if i > 10_000 {
			t.Fatalf("%v s after much work (%v)", cpuSeconds(os.Getpid()), x)
		}
	}
	if got := cpuSeconds(-1); got != 0 {
		t.Errorf("no process used %v s", got)
	}
}
