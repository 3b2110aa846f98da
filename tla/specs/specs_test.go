package specs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/internal/mutant"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTree holds the folders of this repository to the convention; `verify tla` checks their models.
func TestTree(t *testing.T) {
	all, err := Find("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		for _, m := range p.Mutants {
			if _, err := p.Sources(m); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	p, err := Read("testdata/tick")
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "A clock that ticks" || len(p.Models) != 2 || len(p.Mutants) != 2 {
		t.Fatalf("read %+v", p)
	}
	for _, m := range p.Models {
		if row := p.Check(m); !row.OK || row.Kind == Small && (row.Distinct != 12 || row.Generated != 13 || row.Depth != 12) {
			t.Errorf("model %s: %+v", m.Name, row)
		}
	}
	for _, m := range p.Mutants {
		if row := p.CheckMutant(m); !row.OK || row.Found != m.Violates {
			t.Errorf("mutant %s: %+v", m.Name, row)
		}
	}
}

// edited returns a copy of the tick folder in which one file has another text.
func edited(t *testing.T, file, old, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tick")
	if err := os.CopyFS(dir, os.DirFS("testdata/tick")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A mutant that violates nothing is a failure, and so is a model that does not hold.
func TestFailuresAreFound(t *testing.T) {
	p, err := Read(edited(t, "mutants/thirteen.mutant", "13 THEN 1", "12 THEN 0+1"))
	if err != nil {
		t.Fatal(err)
	}
	if row := p.CheckMutant(p.Mutants[1]); row.OK || row.Found != Holds || row.Detail != ErrHolds.Error() {
		t.Errorf("a mutant that holds: %+v", row)
	}
	if p, err = Read(edited(t, "Tick.tla", "12 THEN", "11 THEN")); err != nil {
		t.Fatal(err)
	}
	if row := p.Check(p.Models[0]); row.OK || row.Found != "Noon" {
		t.Errorf("a model that does not hold: %+v", row)
	}
	if row := p.CheckMutant(p.Mutants[0]); row.OK || row.Found != "unreadable" {
		t.Errorf("a mutant that does not apply: %+v", row)
	}
	if _, err := p.Sources(p.Mutants[0]); !errors.Is(err, mutant.ErrDoesNotApply) {
		t.Errorf("a mutant that does not apply: %v", err)
	}
	if p, err = Read(edited(t, "SIMTick.cfg", "INVARIANT Hours", "INVARIANT Hours\nPROPERTY Noon")); err != nil {
		t.Fatal(err)
	}
	if row := p.Check(p.Models[1]); row.OK || row.Kind != Simulated || row.Found != "not checked: Noon" {
		t.Errorf("a simulated model with a liveness property: %+v", row)
	}
}

func TestFoldersThatBreakTheConvention(t *testing.T) {
	for want, c := range map[string][3]string{
		"none of MC, Large, SIM":      {"Other.cfg", "", "SPECIFICATION Spec"},
		"expected MCTock.tla":         {"MCTock.cfg", "", "SPECIFICATION Spec"},
		"lacks a mutant of Tick":      {"MCTick.cfg", "Hours", "Hours Init"},
		"does not check Hours":        {"MCTick.cfg", "INVARIANT Hours", ""},
		`expected "violates: "`:       {"mutants/thirteen.mutant", "violates: Hours", "breaks: Hours"},
		"no model":                    {"mutants/thirteen.mutant", "MCTick.cfg", "MCTack.cfg"},
		"then a patch":                {"mutants/short.mutant", "", "what: x\n"},
		"must be a module":            {"mutants/thirteen.mutant", "file: Tick.tla", "file: tick.go"},
		"thirteen.mutant:5":           {"mutants/thirteen.mutant", "-- replace --", "replace"},
		"lacks a small model of Tack": {"LargeTack.cfg", "", "SPECIFICATION Spec"},
	} {
		dir := edited(t, c[0], c[1], c[2])
		if err := os.WriteFile(filepath.Join(dir, "MCTack.tla"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %q: %v, want %s", c[0], c[2], err, want)
		}
	}
	if _, err := Find(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
}
