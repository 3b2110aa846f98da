package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// tree writes files below a new module and returns its root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.org/m\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const header = "package claim\n\nimport \"example.org/m/sim/inventory\"\n\n"

const reasons = `
	inventory.Reason(inventory.LaneModel, "m"), inventory.Reason(inventory.LaneLinear, "p"),
	inventory.Reason(inventory.LaneDeadlock, "d"), inventory.Reason(inventory.LaneSpec, "t"),
	inventory.Reason(inventory.LaneExhaustive, "x"),`

const good = header + `var _ = inventory.Owner("L3", "ownership claim", (*Claims)(nil),
	inventory.Sim("L3/stale-owner", "L3/" + "two-owners"),` + reasons + `
	inventory.Mutant("no-epoch", "commit without the epoch",
		inventory.RejectedBy("L3/stale-owner", "invariant L3.I2"),
		inventory.RejectedBy("L3/two-owners", "deadlock")),
)

var _ = inventory.Planted("planted/deadlock", "two locks")
`

const tests = `package claim_test

func TestSimL3Stale(t *testing.T) { sim.Check(t, "L3/stale-owner", nil) }

func TestSimL3Two(t *testing.T) { shared(t) }

func shared(t *testing.T) { sim.Check(t, "L3/two-owners", nil) }

func TestSimPlanted(t *testing.T) { sim.Planted(t, "planted/deadlock", nil) }

func TestUnit(t *testing.T) { again(t, "planted/deadlock") }

func TestMain(m *testing.M) { sim.Main(m) }

func FuzzRow(f *testing.F) {}
`

