package modules_test

import (
	"testing"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
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
