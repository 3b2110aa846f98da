package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	profiles "github.com/google/pprof/profile"
)

// The profile that the node is compiled with is committed, so it must name no folder of the machine it was made on, and it must
// hold what it is for.
func TestProfileOfTheNode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", nodeProfile))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.ParseData(text)
	if err != nil {
		t.Fatal(err)
	}
	locks, node := false, false
	for _, f := range p.Function {
		if strings.ContainsAny(f.Filename, `/\`) {
			t.Errorf("%s names the folder of %s", f.Name, f.Filename)
		}
		locks = locks || strings.HasSuffix(f.Name, "sched.(*Mutex).Lock")
		node = node || strings.Contains(f.Name, "/core/source/")
	}
	for _, m := range p.Mapping {
		if m.File != "" {
			t.Errorf("mapping of %s", m.File)
		}
	}
	if !locks || !node {
		t.Errorf("hot paths of the primitives (%t) and of the node (%t)", locks, node)
	}
}
