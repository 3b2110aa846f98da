package modules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
	"github.com/millrace-dev/millrace/tla/value"
)

// TestEveryModuleLoads extends each module by itself, so that a fault in one of our texts shows.
func TestEveryModuleLoads(t *testing.T) {
	all := modules.All()
	if len(all) < 30 {
		t.Fatalf("only %d modules", len(all))
	}
	seen := map[string]bool{}
	for _, n := range all {
		if seen[n.Name] {
			t.Errorf("module %s is there twice", n.Name)
		}
		seen[n.Name] = true
		src := "---- MODULE S ----\nEXTENDS " + n.Name + "\n===="
		p, err := eval.Load("S", eval.Options{Natives: all, Sources: map[string]string{"S": src}})
		if err == nil {
			err = p.Build(nil)
		}
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		for _, b := range n.Ops {
			if _, err := p.Lookup(b.Name); err != nil {
				t.Errorf("%s does not export %s", n.Name, b.Name)
			}
		}
	}
}

// CSVRead makes a record of each line; a line with other fields is an error with its place.
func TestCSVRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "people.csv")
	read := func(text string) (value.Value, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		src := "---- MODULE S ----\nEXTENDS CSV\nX == CSVRead(<<\"name\", \"age\">>, \";\", \"" + file + "\")\n===="
		p, err := eval.Load("S", eval.Options{Natives: modules.All(), Sources: map[string]string{"S": src}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Build(nil); err != nil {
			t.Fatal(err)
		}
		x, err := p.Lookup("X")
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Compile(x)
		if err != nil {
			t.Fatal(err)
		}
		return e.Eval(eval.NewCtx(&eval.Run{Prog: p}, 0))
	}
	if v, err := read("ann;30\nbob;25\n"); err != nil || v.String() != `<<[name |-> "ann", age |-> "30"], [name |-> "bob", age |-> "25"]>>` {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := read(""); err != nil || v.String() != "<<>>" {
		t.Errorf("an empty file: %v, %v", v, err)
	}
	if _, err := read("ann;30\nbob\n"); err == nil || !strings.Contains(err.Error(), "people.csv:2 has 1 fields, expected 2") {
		t.Errorf("a short line: %v", err)
	}
}
