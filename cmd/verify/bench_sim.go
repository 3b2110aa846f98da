package main

import (
	"context"
	"fmt"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/bench"
)

const (
	simRounds = 25   // interleaved rounds of each program
	simTrials = 50   // of each program and strategy
	simLimit  = 1000 // schedules of a trial
)

// simReport is out/bench-sim.json.
type simReport struct {
	Speed   []bench.SpeedRow   `json:"speed"`
	Finding []bench.FindingRow `json:"finding"`
	Search  []bench.SearchRow  `json:"search"`
}

// runBenchSim measures the simulator.
func runBenchSim(ctx context.Context, args []string) int {
	return exit("bench-sim", benchSim(ctx, args))
}

func benchSim(ctx context.Context, args []string) error {
	a, err := grammar{keys: []string{"rounds", "trials", "limit"}}.parse(args)
	if err != nil {
		return err
	}
	bounds := map[string]int{"rounds": simRounds, "trials": simTrials, "limit": simLimit}
	for key, fallback := range bounds {
		if bounds[key], err = a.count(key, fallback); err != nil {
			return err
		}
	}
	s, err := open()
	if err != nil {
		return err
	}
	report, err := s.measureSim(bounds)
	if err != nil {
		return err
	}
	s.printSpeed(report.Speed)
	s.printFinding(report.Finding)
	s.printSearch(report.Search)
	if err := s.WriteJSON("bench-sim.json", report); err != nil {
		return err
	}
	if ctx.Err() != nil || !a.flags["--check"] {
		return ctx.Err()
	}
	return report.missed()
}

func (s site) measureSim(bounds map[string]int) (simReport, error) {
	p := s.NewProgress("bench-sim", 0)
	defer p.Close()
	label := func(program string) {
		p.Label(program)
		p.Step(1)
	}
	var r simReport
	var err error
	if r.Search, err = bench.Search(); err != nil {
		return r, err
	}
	if r.Speed, err = bench.Speed(bounds["rounds"], label); err != nil {
		return r, err
	}
	r.Finding, err = bench.Finding(bounds["trials"], bounds["limit"], label)
	return r, err
}

func (s site) printSpeed(rows []bench.SpeedRow) {
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
	if len(rows) > 0 {
		s.Printf("one core, random strategy, trace hash and schedule recorded; a round trip of iter.Pull took %.0f ns\n\n", rows[0].Pull)
	}
}

func bar(sign string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf("%s %.1f", sign, value)
}

func (s site) printFinding(rows []bench.FindingRow) {
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
	if len(rows) > 0 {
		s.Printf("%d trials of up to %s schedules\n\n", rows[0].Trials, harness.Count(rows[0].Limit))
	}
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
	var table [][]string
	for _, r := range rows {
		verdict := "optimal"
		if r.Missed {
			verdict = "MISSED"
		}
		table = append(table, []string{r.Program, harness.Count(r.Executions), harness.Count(r.Optimum), harness.Count(r.Pruned), fmt.Sprint(r.Complete), verdict})
	}
	s.Table([]string{"exhaustive search", "executions", "traces", "cut short", "complete", ""}, table)
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
			return fmt.Errorf("%s: %d executions, complete %t, want %d: %w", row.Program, row.Executions, row.Complete, row.Optimum, errFound)
		}
	}
	return nil
}
