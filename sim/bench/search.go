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

// searchPrograms lists optima computed by hand or published; programs_test.go holds the search to them, too.
var searchPrograms = []struct {
	name    string
	body    programs.Body
	optimum int
}{
	{"SB", programs.StoreBuffering, 3},
	{"MP", programs.MessagePassing, 3},
	{"LB", programs.LoadBuffering, 3},
	{"CoRR", programs.CoherentReads, 3},
	{"fetch_add 2x1", programs.FetchAdd(2, 1), 2},
	{"fetch_add 2x2", programs.FetchAdd(2, 2), 6},
	{"fetch_add 2x3", programs.FetchAdd(2, 3), 20},
	{"fetch_add 2x4", programs.FetchAdd(2, 4), 70},
	{"fetch_add 3x1", programs.FetchAdd(3, 1), 6},
	{"fetch_add 3x2", programs.FetchAdd(3, 2), 90},
	{"fetch_add 3x3", programs.FetchAdd(3, 3), 1680},
	{"fetch_add 4x2", programs.FetchAdd(4, 2), 2520},
	{"increment 2x1", programs.Increment(2, 1), 4},
	{"increment 2x2", programs.Increment(2, 2), 34},
	{"increment 2x3", programs.Increment(2, 3), 328},
	{"load only 3x2", programs.LoadOnly(3, 2), 1},
}

// Search explores each program exhaustively, by either search.
func Search() ([]SearchRow, error) {
	var rows []SearchRow
	for _, p := range searchPrograms {
		for _, strategy := range []string{optimal, "dfs"} {
			row, err := searchRow(strategy, p.name, p.body)
			if err != nil {
				return rows, err
			}
			row.Optimum = p.optimum
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
