// Package tracetest holds what tests of trace bindings share.
package tracetest

import (
	"maps"
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/specs"
	"github.com/millrace-dev/millrace/tla/trace"
)

// Caught holds a binding to the other direction: code that is right does not follow a specification that is wrong. It loads each
// mutant of the protocol in dir that want names, explores body with it under id, and wants the verdict that stands beside the name.
func Caught(t *testing.T, id, dir string, load func(replace map[string]string) (*trace.Spec, error), want map[string]string,
	body func(w *sim.World, wrong *trace.Spec),
) {
	t.Helper()
	protocol, err := specs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(want)
	for _, m := range protocol.Mutants {
		verdict, chosen := left[m.Name]
		if !chosen {
			continue
		}
		delete(left, m.Name)
		replace, err := protocol.Sources(m)
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := load(replace)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Explore(id, "random", func(w *sim.World) { body(w, wrong) })
		if err != nil || r.Failure == nil || r.Failure.Verdict() != verdict {
			t.Errorf("%s: %+v, %v, want %s", m.Name, r.Failure, err, verdict)
		}
	}
	if len(left) > 0 {
		t.Errorf("no such mutants: %v", left)
	}
}
