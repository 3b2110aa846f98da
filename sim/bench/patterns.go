package bench

import (
	"fmt"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// PatternSchedules are those within which at least one strategy must find each pattern, and within which none may report what is right.
const PatternSchedules = 1000

// PatternRow is how soon each strategy finds one of the ways in which Go programs share state wrongly.
type PatternRow struct {
	Pattern string `json:"pattern"`
	Verdict string `json:"verdict"`
	First   []int  `json:"first"`            // schedules to the first failure by each of FindingStrategies, 0 for none
	Missed  string `json:"missed,omitempty"` // the bar that does not hold
}

// Patterns runs each pattern and its fixed version under each strategy.
func Patterns(done func(pattern string)) ([]PatternRow, error) {
	var rows []PatternRow
	for _, p := range programs.Patterns() {
		row, err := pattern(p)
		if err != nil {
			return rows, fmt.Errorf("pattern %s: %w", p.Name, err)
		}
		rows = append(rows, row)
		done(p.Name)
	}
	return rows, nil
}

func pattern(p programs.Pattern) (PatternRow, error) {
	row, found := PatternRow{Pattern: p.Name, Verdict: p.Verdict}, 0
	for _, strategy := range FindingStrategies() {
		bug, err := sim.Explore(p.Name, strategy, p.Bug, sim.Runs(PatternSchedules))
		if err != nil {
			return row, err
		}
		fixed, err := sim.Explore(p.Name, strategy, p.Fixed, sim.Runs(PatternSchedules))
		if err != nil {
			return row, err
		}
		first := 0
		if f := bug.Failure; f != nil {
			first, found = f.Execution+1, found+1
			if f.Verdict() != p.Verdict {
				row.Missed = fmt.Sprintf("%s finds %s, want %s", strategy, f.Verdict(), p.Verdict)
			}
		}
		row.First = append(row.First, first)
		if fixed.Failure != nil {
			row.Missed = fmt.Sprintf("%s reports the fixed version: %s", strategy, fixed.Failure.Verdict())
		}
	}
	if found == 0 {
		row.Missed = fmt.Sprintf("not found within %d schedules", PatternSchedules)
	}
	return row, nil
}
