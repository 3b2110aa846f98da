package bench

import (
	"runtime"
	"sync"
	"sync/atomic"

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
func FindingStrategies() []string {
	return []string{"random", "pct", "pct3", "pos", "surw", "urw", "rff"}
}

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

// Finding runs trials of each program and strategy.
func Finding(trials, limit int, done func(program string)) ([]FindingRow, error) {
	var rows []FindingRow
	for _, p := range findingPrograms {
		for _, strategy := range FindingStrategies() {
			row, err := find(p.name, p.body, strategy, trials, limit)
			if err != nil {
				return rows, err
			}
			rows = append(rows, row)
		}
		done(p.name)
	}
	return rows, nil
}

// find runs trials of one program and strategy, each with a seed of its own, until the first failure or limit schedules. Trials
// are spread over the cores; the schedules of one run in order.
func find(name string, body programs.Body, strategy string, trials, limit int) (FindingRow, error) {
	row := FindingRow{Program: name, Strategy: strategy, Trials: trials, Limit: limit}
	firsts, failures := make([]int, trials), make([]error, trials)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < trials; i = int(next.Add(1)) - 1 {
				r, err := sim.Explore(name, strategy, body, sim.Runs(limit), sim.Seed(uint64(i)+1), sim.Cores(1), sim.WithoutRaces(), sim.Steps(1<<20))
				failures[i] = err
				if r.Failure != nil {
					firsts[i] = r.Failure.Execution + 1
				}
			}
		})
	}
	workers.Wait()
	total := 0
	for i, first := range firsts {
		if failures[i] != nil {
			return row, failures[i]
		}
		if first > 0 {
			row.Found++
			total += first
		}
	}
	if row.Found > 0 {
		row.Mean = float64(total) / float64(row.Found)
	}
	return row, nil
}
