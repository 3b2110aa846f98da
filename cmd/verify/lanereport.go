package main

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// fewSelected is how many selected tests count as asked for by name.
const fewSelected = 3

func (s site) printLane(run laneRun) {
	s.Table([]string{"check", "lane", "executions", "distinct", "rate", "result"}, laneRows(run))
	for _, o := range run.Outcomes {
		if o.Status != harness.Passed {
			s.Printf("\n--- %s %s (%s)\n%s\n", o.Status, o.Test, o.Dir, o.Output)
		}
	}
	for _, r := range run.Rows {
		// What a planted program showed is a failure too, for whoever asked for it by name.
		if r.Folder != "" && (!r.Passed || run.Selected <= fewSelected) {
			s.Printf("\n%s: %s\n  %s\n", r.Check, r.Verdict, s.replayLine(r.Folder))
		}
	}
	s.printActions(run)
	s.printFindings(run.Findings)
	s.Printf("\n%s: %d discovered, %d selected; of their %d checks %d executed, %d complete; %.1f s\n",
		run.Lane, run.Discovered, run.Selected, len(run.Rows), run.Executed, run.Complete, run.Seconds)
}

// takenActions adds up how often executions took each action of a specification. The records of one process count on, so the
// largest number of an action is its total there.
func takenActions(records []inventory.Record) map[string]int64 {
	total := map[string]int64{}
	for _, rec := range records {
		for action, n := range rec.Actions { //order:the largest of them is kept
			total[action] = max(total[action], n)
		}
	}
	return total
}

// printActions says how often executions took each action of a specification, and which they never took.
func (s site) printActions(run laneRun) {
	total := takenActions(run.records)
	if len(total) == 0 {
		return
	}
	var rows [][]string
	for _, action := range slices.Sorted(maps.Keys(total)) {
		taken := harness.Count(total[action])
		if total[action] == 0 {
			taken = "never taken"
		}
		rows = append(rows, []string{action, taken})
	}
	s.Printf("\n")
	s.Table([]string{"action of a specification", "taken by executions"}, rows)
}

func laneRows(run laneRun) [][]string {
	var rows [][]string
	for _, r := range run.Rows {
		rows = append(rows, []string{
			r.Check, r.Lane, harness.Count(r.Executions), distinct(r), rate(r), result(r),
		})
	}
	return rows
}

func distinct(r checkRow) string {
	if r.Distinct == 0 {
		return "-"
	}
	return harness.Count(r.Distinct)
}

func rate(r checkRow) string {
	if r.Seconds <= 0 || r.Executions == 0 {
		return "-"
	}
	return harness.Count(int(float64(r.Executions)/r.Seconds)) + "/s"
}

func result(r checkRow) string {
	switch {
	case !r.Complete && r.Verdict != "":
		return "FAILED " + r.Verdict
	case !r.Complete:
		return "INCOMPLETE " + r.Exhaustive
	case r.Exhaustive != "":
		return "passed, " + r.Exhaustive
	case r.Verdict != "":
		return "passed, found " + r.Verdict
	}
	return "passed"
}

func (s site) printFindings(findings []catalog.Fault) {
	if len(findings) == 0 {
		return
	}
	s.Printf("\n")
	for _, f := range findings {
		s.Printf("%s\n", f)
	}
}

// replayLine is the command that replays a failure folder.
func (s site) replayLine(folder string) string {
	file := filepath.Join(folder, "schedule.json")
	if rel, err := filepath.Rel(s.Root, file); err == nil {
		file = rel
	}
	return "./just replay " + file
}
