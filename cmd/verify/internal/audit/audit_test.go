package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// sample is a catalogue with one simulated, one exhaustive and one planted check, each with its test.
func sample() *catalog.Catalog {
	test := func(name string, lane inventory.Lane) *catalog.Test {
		return &catalog.Test{Name: name, Lane: lane, Dir: "core/a", At: catalog.Position{File: "core/a/a_test.go", Line: 9}}
	}
	at := catalog.Position{File: "core/a/inventory_test.go", Line: 5}
	s, x, p := test("TestSimA", inventory.LaneSim), test("TestExhaustA", inventory.LaneExhaustive), test("TestSimP", inventory.LaneSim)
	return &catalog.Catalog{
		Module: "m",
		Owners: []catalog.Owner{{ID: "A1"}},
		Tests:  []*catalog.Test{s, x, p},
		Checks: []catalog.Check{
			{ID: "A1/s", Lane: inventory.LaneSim, Owner: "A1", At: at, Test: s},
			{ID: "A1/x", Lane: inventory.LaneExhaustive, Owner: "A1", At: at, Test: x},
			{ID: "planted/p", At: at, Test: p},
		},
	}
}

var simulation = []inventory.Lane{inventory.LaneSim, inventory.LaneExhaustive}

// complete returns the records of a run in which everything went well.
func complete() []inventory.Record {
	return []inventory.Record{
		{
			Check: "A1/s", Test: "TestSimA", Package: "m/core/a", Lane: inventory.LaneSim, Executions: 200, Declared: 200,
			Passed: true, Strategies: []inventory.Strategy{{Name: "random", Declared: 100, Executed: 100}},
		},
		{Check: "A1/x", Lane: inventory.LaneExhaustive, Executions: 6, Passed: true, Exhaustive: inventory.Complete},
		{Check: "planted/p", Lane: inventory.LaneSim, Executions: 3, Declared: 100, Passed: true},
	}
}

func TestCompleteRunHasNoFinding(t *testing.T) {
	c := sample()
	if findings := append(Static(c), Records(c, simulation, complete())...); len(findings) > 0 {
		t.Errorf("findings %v", findings)
	}
}

func TestRecordsFindsEachShortfall(t *testing.T) {
	cases := map[string]struct {
		change func([]inventory.Record) []inventory.Record
		want   string
	}{
		"missing": {
			func(r []inventory.Record) []inventory.Record { return r[1:] },
			"core/a/inventory_test.go:5: check A1/s left no record",
		},
		"failed": {func(r []inventory.Record) []inventory.Record {
			r[0].Passed, r[0].Verdict = false, &inventory.Verdict{Kind: inventory.KindRace, ID: "routes"}
			return r
		}, "check A1/s failed: race routes"},
		"nothing":  {func(r []inventory.Record) []inventory.Record { r[0].Executions = 0; return r }, "check A1/s executed nothing"},
		"fewer":    {func(r []inventory.Record) []inventory.Record { r[0].Executions = 199; return r }, "executed 199 of 200 declared"},
		"strategy": {func(r []inventory.Record) []inventory.Record { r[0].Strategies[0].Executed = 9; return r }, "executed 9 of 100 declared with strategy random"},
		"incomplete": {
			func(r []inventory.Record) []inventory.Record { r[1].Exhaustive = "not exhaustive: bound 9"; return r },
			`check A1/x is not complete: "not exhaustive: bound 9"`,
		},
		"other lane": {
			func(r []inventory.Record) []inventory.Record { r[1].Lane = inventory.LaneSim; return r },
			"is registered in lane X, but ran as lane S",
		},
		"unregistered": {func(r []inventory.Record) []inventory.Record {
			return append(r, inventory.Record{Check: "A1/new", Test: "TestSimA", Package: "m/core/a", Executions: 1, Passed: true})
		}, "core/a/a_test.go:9: TestSimA ran check A1/new, which is not registered"},
		"planted passes": {func(r []inventory.Record) []inventory.Record { r[2].Passed = false; return r }, "check planted/p failed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			findings := Records(sample(), simulation, c.change(complete()))
			if len(findings) != 1 || !strings.Contains(findings[0].String(), c.want) {
				t.Errorf("findings %v, want one with %q", findings, c.want)
			}
		})
	}
}

func TestStaticFindsWhatNobodyRegisteredOrRuns(t *testing.T) {
	c := sample()
	c.Checks[0].Test = nil
	found := ""
	for _, f := range Static(c) {
		found += f.String() + "\n"
	}
	for _, want := range []string{
		"core/a/inventory_test.go:5: check A1/s is registered, but no test function of its lane names it",
		"core/a/a_test.go:9: TestSimA is a simulation test, but runs no registered check",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("findings %q, want %q", found, want)
		}
	}
	c = sample()
	c.Root = t.TempDir()
	c.Owners[0].Mutants = []catalog.Mutant{{Owner: "A1", Name: "moved", Dir: "core/a"}, {Owner: "A1", Name: "fits", Dir: "core/a"}}
	for name, text := range map[string]string{
		"a.go": "package a\n\nvar x = 1\n", "testdata/mutants/A1.moved.mutant": "file: a.go\n-- replace --\nvar y = 1\n-- with --\nvar y = 2\n",
		"testdata/mutants/A1.fits.mutant": "file: a.go\n-- replace --\nvar x = 1\n-- with --\nvar x = 2\n",
	} {
		path := filepath.Join(c.Root, "core", "a", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if f := Static(c); len(f) != 1 || f[0].At.File != "core/a/testdata/mutants/A1.moved.mutant" || !strings.Contains(f[0].Message, "does not apply exactly once") {
		t.Errorf("findings %v, want the mutant whose code has moved on", f)
	}
	if empty := Static(&catalog.Catalog{}); len(empty) != 1 {
		t.Errorf("a tree without owners: %v", empty)
	}
}
