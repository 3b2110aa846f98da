package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMatrixShowsChecksReasonsAndKills(t *testing.T) {
	s, out := fixture(t)
	for _, name := range []string{"sim", "models"} {
		if _, err := s.runLane(t.Context(), findLane(name), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	err := s.WriteJSON(qualifyFile, []mutantRow{
		{Mutant: "Z1.no-bound", Killed: true}, {Mutant: "Z1.leave-twice", Killed: true}, {Mutant: "Z1.leave-twice"},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, reasons := rowsOf(t, s)
	if len(rows) != 1 || len(reasons) != 2 {
		t.Fatalf("%d rows, reasons %q", len(rows), reasons)
	}
	r := rows[0]
	if r.Cells["S"] != "ok 1" || r.Cells["M"] != "ok 1" || r.Cells["X"] != "(1)" || r.Cells["T"] != "(2)" {
		t.Errorf("cells %v", r.Cells)
	}
	if r.Mutants != (kills{Declared: 7, Tried: 2, Killed: 1}) {
		t.Errorf("killed %+v; a mutant that one check missed is not killed", r.Mutants)
	}
	s.printMatrix(rows, reasons)
	if text := out.String(); !strings.Contains(text, "(2) takes no lock") || !strings.Contains(text, "1/2 (of 7)") {
		t.Errorf("printed\n%s", text)
	}
}

// rowsOf is the matrix as the last runs left it.
func rowsOf(t *testing.T, s site) ([]matrixRow, []string) {
	t.Helper()
	runs, err := s.lastRuns()
	if err != nil {
		t.Fatal(err)
	}
	rows, reasons, err := s.matrixRows(runs)
	if err != nil {
		t.Fatal(err)
	}
	return rows, reasons
}

// A part of a lane, filtered or interrupted, neither fills the cells nor blanks those of a complete run, and the header tells.
func TestMatrixIsFromCompleteRuns(t *testing.T) {
	s, _ := fixture(t)
	models := findLane("models")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, step := range []struct {
		name, filter string
		ctx          context.Context
		cell, header string
	}{
		{"a part alone", "Z1", t.Context(), "1 not run", "no complete run yet: run ./just test-models; the run of a part"},
		{"a complete run", "", t.Context(), "ok 1", "complete run 0s ago"},
		{"a part later", "Z1", t.Context(), "ok 1", "does not count"},
		{"an interrupted run", "", stopped, "ok 1", "does not count"},
	} {
		if _, err := s.runLane(step.ctx, models, step.filter, nil); err != nil && step.ctx.Err() == nil {
			t.Fatal(err)
		}
		runs, err := s.lastRuns()
		if err != nil {
			t.Fatal(err)
		}
		if rows, _ := rowsOf(t, s); rows[0].Cells["M"] != step.cell || !strings.Contains(runs[1].String(), step.header) {
			t.Errorf("%s: cell %q, want %q; header %q, want %q", step.name, rows[0].Cells["M"], step.cell, runs[1], step.header)
		}
	}
}

// What test or a qualification of some mutants has tried counts in the matrix, and replaces what an earlier complete one said; a later
// complete one replaces it.
func TestMatrixCountsTheLatestTry(t *testing.T) {
	s, _ := fixture(t)
	record := func(name string, age time.Duration, rows ...mutantRow) {
		t.Helper()
		err := s.WriteJSON(name, rows)
		if at := time.Now().Add(-age); err == nil {
			err = os.Chtimes(filepath.Join(s.Out, name), at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, want kills) {
		t.Helper()
		if rows, _ := rowsOf(t, s); rows[0].Mutants != want {
			t.Errorf("%s: %+v, want %+v", what, rows[0].Mutants, want)
		}
	}
	want("nothing was tried", kills{Declared: 7})
	record(partialFile, time.Hour, mutantRow{Mutant: "Z1.no-bound", Killed: true})
	want("a sample", kills{7, 1, 1})
	record(qualifyFile, 2*time.Hour, mutantRow{Mutant: "Z1.no-bound"}, mutantRow{Mutant: "Z1.leave-twice", Killed: true}, mutantRow{Mutant: "Z1.gone"})
	want("a sample after a complete one", kills{7, 2, 2})
	record(partialFile, time.Minute, mutantRow{Mutant: "Z1.no-fit", Unusable: true})
	want("one that could not be tried", kills{7, 2, 1})
	record(qualifyFile, 0, mutantRow{Mutant: "Z1.no-bound"}, mutantRow{Mutant: "Z1.leave-twice", Killed: true})
	want("a complete one after a sample", kills{7, 2, 1})
}

// A cell says what was tried, and what was not.
func TestKillsAreReadable(t *testing.T) {
	for want, k := range map[string]kills{
		"none names it": {}, "7 not tried": {7, 0, 0}, "1/2 (of 7)": {7, 2, 1}, "7/7": {7, 7, 7},
	} {
		if got := k.text(); got != want {
			t.Errorf("%+v: %q, want %q", k, got, want)
		}
	}
}
