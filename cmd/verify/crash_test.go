package main

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// A failpoint that a run was to die at and did not reach must be seen: such a run shows less than its row says.
func TestCrashTableShowsWhatWasNotReached(t *testing.T) {
	random := crashRow{Run: 0, Where: "random instants", Deaths: 3}
	hit := crashRow{Run: 1, Where: "sink/after-write:4", Reached: true, Deaths: 1}
	missed := crashRow{Run: 3, Where: "store/after-sync:12", Faults: []string{"lost"}}
	for _, c := range []struct {
		row  crashRow
		want string
	}{{random, "-"}, {hit, "yes"}, {missed, "NO"}} {
		if got := c.row.cells()[2]; got != c.want {
			t.Errorf("%s: reached %q, want %q", c.row.Where, got, c.want)
		}
	}
	got := missedPoints([]crashRow{random, hit, missed})
	if slices.Contains(got, "sink/after-write") || !slices.Contains(got, "store/after-sync") || len(got) != len(crashPoints)-1 {
		t.Errorf("missed %q", got)
	}
	if words := missed.cells()[7]; words == hit.cells()[7] || strings.Contains(words, "balances") {
		t.Errorf("a row with faults says %q", words)
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
