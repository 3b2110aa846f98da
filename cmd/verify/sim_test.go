package main

import (
	"errors"
	"strings"
	"testing"
)

// failsLate makes the fixture's check fail exactly when stores are delayed.
var failsLate = [3]string{
	"core/gate/check_test.go", "	var g Gate\n		entered := 0\n",
	"	var g Gate\n		entered := len(os.Getenv(\"MILLRACE_SIM\")) - len(strings.Replace(os.Getenv(\"MILLRACE_SIM\"), \"tso\", \"\", 1))\n",
}

var imports = [3]string{"core/gate/check_test.go", "\"path/filepath\"\n", "\"path/filepath\"\n\t\"strings\"\n"}

func TestDelayedStoresListTheOwnersThatDependOnOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes [][3]string
		verdict string
		matrix  string
	}{
		{"independent", nil, "no dependence seen", "of 1 owners checked with delayed stores, 0 depend on it"},
		{
			"dependent",
			[][3]string{failsLate, imports},
			"depends on sequential consistency",
			"1 depend on it and must not be ported to acquire and release as they are\n  Z1: not examined: the algorithm or the emulation\n     Z1/never-three-inside: invariant Z1.I1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, out := fixture(t, c.changes...)
			plain, err := s.runSim(t.Context(), "", nil)
			if err != nil || plain.err() != nil {
				t.Fatalf("as Go runs it: %v, %v", err, plain.err())
			}
			run, err := s.runSim(t.Context(), "", []string{"tso"})
			if err != nil {
				t.Fatal(err)
			}
			rows := s.tsoRows(run)
			if len(rows) != 1 || rows[0].Owner != "Z1" || rows[0].Ran != 1 || rows[0].verdict() != c.verdict {
				t.Fatalf("rows %+v", rows)
			}
			if err := s.WriteJSON(tsoFile, rows); err != nil {
				t.Fatal(err)
			}
			kept, err := s.lastTSO()
			if err != nil {
				t.Fatal(err)
			}
			s.printTSO(kept)
			s.printDependence(kept)
			if text := out.String(); !strings.Contains(text, c.matrix) || !strings.Contains(text, c.verdict) {
				t.Errorf("printed\n%s", text)
			}
		})
	}
}

func TestMemoryModelIsNeeded(t *testing.T) {
	for _, args := range [][]string{nil, {"C6"}, {"-tso", "a", "b"}, {"-tso", "seeds=0"}} {
		if err := simUnder(t.Context(), args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
