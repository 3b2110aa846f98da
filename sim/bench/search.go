package bench

import (
	"strings"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// SearchRow is what an exhaustive search of one program needed.
type SearchRow struct {
	Program    string `json:"program"`
	Strategy   string `json:"strategy"`
	Executions int    `json:"executions"`
	Optimum    int    `json:"optimum"` // the number of Mazurkiewicz traces
	Pruned     int    `json:"pruned"`  // executions that ended early
	Complete   bool   `json:"complete"`
	// PerSecond is executions per second of CPU time on one core, vector clocks included, with the search repeated in one world.
	PerSecond    float64 `json:"executions_per_second"`
	MinPerSecond float64 `json:"min_executions_per_second,omitempty"`
	Missed       bool    `json:"missed,omitempty"`
}

const (
	optimal          = "dpor"  // the search that cuts nothing short
	fetchAddRate     = 200_000 // executions per second of the fetch_add rows
	searchExecutions = 20_000  // measured of each row
)

// Search explores each program exhaustively, by either search.
func Search() ([]SearchRow, error) {
	var rows []SearchRow
	for _, p := range programs.Optima {
		for _, strategy := range []string{optimal, "dfs"} {
			row, err := searchRow(strategy, p.Name, p.Body)
			if err != nil {
				return rows, err
			}
			row.Optimum = p.Traces
			row.judge()
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func searchRow(strategy, name string, body programs.Body) (SearchRow, error) {
	r, err := sim.Explore(name, strategy, body)
	if err != nil {
		return SearchRow{}, err
	}
	row := SearchRow{Program: name, Strategy: strategy, Executions: r.Executions, Pruned: r.Pruned, Complete: r.Complete}
	before := cpuTime()
	rounds := max(1, searchExecutions/max(r.Executions, 1))
	if _, err = sim.Explore(name, strategy, body, sim.Repeat(rounds)); err != nil {
		return row, err
	}
	row.PerSecond = float64(rounds*r.Executions) / (cpuTime() - before).Seconds()
	if strings.HasPrefix(name, "fetch_add") {
		row.MinPerSecond = fetchAddRate
	}
	return row, nil
}

// judge holds the row against its bars.
func (r *SearchRow) judge() {
	r.Missed = !r.Complete || r.Executions != r.Optimum || r.PerSecond < r.MinPerSecond || r.Strategy == optimal && r.Pruned > 0
}
