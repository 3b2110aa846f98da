package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

const (
	simVar      = "MILLRACE_SIM"
	twiceHashes = 100 // executions of each check whose traces are compared between two processes
)

// runTestSim runs the simulated and exhaustive checks, then a hundred executions of each once more in a
// second process: the same seed must give the same trace.
func runTestSim(ctx context.Context, args []string) int {
	return exit("test-sim", testSim(ctx, args))
}

func testSim(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"seeds", "strategy", "seed", "cores"}, flags: []string{"--once"}}.parse(args)
	if err != nil {
		return err
	}
	if err := a.simulates(); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	run, err := s.runSim(ctx, a.word(), simBounds(a))
	if err != nil {
		return err
	}
	s.printLane(run)
	failed := run.err()
	if !a.flags["--once"] {
		twice, err := s.runTwice(ctx, a.word(), twiceBounds(a), run)
		if err != nil {
			return err
		}
		s.printTwice(twice)
		failed = errors.Join(failed, twice.err())
	}
	return errors.Join(s.WriteJSON(run.resultFile("test-sim"), run), failed)
}

// simBounds returns the bounds that the caller set, in the simulator's form.
func simBounds(a arguments) []string {
	var bounds []string
	for _, key := range []string{"seeds", "strategy", "seed", "cores"} {
		if value, ok := a.values[key]; ok {
			bounds = append(bounds, key+"="+value)
		}
	}
	return bounds
}

// twiceBounds are the bounds that the second process must share: what decides which executions there are, not how many.
func twiceBounds(a arguments) []string {
	var bounds []string
	for _, key := range []string{"strategy", "seed"} {
		if value, ok := a.values[key]; ok {
			bounds = append(bounds, key+"="+value)
		}
	}
	return bounds
}

// runSim runs the simulation lane; bounds other than the checks' own make it a partial run.
func (s site) runSim(ctx context.Context, filter string, bounds []string) (laneRun, error) {
	l := findLane("sim")
	l.part = len(bounds) > 0
	return s.runLane(ctx, l, filter, []string{
		simVar + "=" + strings.Join(append(bounds, fmt.Sprintf("hashes=%d", twiceHashes)), " "),
	})
}

// twiceRun is the comparison of two processes.
type twiceRun struct {
	Compared   int               `json:"compared"`   // checks
	Executions int               `json:"executions"` // trace hashes compared
	Diverged   []divergence      `json:"diverged,omitempty"`
	Outcomes   []harness.Outcome `json:"-"`
}

func (r twiceRun) err() error {
	if len(r.Diverged) > 0 {
		return fmt.Errorf("%d checks are not deterministic: %w", len(r.Diverged), errFound)
	}
	return nil
}

// runTwice repeats the first executions of each check of first in a process of its own.
func (s site) runTwice(ctx context.Context, filter string, bounds []string, first laneRun) (twiceRun, error) {
	l := findLane("sim")
	l.name, l.command = "twice-"+l.name, "test-sim again"
	second, err := s.runLane(ctx, l, filter, []string{
		simVar + "=" + strings.Join(append(bounds, fmt.Sprintf("seeds=%d", twiceHashes), fmt.Sprintf("hashes=%d", twiceHashes)), " "),
	})
	if err != nil {
		return twiceRun{}, err
	}
	result := compareTwice(s.cat, first.records, second.records)
	s.findSteps(ctx, bounds, result.Diverged)
	return result, nil
}

// compareTwice compares the trace hashes of two runs, check by check. A check that left hashes only
// once has not been compared, and that is a divergence too.
func compareTwice(cat *catalog.Catalog, first, second []inventory.Record) twiceRun {
	var result twiceRun
	again := audit.Last(second)
	for _, rec := range first {
		if len(rec.Hashes) == 0 || !rec.Passed {
			continue
		}
		result.Compared++
		at := rec.Package
		if check, ok := cat.Check(rec.Check); ok {
			at = check.At.String()
		}
		compared, found := compareHashes(segments(rec), segments(again[rec.Check]))
		result.Executions += compared
		if found != nil {
			found.At, found.Check, found.Test, found.Package = at, rec.Check, rec.Test, rec.Package
			result.Diverged = append(result.Diverged, *found)
		}
	}
	return result
}

// segment is the trace hashes of one strategy. Two runs may have done different numbers of executions
// with each strategy; equal positions are compared within a strategy only.
type segment struct {
	strategy string
	hashes   []string
}

func segments(rec inventory.Record) []segment {
	if len(rec.Strategies) == 0 {
		return []segment{{"", rec.Hashes}}
	}
	var all []segment
	rest := rec.Hashes
	for _, s := range rec.Strategies {
		n := min(s.Executed, twiceHashes, len(rest))
		all = append(all, segment{s.Name, rest[:n]})
		rest = rest[n:]
	}
	return all
}

// compareHashes returns how many hashes were compared and where they differ, nil for nowhere.
func compareHashes(first, second []segment) (int, *divergence) {
	compared := 0
	for i, one := range first {
		if i >= len(second) || second[i].strategy != one.strategy {
			return compared, &divergence{What: "strategy " + one.strategy + " ran only once"}
		}
		two := second[i]
		n := min(len(one.hashes), len(two.hashes))
		if n == 0 {
			return compared, &divergence{What: "left no trace hash the second time"}
		}
		for j := range n {
			if one.hashes[j] != two.hashes[j] {
				return compared, &divergence{
					Strategy: one.strategy, Execution: j,
					What: fmt.Sprintf("execution %d of %s has trace hash %s in one process and %s in another",
						j, one.strategy, one.hashes[j], two.hashes[j]),
				}
			}
		}
		compared += n
	}
	return compared, nil
}

func (s site) printTwice(r twiceRun) {
	for _, d := range r.Diverged {
		s.Printf("%s\n", d)
	}
	s.Printf("twice: %d checks, %s executions compared between two processes, %d diverged\n",
		r.Compared, harness.Count(r.Executions), len(r.Diverged))
}
