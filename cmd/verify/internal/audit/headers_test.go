package audit

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// A header that lacks a mutant, or has one that is not registered, is a finding: it would say less, or more, than what is checked.
func TestHeadersAreComparedWithTheRegister(t *testing.T) {
	mutants := []catalog.Mutant{{Owner: "A1", Name: "first", Dir: "a"}, {Owner: "A1", Name: "second-one", Dir: "a"}}
	for i := range mutants {
		mutants[i].At = catalog.Position{File: "a/inventory_test.go", Line: 7 + i}
	}
	const unnamed = `a/inventory_test.go:8: mutant A1.second-one is on no line "Mutants …" of a header in a`
	for name, x := range map[string]struct {
		text string
		want []string
	}{
		"all":         {"// A does. See A1.I2.\n//\n// Checks TestSimA1* · Mutants A1.first,\n// A1.second-one\ntype A int\n", nil},
		"by owner":    {"// Mutants A1.*\ntype A int\n", nil},
		"one is out":  {"// Mutants A1.first\ntype A int\n", []string{unnamed}},
		"another":     {"// Mutants A1.first, A1.second-two\ntype A int\n", []string{"a/a.go:3: a header names mutant A1.second-two, which is not registered", unnamed}},
		"before":      {"// A1.second-one · Mutants A1.first\ntype A int\n", []string{unnamed}},
		"behind":      {"// Mutants A1.first\n//\n// Not A1.second-one.\ntype A int\n", []string{unnamed}},
		"other owner": {"// Mutants A1.first, B1.*\ntype A int\n", []string{"a/a.go:3: a header names mutant B1.*, which is not registered", unnamed}},
		"no Go":       {"type type\n", nil},
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "a", "a.go"), []byte("package a\n\n"+x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range sorted(headers(&catalog.Catalog{Root: root, Owners: []catalog.Owner{{ID: "A1", Dir: "a", Mutants: mutants}}})) {
			got = append(got, f.String())
		}
		if name == "no Go" {
			if len(got) == 0 {
				t.Error("a file that is no Go has no finding")
			}
			continue
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
