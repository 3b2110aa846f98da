package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/bench"
)

const (
	simRounds = 25   // interleaved rounds of each program
	simTrials = 50   // of each program and strategy
	simLimit  = 1000 // schedules of a trial
	sctTrials = 20   // of the SCT table: as published
	sctLimit  = 1000 // its bars are held at the published 10,000
)

// simSections are the tables, each of which can be asked for alone.
var simSections = []string{"search", "speed", "finding", "patterns", "sct"}

// simReport is out/bench-sim.json.
type simReport struct {
	Speed   []bench.SpeedRow   `json:"speed"`
	Finding []bench.FindingRow `json:"finding"`
	Pattern []bench.PatternRow `json:"patterns"`
	Search  []bench.SearchRow  `json:"search"`
	SCT     []bench.SCTRow     `json:"sct"`
}

// runBenchSim measures the simulator.
func runBenchSim(ctx context.Context, args []string) int {
	return exit("bench-sim", benchSim(ctx, args))
}

func benchSim(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"rounds", "trials", "limit", "sct-trials", "schedules", "program", "strategy"}, flags: []string{"--resume"}}.parse(args)
	if err != nil {
		return err
	}
	if a.word() != "" && !slices.Contains(simSections, a.word()) {
		return usagef("unknown table %q; known are %q", a.word(), simSections)
	}
	if err := a.strategy(); err != nil {
		return err
	}
	bounds := map[string]int{"rounds": simRounds, "trials": simTrials, "limit": simLimit, "sct-trials": sctTrials, "schedules": sctLimit}
	for key, fallback := range bounds {
		if bounds[key], err = a.count(key, fallback); err != nil {
			return err
		}
	}
	s, err := open()
	if err != nil {
		return err
	}
	report, err := s.measureSim(a, bounds)
	if err != nil {
		return err
	}
	s.printSpeed(report.Speed)
	s.printFinding(report.Finding)
	s.printPatterns(report.Pattern)
	s.printSearch(report.Search)
	s.printSCT(report.SCT)
	if err := s.WriteJSON("bench-sim.json", report); err != nil {
		return err
	}
	if ctx.Err() != nil || !a.flags["--check"] {
		return ctx.Err()
	}
	return report.missed()
}

// measureSim measures the section that is asked for, or all.
func (s site) measureSim(a arguments, bounds map[string]int) (r simReport, err error) {
	section := a.word()
	p := s.NewProgress("bench-sim", 0)
	defer p.Close()
	label := func(program string) {
		p.Label(program)
		p.Step(1)
	}
	for _, name := range simSections {
		if err != nil || section != "" && section != name {
			continue
		}
		switch name {
		case "search":
			r.Search, err = bench.Search()
		case "speed":
			r.Speed, err = bench.Speed(bounds["rounds"], label)
		case "finding":
			r.Finding, err = bench.Finding(bounds["trials"], bounds["limit"], label)
		case "patterns":
			r.Pattern, err = bench.Patterns(label)
		default:
			r.SCT, err = s.measureSCT(a, bounds, label)
		}
	}
	return r, err
}

func (s site) printSpeed(rows []bench.SpeedRow) {
	if len(rows) == 0 {
		return
	}
	var table [][]string
	for _, r := range rows {
		bars := "ok"
		if r.Missed != "" {
			bars = "MISSED " + r.Missed
		}
		table = append(table, []string{
			r.Program, harness.Count(int(r.PerSecond)), fmt.Sprintf("%.0f", r.Point), fmt.Sprintf("%.2f", r.Trips), bar("≤", r.MaxTrips),
			fmt.Sprintf("%.2f", r.Clocks), bar("≤", r.MaxClocks), fmt.Sprintf("%.2f of %.2f, cpu %.2f", r.Scale, r.Spin, r.ScaleCPU), bar("≥", r.MinScale), bars,
		})
	}
	s.Table([]string{"program", "executions/s", "ns/point", "round trips", "", "clocks", "", "two cores", "", "bars"}, table)
	s.Printf("one core, random strategy, trace hash and schedule recorded; a round trip of iter.Pull took %.0f ns\n\n", rows[0].Pull)
}

func bar(sign string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.1f", sign, value)
}

func (s site) printFinding(rows []bench.FindingRow) {
	if len(rows) == 0 {
		return
	}
	strategies := bench.FindingStrategies()
	var table [][]string
	for i := 0; i+len(strategies) <= len(rows); i += len(strategies) {
		line := []string{rows[i].Program}
		for _, r := range rows[i : i+len(strategies)] {
			line = append(line, meanSchedules(r))
		}
		table = append(table, line)
	}
	s.Table(append([]string{"mean schedules to the first failure"}, strategies...), table)
	s.Printf("%d trials of up to %s schedules\n\n", rows[0].Trials, harness.Count(rows[0].Limit))
}

func (s site) printPatterns(rows []bench.PatternRow) {
	if len(rows) == 0 {
		return
	}
	var table [][]string
	for _, r := range rows {
		line := []string{r.Pattern, r.Verdict}
		for _, first := range r.First {
			if first == 0 {
				line = append(line, "-")
				continue
			}
			line = append(line, harness.Count(first))
		}
		verdict := "ok"
		if r.Missed != "" {
			verdict = "MISSED " + r.Missed
		}
		table = append(table, append(line, verdict))
	}
	s.Table(append(append([]string{"Go bug patterns: schedules to the first failure", "verdict"}, bench.FindingStrategies()...), ""), table)
	s.Printf("%d patterns, %s schedules each; nothing may be reported of the fixed versions in as many\n\n", len(rows), harness.Count(bench.PatternSchedules))
}

func meanSchedules(r bench.FindingRow) string {
	switch {
	case r.Found == 0:
		return fmt.Sprintf("0/%d", r.Trials)
	case r.Found < r.Trials:
		return fmt.Sprintf("%.1f (%d/%d)", r.Mean, r.Found, r.Trials)
	}
	return fmt.Sprintf("%.1f", r.Mean)
}

func (s site) printSearch(rows []bench.SearchRow) {
	if len(rows) == 0 {
		return
	}
	var table [][]string
	for _, r := range rows {
		verdict := "ok"
		if r.Missed {
			verdict = "MISSED"
		}
		table = append(table, []string{r.Program, r.Strategy, harness.Count(r.Executions), harness.Count(r.Optimum), harness.Count(r.Pruned), fmt.Sprint(r.Complete), harness.Count(int(r.PerSecond)), bar("≥", r.MinPerSecond), verdict})
	}
	s.Table([]string{"exhaustive search", "", "executions", "traces", "cut short", "complete", "executions/s", "", ""}, table)
}

// missed names the first row that misses its bar.
func (r simReport) missed() error {
	for _, row := range r.Speed {
		if row.Missed != "" {
			return fmt.Errorf("%s: %s: %w", row.Program, row.Missed, errFound)
		}
	}
	for _, row := range r.Search {
		if row.Missed {
			return fmt.Errorf("%s, %s: %d executions, complete %t, want %d, %d cut short; %.0f a second, want %.0f: %w", row.Program, row.Strategy, row.Executions, row.Complete, row.Optimum, row.Pruned,
				row.PerSecond, row.MinPerSecond, errFound)
		}
	}
	for _, row := range r.Pattern {
		if row.Missed != "" {
			return fmt.Errorf("pattern %s: %s: %w", row.Pattern, row.Missed, errFound)
		}
	}
	for _, row := range r.SCT {
		if row.Missed != "" {
			return fmt.Errorf("%s: %s: %s: %w", row.Program, row.Strategy, row.Missed, errFound)
		}
	}
	return nil
}
