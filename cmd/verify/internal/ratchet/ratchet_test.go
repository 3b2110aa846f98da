package ratchet

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

const treeRules = `
# what the tree in testdata is judged by
layer boundary core/sched
layer owners   core
layer node     core/node
layer models   models
layer checkers sim
layer commands cmd
edge core/node serves the outside
allow import models core/node a value
`

func loadTree(t *testing.T) *Tree {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("testdata", "tree"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := Load(t.Context(), root, "example.org/m")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// wanted returns "file:line rule" of each "// want rule" comment of the tree.
func wanted(t *testing.T, root string) []string {
	t.Helper()
	var want []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(file)
		for number := 1; lines.Scan(); number++ {
			if _, rule, ok := strings.Cut(lines.Text(), "// want "); ok {
				rel, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				want = append(want, fmt.Sprintf("%s:%d %s", filepath.ToSlash(rel), number, rule))
			}
		}
		return file.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// found reduces findings to "file:line rule", one for each place and rule.
func found(findings []catalog.Fault) []string {
	var all []string
	for _, f := range findings {
		rule := "import"
		if _, after, ok := strings.Cut(f.Message, "(ban-"); ok {
			rule, _, _ = strings.Cut("ban-"+after, " ")
		}
		all = append(all, f.At.String()+" "+rule)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryRuleIsFoundAndNothingElse(t *testing.T) {
	rules, err := Parse(treeRules)
	if err != nil {
		t.Fatal(err)
	}
	tree := loadTree(t)
	got := found(append(rules.Imports(tree), rules.Bans(tree)...))
	want := wanted(t, tree.Root)
	slices.Sort(want)
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("found without reason: %s", g)
		}
	}
	if unused := rules.Unused(); len(unused) > 0 {
		t.Errorf("unused %v", unused)
	}
}

func TestExceptionsCoverOneThingAndExpire(t *testing.T) {
	rules, err := Parse(treeRules + "allow ban-go core/bad/bad.go go because\nallow ban-go core/fine * because\nedge core/fine because\n")
	if err != nil {
		t.Fatal(err)
	}
	tree := loadTree(t)
	for _, f := range found(rules.Bans(tree)) {
		if strings.HasSuffix(f, "ban-go") {
			t.Errorf("excepted, but found: %s", f)
		}
	}
	rules.Imports(tree)
	unused := rules.Unused()
	if len(unused) != 2 || !strings.Contains(unused[0].Message, "the edge core/fine") || !strings.Contains(unused[1].Message, "ban-go core/fine") {
		t.Errorf("unused %v, want the edge and the exception of core/fine", unused)
	}
}

func TestUncoveredPackageIsAFinding(t *testing.T) {
	rules, err := Parse(strings.Replace(treeRules, "layer commands cmd", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	findings := rules.Imports(loadTree(t))
	if !slices.ContainsFunc(findings, func(f catalog.Fault) bool { return f.At.File == "cmd/tool" }) {
		t.Errorf("findings %v", findings)
	}
}

func TestRulesNeedReasons(t *testing.T) {
	for _, line := range []string{"edge core/x", "allow import a b", "layer empty", "forbid a b c d"} {
		if _, err := Parse(line); err == nil || !strings.Contains(err.Error(), "ratchet.txt:1") {
			t.Errorf("Parse(%q): %v", line, err)
		}
	}
	if _, err := Read(filepath.Join("..", "..", "..", "..")); err != nil {
		t.Error(err)
	}
}
