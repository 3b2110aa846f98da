package main

import (
	"strings"
	"testing"
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
	rows, reasons, err := s.matrixRows()
	if err != nil || len(rows) != 1 || len(reasons) != 2 {
		t.Fatalf("%d rows, reasons %q, %v", len(rows), reasons, err)
	}
	r := rows[0]
	if r.Cells["S"] != "ok 1" || r.Cells["M"] != "ok 1" || r.Cells["X"] != "(1)" || r.Cells["T"] != "(2)" {
		t.Errorf("cells %v", r.Cells)
	}
	if r.Killed != 1 || r.Mutants != 7 {
		t.Errorf("killed %d of %d; a mutant that one check missed is not killed", r.Killed, r.Mutants)
	}
	s.printMatrix(rows, reasons)
	if text := out.String(); !strings.Contains(text, "(2) takes no lock") || !strings.Contains(text, "1/7") {
		t.Errorf("printed\n%s", text)
	}
}
