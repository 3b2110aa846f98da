package bench

import (
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// FindingRow is how soon one strategy finds one bug.
type FindingRow struct {
	Program  string  `json:"program"`
	Strategy string  `json:"strategy"`
	Trials   int     `json:"trials"`
	Found    int     `json:"found"`
	Mean     float64 `json:"mean_schedules"` // to the first failure, over the trials that found it
	Limit    int     `json:"limit"`          // schedules of a trial
}

// FindingStrategies are the columns of the table.
func FindingStrategies() []string { return []string{"random", "pct", "pct3", "pos"} }

var findingPrograms = []struct {
	name string
	body programs.Body
}{
	{"bounded_buffer(2)", programs.BoundedBuffer(2)},
	{"lost_update", programs.LostUpdate},
	{"deep(3)", programs.Deep(3)},
	{"deep(5)", programs.Deep(5)},
	{"buried(200)", programs.Buried(200)},
}

// Finding runs trials of each program and strategy, each with a seed of its own, until the first failure or limit schedules. The
// bars of this table are published means; they arrive with the sampling algorithms that they belong to.
func Finding(trials, limit int, done func(program string)) ([]FindingRow, error) {
	var rows []FindingRow
	for _, p := range findingPrograms {
		for _, strategy := range FindingStrategies() {
			row := FindingRow{Program: p.name, Strategy: strategy, Trials: trials, Limit: limit}
			total := 0
			for seed := range trials {
				r, err := sim.Explore(p.name, strategy, p.body, sim.Runs(limit), sim.Seed(uint64(seed)+1), sim.Cores(1), sim.WithoutRaces(), sim.Steps(1<<20))
				if err != nil {
					return rows, err
				}
				if r.Failure != nil {
					row.Found++
					total += r.Failure.Execution + 1
				}
			}
			if row.Found > 0 {
				row.Mean = float64(total) / float64(row.Found)
			}
			rows = append(rows, row)
		}
		done(p.name)
	}
	return rows, nil
}

// SearchRow is what an exhaustive search of one program needed.
type SearchRow struct {
	Program    string `json:"program"`
	Executions int    `json:"executions"`
	Optimum    int    `json:"optimum"` // the number of Mazurkiewicz traces
	Pruned     int    `json:"pruned"`  // executions that ended early
	Complete   bool   `json:"complete"`
	Missed     bool   `json:"missed,omitempty"`
}

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
	{"increment 2x1", programs.Increment(2, 1), 4},
	{"increment 2x2", programs.Increment(2, 2), 34},
	{"increment 2x3", programs.Increment(2, 3), 328},
	{"load only 3x2", programs.LoadOnly(3, 2), 1},
}

// Search explores each program exhaustively.
func Search() ([]SearchRow, error) {
	var rows []SearchRow
	for _, p := range searchPrograms {
		r, err := sim.Explore(p.name, "dfs", p.body)
		if err != nil {
			return rows, err
		}
		row := SearchRow{Program: p.name, Executions: r.Executions, Optimum: p.optimum, Pruned: r.Pruned, Complete: r.Complete}
		row.Missed = !r.Complete || r.Executions != p.optimum
		rows = append(rows, row)
	}
	return rows, nil
}
