package main

import (
	"strings"
	"testing"
)

func TestGateRunsEveryStep(t *testing.T) {
	s, out := fixture(t, [3]string{"core/gate/testdata/mutants/Z1.no-fit.mutant", "-- replace --\ng.inside == 3 {", "-- replace --\ng.inside++"}) // so that the audit finds nothing
	g := &gate{site: s}
	g.run(t.Context(), true)
	text := out.String()
	// Sources 1 + 1 + 2 packages, PostgreSQL, one test binary, one unit test, two simulated, the comparison, one model, three checks audited.
	if g.Failed != 0 || !strings.HasSuffix(text, "\n14 passed, 0 failed\n") {
		t.Errorf("%d passed, %d failed\n%s", g.Passed, g.Failed, text)
	}
	for _, want := range []string{"Z1/never-three-inside  S     64", "no owner has a check in this lane", "test-sim twice"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A failed step does not hide the later ones.
func TestGateGoesOnAfterAFailure(t *testing.T) {
	s, out := fixture(t,
		[3]string{gateFile, "g.inside == 2 {", "g.inside == 9 {"},
		[3]string{checkFile, "if new(Gate).inside != 0", "if new(Gate).inside == 0"})
	g := &gate{site: s}
	g.run(t.Context(), true)
	failed := map[string]int{}
	for _, st := range g.Steps {
		failed[st.Name] = st.Failed
	}
	if failed["unit"] != 1 || failed["test-sim"] == 0 || failed["audit"] == 0 || failed["test-models"] != 0 {
		t.Errorf("failed by step %v\n%s", failed, out)
	}
	if g.err() == nil || !strings.Contains(out.String(), "invariant Z1.I1") {
		t.Errorf("error %v\n%s", g.err(), out)
	}
}
