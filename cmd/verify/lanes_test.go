package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

func TestLaneRunsWhatIsRegistered(t *testing.T) {
	s, out := fixture(t)
	run, err := s.runSim(t.Context(), "", nil)
	if err != nil || run.err() != nil {
		t.Fatalf("%v, findings %v", err, run.Findings)
	}
	if run.Discovered != 2 || run.Selected != 2 || run.Executed != 2 || run.Complete != 2 {
		t.Errorf("counts %d %d %d %d, want 2 each", run.Discovered, run.Selected, run.Executed, run.Complete)
	}
	s.printLane(run)
	if text := out.String(); !strings.Contains(text, "2 discovered, 2 selected; of their 2 checks 2 executed, 2 complete") {
		t.Errorf("printed %s", text)
	}
	twice, err := s.runTwice(t.Context(), "", nil, run)
	if err != nil || twice.err() != nil || twice.Compared != 1 || twice.Executions != 64 {
		t.Errorf("twice %+v, %v", twice, err)
	}
}

func TestFilterThatSelectsNothingFails(t *testing.T) {
	s, _ := fixture(t)
	if _, err := s.runSim(t.Context(), "no-such-check", nil); !errors.Is(err, errNothing) {
		t.Errorf("error %v, want %v", err, errNothing)
	}
	if _, err := s.runLane(t.Context(), findLane("deadlock"), "", nil); !errors.Is(err, errNothing) {
		t.Errorf("error %v, want %v", err, errNothing)
	}
}

// What a lane must find, each on a fixture changed in one place.
func TestLaneFindsWhatARunHides(t *testing.T) {
	cases := map[string]struct {
		change [3]string
		want   string
	}{
		"skipped":      {[3]string{checkFile, "func TestModelZ1(t *testing.T) {", "func TestModelZ1(t *testing.T) {\n\tt.Skip()"}, "check Z1/counts left no record"},
		"failed":       {[3]string{gateFile, "func (g *Gate) Leave() { g.inside-- }", "func (g *Gate) Leave() { g.inside -= 2 }"}, "check Z1/counts failed: mismatch Z1.inside"},
		"unregistered": {[3]string{checkFile, `"Z1/counts", func`, `"Z1/" + "other", func`}, "TestModelZ1 ran check Z1/other, which is not registered"},
		"empty":        {[3]string{checkFile, "return 3", "return 0"}, "check Z1/counts executed nothing"},
		"no build":     {[3]string{gateFile, "g.inside++", "g.outside++"}, "build failed"},
		"exit":         {[3]string{checkFile, "var g Gate\n\t\tg.Enter()", "os.Exit(0)\n\t\tvar g Gate\n\t\tg.Enter()"}, "check Z1/counts left no record"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := fixture(t, c.change)
			// The unregistered check is selected by its test's name only when the test names a registered one.
			run, err := s.runLane(t.Context(), findLane("models"), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, f := range run.Findings {
				found += f.String() + "\n"
			}
			if run.err() == nil || !strings.Contains(found, c.want) {
				t.Errorf("findings %q, want one with %q", found, c.want)
			}
		})
	}
}

func TestExecutedLessThanDeclaredIsAFinding(t *testing.T) {
	s, _ := fixture(t, [3]string{checkFile, "rec.Declared = declared", "rec.Declared = declared + 1"})
	run, err := s.runSim(t.Context(), "", nil)
	if err != nil || run.err() == nil {
		t.Fatalf("%v, findings %v", err, run.Findings)
	}
	if len(run.Findings) != 1 || !strings.Contains(run.Findings[0].Message, "executed 64 of 65 declared") ||
		run.Findings[0].At.File != inventoryFile {
		t.Errorf("findings %v", run.Findings)
	}
}

func TestTwoProcessesThatDifferAreReported(t *testing.T) {
	s, _ := fixture(t)
	// Two strategies, each with its own number of executions.
	rec := func(random, pct []string) []inventory.Record {
		return []inventory.Record{{
			Check: "Z1/never-three-inside", Passed: true, Hashes: slices.Concat(random, pct),
			Strategies: []inventory.Strategy{{Name: "random", Executed: len(random)}, {Name: "pct3", Executed: len(pct)}},
		}}
	}
	first := rec([]string{"a", "b"}, []string{"c"})
	same := compareTwice(s.cat, first, rec([]string{"a", "b", "x"}, []string{"c", "y"}))
	if same.err() != nil || same.Executions != 3 {
		t.Errorf("equal where both ran: %+v", same)
	}
	other := compareTwice(s.cat, first, rec([]string{"a", "b"}, []string{"d"}))
	want := "inventory_test.go:6: check Z1/never-three-inside: execution 0 of pct3 has trace hash c in one process and d"
	if other.err() == nil || !strings.Contains(other.Diverged[0].String(), want) {
		t.Errorf("different: %+v", other)
	}
	if gone := compareTwice(s.cat, first, nil); gone.err() == nil {
		t.Errorf("hashes only once: %+v", gone)
	}
}

