package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// A soak adds up what was covered: equal traces count once, and so do equal pairs of a check.
func TestSoakAddsUpCoverage(t *testing.T) {
	r := newSoak(1, time.Hour)
	for _, rec := range []inventory.Record{
		{Check: "a", Executions: 2, Hashes: []string{"1", "2"}, PairHashes: []string{"p", "q", "r"}, Faults: map[string]int{"disk fails": 1}},
		{Check: "a", Executions: 2, Hashes: []string{"2", "3"}, PairHashes: []string{"r", "s", "t"}, Faults: map[string]int{"disk fails": 2}},
		{Check: "b", Executions: 1, Hashes: []string{"1"}, PairHashes: []string{"p"}},
	} {
		r.add(rec)
	}
	if r.Executions != 5 || r.Distinct != 4 || r.Pairs != 6 || r.Faults["disk fails"] != 3 {
		t.Errorf("%+v", r)
	}
	for _, part := range []string{"round 1", "5 executions", "4 distinct traces", "6 reads-from pairs", "3 faults", "left"} {
		if !strings.Contains(r.line(), part) {
			t.Errorf("the line does not tell %q: %s", part, r.line())
		}
	}
}

// Every execution of a soak is checked against the specification of its owner, and what none of them took is named.
func TestSoakChecksEveryTrace(t *testing.T) {
	r := newSoak(1, time.Hour)
	if !slices.Contains(strings.Fields(r.bounds(10)), "traces=1") {
		t.Errorf("bounds %q", r.bounds(10))
	}
	// The counts of one process go on from check to check.
	r.addActions([]inventory.Record{{Actions: map[string]int64{"A.x": 1, "A.y": 0}}, {Actions: map[string]int64{"A.x": 3, "A.y": 0}}})
	r.addActions([]inventory.Record{{Actions: map[string]int64{"A.x": 2, "A.z": 0}}})
	if r.Actions["A.x"] != 5 || r.never() != "of 3 actions of specifications never taken: A.y, A.z" {
		t.Errorf("%v, %s", r.Actions, r.never())
	}
}

func TestSoakStopsAtTheFirstFailure(t *testing.T) {
	s, out := fixture(t, [3]string{"core/gate/gate.go", "g.inside == 2 { // full", "g.inside == 3 {"})
	err := s.soak(t.Context(), newSoak(1, time.Hour), 10, "")
	if !errors.Is(err, errFound) || !strings.Contains(out.String(), "invariant Z1.I1") || !strings.Contains(out.String(), "./just replay") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSoakEndsWhenItsTimeIsOver(t *testing.T) {
	s, _ := fixture(t)
	run := newSoak(1, time.Nanosecond)
	if err := s.soak(t.Context(), run, 10, ""); err != nil || run.Round != 0 {
		t.Errorf("%+v, %v", run, err)
	}
	hanging, _ := fixture(t, [3]string{"core/gate/check_test.go", "	var g Gate\n		entered := 0\n", "	select {}\n		var g Gate\n		entered := 0\n"})
	if err := hanging.soak(t.Context(), newSoak(1, time.Second), 10, ""); err != nil {
		t.Errorf("a check that was under way when the time was over: %v", err)
	}
	if err := s.soak(t.Context(), run, 10, "no-such"); !errors.Is(err, errNothing) {
		t.Errorf("%v", err)
	}
	if err := soak(t.Context(), []string{"soon"}); !errors.Is(err, errUsage) {
		t.Errorf("%v", err)
	}
}

// The first rounds are short, so that every owner has a turn early; none is longer than was asked for.
func TestSoakBeginsWithShortRounds(t *testing.T) {
	for _, c := range []struct{ round, most, want int }{{0, 100, 10}, {1, 100, 20}, {3, 100, 80}, {4, 100, 100}, {1 << 40, 100, 100}, {0, 3, 3}} {
		if got := soakSeeds(c.round, c.most); got != c.want {
			t.Errorf("round %d of at most %d: %d", c.round, c.most, got)
		}
	}
}
