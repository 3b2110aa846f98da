package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
)

// tsoFile keeps the result of the last sim -tso, for the matrix.
const tsoFile = "sim-tso.json"

// tsoRow is what the checks of one owner showed when stores may reach memory late.
type tsoRow struct {
	Owner  string   `json:"owner"`
	Title  string   `json:"title"`
	Checks int      `json:"checks"`
	Ran    int      `json:"ran"`
	Failed []string `json:"failed,omitempty"` // "check: verdict"
}

// examined says, for the owners whose checks were seen to fail, whether that is the algorithm's or comes from elsewhere. Each case was
// decided by making the named stores read-modify-writes: then every check of C6, E2 and G6 passes.
var examined = map[string]string{
	"C6": "its algorithm: idle is stored, then the list is loaded; an item is linked by a store, then idle is loaded; Resize stores the " +
		"capacity, then loads waiting. Nothing else of it",
	"E2": "not its own: it sleeps in C6's queues, whose wake-up is lost",
	"G6": "not its own: it sleeps in C6's queue, whose wake-up is lost",
}

// reason is why an owner depends on sequential consistency.
func (r tsoRow) reason() string {
	if why, ok := examined[r.Owner]; ok {
		return why
	}
	return "not examined: the algorithm or the emulation"
}

// runSimUnder runs the registered simulated and exhaustive checks under a memory model that Go does not have.
func runSimUnder(ctx context.Context, args []string) int { return exit("sim", simUnder(ctx, args)) }

func simUnder(ctx context.Context, args []string) error {
	for i, arg := range args {
		if arg == "-tso" {
			args[i] = "--tso"
		}
	}
	a, err := grammar{words: 1, keys: []string{"seeds", "strategy", "seed", "cores"}, flags: []string{"--tso"}}.parse(args)
	if err != nil {
		return err
	}
	if !a.flags["--tso"] {
		return usagef("sim needs a memory model, and -tso is the only one; test-sim runs the checks as Go runs them")
	}
	if err := a.simulates(); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	run, err := s.runSim(ctx, a.word(), append(simBounds(a), "tso"))
	if err != nil {
		return err
	}
	rows := s.tsoRows(run)
	s.printTSO(rows)
	for _, r := range rows {
		if r.Ran < r.Checks && a.word() == "" {
			err = errors.Join(err, fmt.Errorf("sim: owner %s: %d of %d checks left a record: %w", r.Owner, r.Ran, r.Checks, errFound))
		}
	}
	if a.word() != "" {
		return err // a part is no list of owners
	}
	return errors.Join(err, s.WriteJSON(tsoFile, rows))
}

// tsoRows tells for each owner which of its checks fail; programs that are wrong on purpose are no owner's.
func (s site) tsoRows(run laneRun) []tsoRow {
	last := audit.Last(run.records)
	var rows []tsoRow
	for _, o := range s.cat.Owners {
		row := tsoRow{Owner: o.ID, Title: o.Title}
		for _, l := range findLane("sim").lanes {
			for _, id := range o.Checks[l] {
				rec, ran := last[id]
				row.Checks++
				if !ran {
					continue
				}
				row.Ran++
				if !rec.Passed && rec.Verdict != nil {
					row.Failed = append(row.Failed, id+": "+rec.Verdict.String())
				} else if !rec.Passed {
					row.Failed = append(row.Failed, id+": not passed")
				}
			}
		}
		slices.Sort(row.Failed)
		if row.Ran > 0 || run.Filter == "" {
			rows = append(rows, row)
		}
	}
	return rows
}

func (s site) printTSO(rows []tsoRow) {
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{r.Owner, r.Title, fmt.Sprintf("%d of %d", r.Ran-len(r.Failed), r.Ran), r.verdict()})
	}
	s.Table([]string{"owner", "title", "checks that pass", "with delayed stores"}, table)
	for _, r := range rows {
		for _, f := range r.Failed {
			s.Printf("  %s\n", f)
		}
	}
}

func (r tsoRow) verdict() string {
	switch {
	case r.Checks == 0:
		return "no simulated check"
	case len(r.Failed) > 0:
		return "depends on sequential consistency"
	case r.Ran < r.Checks:
		return "not all ran"
	default:
		return "no dependence seen"
	}
}

// lastTSO returns the rows of the last complete sim -tso, none when there was none.
func (s site) lastTSO() ([]tsoRow, error) { return keptRows[tsoRow](s, tsoFile) }

// keptRows returns the rows that an earlier run has written, none when there was none.
func keptRows[T any](s site, name string) ([]T, error) {
	rows, _, err := keptSince[T](s, name)
	return rows, err
}

// keptSince is keptRows with the time at which they were written.
func keptSince[T any](s site, name string) (rows []T, at time.Time, err error) {
	path := filepath.Join(s.Out, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, at, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	info, missing := os.Stat(path)
	if err = errors.Join(err, missing); err != nil {
		return nil, at, fmt.Errorf("read %s: %w", name, err)
	}
	return rows, info.ModTime(), nil
}

// printDependence lists, below the matrix, the owners that must not be ported to weaker atomics as they are.
func (s site) printDependence(rows []tsoRow) {
	if len(rows) == 0 {
		s.Printf("\nsequential consistency: run sim -tso for the list of owners that depend on it\n")
		return
	}
	var depends []string
	checked := 0
	for _, r := range rows {
		if r.Ran > 0 {
			checked++
		}
		if len(r.Failed) > 0 {
			depends = append(depends, fmt.Sprintf("%s: %s\n     %s", r.Owner, r.reason(), strings.Join(r.Failed, "\n     ")))
		}
	}
	s.Printf("\nsequential consistency: of %d owners checked with delayed stores, %d depend on it and must not be ported to "+
		"acquire and release as they are\n", checked, len(depends))
	for _, d := range depends {
		s.Printf("  %s\n", d)
	}
}
