package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// matrixRow is one owner of the auditor's table.
type matrixRow struct {
	Owner   string            `json:"owner"`
	Title   string            `json:"title"`
	At      string            `json:"at"`
	Cells   map[string]string `json:"cells"`
	Reasons map[string]string `json:"reasons,omitempty"`
	Mutants kills             `json:"mutants"`
}

// runMatrix prints owner × lane.
func runMatrix(_ context.Context, args []string) int { return exit("matrix", matrix(args)) }

func matrix(args []string) error {
	if _, err := (grammar{}).parse(args); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	if len(s.cat.Owners) == 0 {
		return fmt.Errorf("matrix: no owner is registered: %w", errNothing)
	}
	runs, err := s.lastRuns()
	if err != nil {
		return err
	}
	rows, reasons, err := s.matrixRows(runs)
	if err != nil {
		return err
	}
	for _, r := range runs {
		s.Printf("%s\n", r)
	}
	s.Printf("\n")
	s.printMatrix(rows, reasons)
	dependence, err := s.lastTSO()
	if err != nil {
		return err
	}
	s.printDependence(dependence)
	return s.WriteJSON("matrix.json", struct {
		Runs   []lastRun   `json:"runs"` // what the cells are from
		Owners []matrixRow `json:"owners"`
	}{runs, rows})
}

// matrixRows returns the rows and the different reasons, in the order of their footnotes.
func (s site) matrixRows(runs []lastRun) ([]matrixRow, []string, error) {
	killed, err := s.lastKills()
	if err != nil {
		return nil, nil, err
	}
	var reasons []string
	var rows []matrixRow
	for _, o := range s.cat.Owners {
		row := matrixRow{
			Owner: o.ID, Title: o.Title, At: o.At.String(), Cells: map[string]string{}, Reasons: map[string]string{},
			Mutants: kills{Declared: len(o.Mutants)},
		}
		for _, m := range o.Mutants {
			if n, tried := killed[m.ID()]; tried {
				row.Mutants.Tried++
				row.Mutants.Killed += n
			}
		}
		for _, lane := range inventory.Lanes() {
			if why, ok := o.Reasons[lane]; ok {
				if !slices.Contains(reasons, why) {
					reasons = append(reasons, why)
				}
				row.Cells[string(lane)] = fmt.Sprintf("(%d)", slices.Index(reasons, why)+1)
				row.Reasons[string(lane)] = why
				continue
			}
			row.Cells[string(lane)] = s.cell(o.Checks[lane], runs[slices.IndexFunc(runs, func(r lastRun) bool { return slices.Contains(r.Lanes, lane) })])
		}
		rows = append(rows, row)
	}
	return rows, reasons, nil
}

// cell describes an owner's checks in one lane.
func (s site) cell(ids []string, run lastRun) string {
	switch {
	case len(ids) == 0:
		return "EMPTY"
	case run.At.IsZero():
		return fmt.Sprintf("%d not run", len(ids))
	}
	failed, ran := 0, 0
	for _, id := range ids {
		rec, ok := run.last[id]
		if !ok {
			continue
		}
		ran++
		check, known := s.cat.Check(id)
		if !known || len(audit.Shortfalls(check, rec)) > 0 {
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Sprintf("FAIL %d/%d", failed, len(ids))
	case ran < len(ids):
		return fmt.Sprintf("ran %d/%d", ran, len(ids))
	}
	return fmt.Sprintf("ok %d", len(ids))
}

func (s site) printMatrix(rows []matrixRow, reasons []string) {
	header := []string{"owner", "title"}
	for _, lane := range inventory.Lanes() {
		header = append(header, string(lane))
	}
	header = append(header, "mutants", "declared at")
	var table [][]string
	for _, r := range rows {
		cells := []string{r.Owner, r.Title}
		for _, lane := range inventory.Lanes() {
			cells = append(cells, r.Cells[string(lane)])
		}
		table = append(table, append(cells, r.Mutants.text(), r.At))
	}
	s.Table(header, table)
	s.Printf("\n")
	for i, why := range reasons {
		s.Printf("  (%d) %s\n", i+1, why)
	}
	s.Printf("  mutants: %s\n", killsLegend)
}

// lastKills returns 1 for each mutant that every check it names rejected when it was last tried, and 0 for each that one has missed.
func (s site) lastKills() (map[string]int, error) {
	rows, err := s.lastQualification()
	killed := map[string]int{}
	for _, r := range rows {
		if r.Unusable {
			continue
		}
		if _, seen := killed[r.Mutant]; !seen {
			killed[r.Mutant] = 1
		}
		if !r.Killed {
			killed[r.Mutant] = 0
		}
	}
	return killed, err
}
