package main

import (
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/bench"
)

// sctRows keeps the rows of the SCT table, written after each of them: the whole table takes long. With --resume the rows of the same size
// that are there are not measured again.
const sctRows = "bench-sct.json"

func (s site) measureSCT(a arguments, bounds map[string]int, label func(string)) ([]bench.SCTRow, error) {
	var kept []bench.SCTRow
	if a.flags["--resume"] {
		var err error
		if kept, err = keptRows[bench.SCTRow](s, sctRows); err != nil {
			return nil, err
		}
	}
	all := slices.Clone(kept)
	return bench.SCT(bench.SCTRun{
		Program: a.values["program"], Strategy: a.values["strategy"], Trials: bounds["sct-trials"], Limit: bounds["schedules"], Known: kept,
		Done: func(last bench.SCTRow) error {
			label(last.Program + " " + last.Strategy)
			all = append(all, last)
			return s.WriteJSON(sctRows, all)
		},
	})
}

// printSCT prints a line a program and a column a strategy: the mean schedules to the first failure, with the trials that found it when
// not all did, and in brackets what was published.
func (s site) printSCT(rows []bench.SCTRow) {
	if len(rows) == 0 {
		return
	}
	var strategies []string
	for _, sum := range bench.SumSCT(rows, true) {
		strategies = append(strategies, sum.Strategy)
	}
	var table [][]string
	for i := 0; i+len(strategies) <= len(rows); i += len(strategies) {
		line, missed := []string{rows[i].Program}, ""
		for _, r := range rows[i : i+len(strategies)] {
			line = append(line, sctCell(r))
			if r.Missed != "" {
				missed += "MISSED " + r.Strategy + ": " + r.Missed + " "
			}
		}
		table = append(table, append(line, missed))
	}
	for _, ours := range []bool{true, false} {
		line := []string{"bugs found in any/half/all trials"}
		if !ours {
			line[0] = "published"
		}
		for _, sum := range bench.SumSCT(rows, ours) {
			cell := fmt.Sprintf("%d/%d/%d", sum.Any, sum.Half, sum.All)
			if !ours && sum.Strategy == "rff" {
				cell = ""
			}
			line = append(line, cell)
		}
		table = append(table, line)
	}
	s.Table(append(append([]string{"SCT: mean schedules"}, strategies...), ""), table)
	s.Printf("%d trials of up to %s schedules; published: 20 of 10,000, which the bars want (schedules=10000)\n\n", rows[0].Trials, harness.Count(rows[0].Limit))
}

func sctCell(r bench.SCTRow) string {
	cell := "-"
	if r.Found > 0 {
		cell = fmt.Sprintf("%.0f", r.Mean)
	}
	if r.Found > 0 && r.Found < r.Trials {
		cell += fmt.Sprintf(" (%d/%d)", r.Found, r.Trials)
	}
	switch {
	case r.PublishedFound < 0:
	case r.PublishedFound == 0:
		cell += " [-]"
	case r.PublishedFound < 20:
		cell += fmt.Sprintf(" [%.0f (%d/20)]", r.PublishedMean, r.PublishedFound)
	default:
		cell += fmt.Sprintf(" [%.0f]", r.PublishedMean)
	}
	return cell
}