// The first step at which two processes part is named, with what either did.
func TestFirstDivergingStepIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ change, want string }{
		"differs": {"os.Getpid()", `first diverging step 2: one: task 1 "enter" add atomic inside#1 = `},
		"agrees":  {"7", "run up to this execution on one core, 4 pairs of processes agree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := fixture(t, [3]string{checkFile, "inside := len(choices)", "inside := " + c.change})
			found := []divergence{{
				Check: "Z1/never-three-inside", Test: "TestSimZ1", Package: "example.org/fixture/core/gate", Strategy: "count", Execution: 3,
			}}
			s.findSteps(t.Context(), nil, found)
			if !strings.HasPrefix(found[0].Step, c.want) {
				t.Errorf("step %q, want %q", found[0].Step, c.want)
			}
		})
	}
}

// What is registered nowhere is said also when a filter selects it, by its test's name or by the check's own.
func TestFilteredRunTellsUnregisteredChecks(t *testing.T) {
	for _, filter := range []string{"TestModelZ1", "Z1/new"} {
		s, out := fixture(t, [3]string{checkFile, `"Z1/counts", func`, `"Z1/new", func`})
		run, err := s.runLane(t.Context(), findLane("models"), filter, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.printLane(run)
		text := out.String()
		if run.err() == nil || len(run.Findings) != 1 || !strings.Contains(text, "TestModelZ1 ran check Z1/new, which is not registered") ||
			!strings.Contains(text, "FAILED not registered") {
			t.Errorf("filter %s: findings %v, printed\n%s", filter, run.Findings, text)
		}
		if name := run.resultFile("test-models"); name != "partial-test-models.json" {
			t.Errorf("a filtered run's result goes to %s", name)
		}
	}
}

// A run with a filter and bounds of its own is a part like any other: its records lie where the audit looks for parts.
func TestPartsHaveOneFile(t *testing.T) {
	s, _ := fixture(t)
	if _, err := s.runSim(t.Context(), "Z1", []string{"seeds=2"}); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(s.Out, "records", "*.jsonl"))
	if err != nil || len(names) != 1 || filepath.Base(names[0]) != "partial-sim.jsonl" {
		t.Errorf("records %q, %v", names, err)
	}
	runs, err := s.lastRuns()
	if err != nil || runs[0].Part.IsZero() || !runs[0].At.IsZero() {
		t.Errorf("last runs %+v, %v", runs, err)
	}
}

// On a tree where nothing ran a lane has one line; all its checks are listed when they are asked for.
func TestAuditOfAFreshTreeIsShort(t *testing.T) {
	for all, want := range map[bool]int{false: 0, true: 3} {
		s, out := fixture(t)
		runs, err := s.lastRuns()
		if err != nil {
			t.Fatal(err)
		}
		static, err := s.auditStatic()
		if findings := withRuns(static, runs); err != nil || len(findings) != 4 { // three checks, and the mutant that does not fit
			t.Fatalf("findings %v, %v", findings, err)
		}
		s.printAudit(static, runs, all)
		text := out.String()
		if strings.Count(text, "left no record") != want || !strings.Contains(text, "1 checks, no complete run yet: run ./just test-models") ||
			!strings.Contains(text, "4 findings") || strings.Contains(text, "3 of them checks") == all {
			t.Errorf("all %v: printed\n%s", all, text)
		}
	}
}

// Records of a filtered run neither replace those of a complete one nor pass for them. One finding stays:
// the fixture's mutant of code that is gone.
func TestAuditUsesCompleteRunsOnly(t *testing.T) {
	s, _ := fixture(t)
	for _, filter := range []string{"Z1", ""} {
		for _, l := range []lane{findLane("sim"), findLane("models")} {
			if _, err := s.runLane(t.Context(), l, filter, nil); err != nil {
				t.Fatal(err)
			}
		}
		findings, err := s.audit()
		if err != nil || (filter == "") != (len(findings) == 1) {
			t.Errorf("after filter %q: %d findings %v, %v", filter, len(findings), findings, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Out, "records", "partial-sim.jsonl")); err != nil {
		t.Error(err)
	}
}
