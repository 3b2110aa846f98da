package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/sim/testdata/sct"
)

// Bars of the SCT table, held at the published number of schedules.
const (
	publishedSchedules = 10_000
	controlFactor      = 3.0  // the random walk's mean against the published one
	fuzzerMean         = 50.0 // of rff on reorder_100
)

var errNoProgram = errors.New("none has such a name")

// SCTStrategies are the columns of the table: those that were published, and rff.
func SCTStrategies() []string {
	return []string{"random", "pct3", "pct10", "pos", "surw", "urw", "rff"}
}

// notAWalk is the program whose published rows are other algorithms: there the harness draws one lock for each execution and orders the
// threads' operations on it by what the row is named after (for the walk: a thread keeps it), so that the walk is no control.
const notAWalk = "Inspect_benchmarks/qsort_mt"

// SCTRow is what one strategy did on one of the SCT programs, beside what was published.
type SCTRow struct {
	FindingRow
	PublishedFound int     `json:"published_found"` // of 20; -1: not published
	PublishedMean  float64 `json:"published_mean"`
	Missed         string  `json:"missed,omitempty"`
}

// SCTRun is what of the table is to be measured.
type SCTRun struct {
	Program, Strategy string // a part of the one's name, the other's name; empty: all
	Trials, Limit     int    // and schedules of a trial
	Known             []SCTRow
	Done              func(SCTRow) error // called after each row that was measured; its error ends the run
}

// SCT runs the trials. A row that is among the known ones, of as many trials and schedules, is taken from there. It is an error when
// there is nothing to measure.
func SCT(run SCTRun) ([]SCTRow, error) {
	var rows []SCTRow
	for _, p := range sct.Programs() {
		for i, strategy := range SCTStrategies() {
			if !strings.Contains(p.Name, run.Program) || run.Strategy != "" && strategy != run.Strategy {
				continue
			}
			if known := run.known(p.Name, strategy); known >= 0 {
				rows = append(rows, run.Known[known])
				continue
			}
			found, err := find(p.Name, p.Body, strategy, run.Trials, run.Limit)
			if err != nil {
				return rows, err
			}
			row := SCTRow{FindingRow: found, PublishedFound: -1}
			if list := publishedSCT[p.Name]; i < len(list) {
				row.PublishedFound, row.PublishedMean = list[i].found, float64(list[i].mean)
			}
			row.judge()
			rows = append(rows, row)
			if err := run.Done(row); err != nil {
				return rows, err
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("select SCT programs %q and strategies %q: %w", run.Program, run.Strategy, errNoProgram)
	}
	return rows, nil
}

func (run *SCTRun) known(program, strategy string) int {
	return slices.IndexFunc(run.Known, func(r SCTRow) bool {
		return r.Program == program && r.Strategy == strategy && r.Trials == run.Trials && r.Limit == run.Limit
	})
}

// judge holds the row against its bar: the random walk must be about as good as the published one, or else the program is
// another; surw finds what it found; rff is quick.
func (r *SCTRow) judge() {
	if r.Limit < publishedSchedules {
		return
	}
	share := func(found, of int) float64 { return float64(found) / float64(max(of, 1)) }
	switch {
	case r.Strategy == "random" && r.PublishedMean > 0 && r.Program != notAWalk:
		if r.Found == 0 || r.Mean > controlFactor*r.PublishedMean || r.Mean < r.PublishedMean/controlFactor {
			r.Missed = fmt.Sprintf("control: mean %.0f, published %.0f", r.Mean, r.PublishedMean)
		}
	case r.Strategy == "random" && r.PublishedFound == 0 && r.Found > 0:
		r.Missed = fmt.Sprintf("control: found in %d trials, published in none", r.Found)
	case r.Strategy == "surw" && share(r.Found, r.Trials) < share(r.PublishedFound, 20):
		r.Missed = fmt.Sprintf("found in %d of %d trials, published %d of 20", r.Found, r.Trials, r.PublishedFound)
	case r.Strategy == "rff" && r.Program == "CS/reorder_100" && (r.Found < r.Trials || r.Mean >= fuzzerMean):
		r.Missed = fmt.Sprintf("mean %.0f, less than %.0f", r.Mean, fuzzerMean)
	}
}

// SCTSum is how many programs a strategy found in any, in half and in all trials.
type SCTSum struct {
	Strategy       string `json:"strategy"`
	Any, Half, All int
}

// SumSCT adds up the rows of each strategy that has any: ours, or the published ones.
func SumSCT(rows []SCTRow, ours bool) []SCTSum {
	var sums []SCTSum
	for _, strategy := range SCTStrategies() {
		s := SCTSum{Strategy: strategy}
		ran := false
		for _, r := range rows {
			ran = ran || r.Strategy == strategy
			found, of := r.Found, r.Trials
			if !ours {
				found, of = r.PublishedFound, 20
			}
			if r.Strategy == strategy && found > 0 {
				s.Any++
				s.Half += bit(2*found >= of)
				s.All += bit(found == of)
			}
		}
		if ran {
			sums = append(sums, s)
		}
	}
	return slices.Clip(sums)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