func load(t *testing.T, files map[string]string) *Catalog {
	t.Helper()
	c, err := Load(tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadReadsDeclarationsAndTests(t *testing.T) {
	c := load(t, map[string]string{
		"core/claim/inventory_test.go":                   good,
		"core/claim/claim_test.go":                       tests,
		"core/claim/testdata/mutants/L3.no-epoch.mutant": "",
		"core/claim/testdata/ignored_test.go":            "not go",
		"tools/go.mod":                                   "module tools\n",
		"tools/ignored_test.go":                          "not go",
		"core/claim/claim.go":                            "not even parsed",
	})
	if len(c.Faults) > 0 {
		t.Errorf("faults %v", c.Faults)
	}
	if c.Module != "example.org/m" || len(c.Owners) != 1 || len(c.Checks) != 3 || len(c.Tests) != 5 {
		t.Fatalf("module %s, %d owners, %d checks, %d tests", c.Module, len(c.Owners), len(c.Checks), len(c.Tests))
	}
	o := c.Owners[0]
	if o.ID != "L3" || o.Type != "(*Claims)(nil)" || o.Dir != "core/claim" || o.At.String() != "core/claim/inventory_test.go:5" ||
		o.Reasons[inventory.LaneSpec] != "t" {
		t.Errorf("owner %+v", o)
	}
	for id, test := range map[string]string{
		"L3/stale-owner": "TestSimL3Stale", "L3/two-owners": "TestSimL3Two", "planted/deadlock": "TestSimPlanted",
	} {
		check, ok := c.Check(id)
		if !ok || check.Test == nil || check.Test.Name != test {
			t.Errorf("check %s: %+v", id, check)
		}
	}
	m := c.Mutants()[0]
	if m.ID() != "L3.no-epoch" || len(m.Expects) != 2 || m.Expects[1].Verdict != "deadlock" {
		t.Errorf("mutant %+v", m)
	}
	if len(c.InLanes(inventory.LaneSim)) != 3 || len(c.TestsInLanes(inventory.LaneSim)) != 3 {
		t.Errorf("simulation lane: %v", c.InLanes(inventory.LaneSim))
	}
}

// Each declaration is wrong in one way; the fault names the file and what is wrong.
func TestLoadFaultsWrongDeclarations(t *testing.T) {
	mutant := `inventory.Mutant("a-b", "w", inventory.RejectedBy(`
	cases := map[string]struct{ parts, want string }{
		"empty cell":     {`inventory.Sim("L3/a")`, "lane X (exhaustive) has neither a check nor a reason"},
		"both":           {`inventory.Sim("L3/a"), inventory.Spec("L3/t"),` + reasons, "lane T (specification) has checks and a reason"},
		"no check":       {`inventory.Sim(),` + reasons, "lane S is declared with no check"},
		"not literal":    {`inventory.Sim(name),` + reasons, "name is not a string literal"},
		"foreign call":   {`other.Sim("L3/a"),` + reasons, "is not a call of package inventory"},
		"unknown call":   {`inventory.Append("L3/a"),` + reasons, "inventory.Append has no meaning here"},
		"unknown lane":   {`inventory.Sim("L3/a"), inventory.Reason(inventory.LaneZ, "z"),` + reasons, "is no lane"},
		"empty reason":   {`inventory.Reason(inventory.LaneSim, " "),` + reasons, "must be a literal that says something"},
		"other owner":    {`inventory.Sim("L4/a"),` + reasons, "check L4/a is declared by owner L3"},
		"twice":          {`inventory.Sim("L3/a", "L3/a"),` + reasons, "check L3/a is registered already at"},
		"bad check id":   {`inventory.Sim("L3 a"),` + reasons, `check id "L3 a" is not of the form`},
		"no mutant file": {`inventory.Sim("L3/a"),` + mutant + `"L3/a", "deadlock")),` + reasons, "there is no core/claim/testdata/mutants/L3.a-b.mutant"},
		"no such check":  {`inventory.Sim("L3/a"),` + mutant + `"L3/b", "deadlock")),` + reasons, "rejecting check L3/b is not registered"},
		"bad kind":       {`inventory.Sim("L3/a"),` + mutant + `"L3/a", "wrong L3")),` + reasons, `unknown kind "wrong"`},
		"step bound":     {`inventory.Sim("L3/a"),` + mutant + `"L3/a", "steps")),` + reasons, "the step bound is not a rejection"},
		"any assertion":  {`inventory.Sim("L3/a"),` + mutant + `"L3/a", "assertion")),` + reasons, "an assertion needs its id"},
		"not rejected":   {`inventory.Sim("L3/a"), inventory.Mutant("a", "w", "no"),` + reasons, "is not inventory.RejectedBy"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := header + `var _ = inventory.Owner("L3", "claim", (*Claims)(nil), ` + strings.TrimRight(c.parts, ",") + ")\n"
			got := load(t, map[string]string{"core/claim/inventory_test.go": text})
			found := false
			for _, f := range got.Faults {
				found = found || strings.Contains(f.Message, c.want) && f.At.File == "core/claim/inventory_test.go" && f.At.Line >= 5
			}
			if !found {
				t.Errorf("faults %v, want one with %q", got.Faults, c.want)
			}
		})
	}
}

func TestLoadFaultsContradictionsBetweenFiles(t *testing.T) {
	owner := `var _ = inventory.Owner("L3", "claim", (*Claims)(nil), inventory.Sim("L3/a"),` + reasons + ")\n"
	c := load(t, map[string]string{
		"core/a/inventory_test.go":                 header + owner,
		"core/b/inventory_test.go":                 header + owner,
		"core/a/testdata/mutants/L3.orphan.mutant": "",
		"core/a/a_test.go":                         "package a\nfunc TestSimA(t *testing.T) { f(\"L3/a\") }\nfunc TestSimB(t *testing.T) { f(\"L3/a\") }\n",
	})
	for _, want := range []string{
		"core/b/inventory_test.go:5: owner L3 is declared already at core/a/inventory_test.go:5",
		"core/a/testdata/mutants/L3.orphan.mutant:1: no owner declares this mutant",
		"core/a/a_test.go:3: check L3/a is run by TestSimA and by TestSimB",
		"core/a/a_test.go:1: package core/a has tests, but no TestMain",
	} {
		found := false
		for _, f := range c.Faults {
			found = found || strings.HasPrefix(f.String(), want)
		}
		if !found {
			t.Errorf("faults %v, want %q", c.Faults, want)
		}
	}
}

func TestLoadRefusesAFileItCannotParse(t *testing.T) {
	_, err := Load(tree(t, map[string]string{"core/a/a_test.go": "package a\nfunc {"}))
	if err == nil || !strings.Contains(err.Error(), "a_test.go:2") {
		t.Errorf("error %v", err)
	}
}

func TestFindRoot(t *testing.T) {
	root := tree(t, map[string]string{"core/a/a.go": ""})
	if got, err := FindRoot(filepath.Join(root, "core", "a")); err != nil || got != root {
		t.Errorf("FindRoot = %s, %v; want %s", got, err, root)
	}
}
