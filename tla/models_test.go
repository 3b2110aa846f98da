package tla_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestModels checks every model of testdata/models.tsv against the verdict and counts written there,
// which were worked out by hand, with one worker and with four.
func TestModels(t *testing.T) {
	for _, row := range readTSV(t, "testdata/models.tsv") {
		for _, workers := range []int{1, 4} {
			t.Run(row[0]+"-"+row[1]+"/"+strconv.Itoa(workers), func(t *testing.T) {
				r, err := tla.Run(tla.Spec{
					Module: "testdata/" + row[0] + ".tla", Config: "testdata/" + row[0] + "-" + row[1] + ".cfg",
					Options: check.Options{Workers: workers},
				})
				if err != nil {
					t.Fatal(err)
				}
				judge(t, r, row)
			})
		}
	}
}

func judge(t *testing.T, r *check.Result, row []string) {
	t.Helper()
	want := func(what, expected, found string) {
		t.Helper()
		if expected != "-" && expected != found {
			t.Errorf("%s: expected %s, found %s\n%s\n%s", what, expected, found, r, r.Text())
		}
	}
	want("verdict", row[2], r.Verdict.String())
	want("violated", row[3], r.Violated)
	want("trace length", row[4], strconv.Itoa(len(r.Trace)))
	want("distinct", row[5], strconv.FormatInt(r.Distinct, 10))
	want("depth", row[6], strconv.Itoa(r.Depth))
}

func readTSV(t *testing.T, path string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		out = append(out, strings.Split(line, "\t"))
	}
	if len(out) == 0 {
		t.Fatalf("%s has no rows", path)
	}
	return out
}

// TestLassoIsABehavior checks that a liveness counterexample returns to a state of itself and that
// its reports are complete.
func TestLassoIsABehavior(t *testing.T) {
	r, err := tla.Run(tla.Spec{Module: "testdata/Token.tla", Config: "testdata/Token-weak.cfg"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != check.Liveness || r.Loop < 0 || r.Loop >= len(r.Trace) || r.Stutters {
		t.Fatalf("expected a lasso, found %s\n%s", r, r.Text())
	}
	var j, h strings.Builder
	if err := r.JSON(&j); err != nil {
		t.Fatal(err)
	}
	if err := r.HTML(&h); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Verdict": "liveness failure"`, `"Violated": "Served"`} {
		if !strings.Contains(j.String(), want) {
			t.Errorf("JSON lacks %s", want)
		}
	}
	if !strings.Contains(h.String(), "the behavior returns here") {
		t.Error("HTML does not mark the loop")
	}
}

// A liveness property that was not looked at is no success, in whatever form the result is read.
func TestUncheckedLivenessIsNoSuccess(t *testing.T) {
	for name, o := range map[string]check.Options{
		"depth first": {Mode: check.DepthFirst}, "simulation": {Mode: check.Simulate, Traces: 3}, "a bound": {MaxStates: 1},
	} {
		r, err := tla.Run(tla.Spec{Module: "testdata/Clock.tla", Config: "testdata/Clock-live.cfg", Options: o})
		if err != nil {
			t.Fatal(err)
		}
		var j, h strings.Builder
		if err := errors.Join(r.JSON(&j), r.HTML(&h)); err != nil {
			t.Fatal(err)
		}
		if r.Verdict != check.Unfinished || !slices.Equal(r.Unchecked, []string{"Stays"}) || r.Bounded != (name == "a bound") {
			t.Errorf("%s: %s, unchecked %v, bounded %v", name, r, r.Unchecked, r.Bounded)
		}
		for form, text := range map[string]string{"text": r.String(), "JSON": j.String(), "HTML": h.String()} {
			if !strings.Contains(text, "unfinished") || !strings.Contains(text, "not checked: Stays") || strings.Contains(text, "success") {
				t.Errorf("%s: the %s does not say that it is unfinished:\n%s", name, form, text)
			}
		}
	}
}

// That an action was never enabled is only known when the search came to its end.
func TestDeadActionsAreNamedAfterAWholeSearch(t *testing.T) {
	const module = "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nStep == x < 3 /\\ x' = x + 1\nLate == x = 3 /\\ x' = 0\n" +
		"Dead == x = 9 /\\ x' = 0\nNext == Step \\/ Late \\/ Dead\nSmall == x < 2\n====\n"
	for cfg, want := range map[string]string{"": "Dead", "\nINVARIANT Small": ""} {
		r, err := runSource(t, module, "INIT Init\nNEXT Next"+cfg, check.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		warned := strings.Join(r.Warnings, "\n")
		if strings.Contains(warned, "action Late") || strings.Contains(warned, "action Dead") != (want != "") {
			t.Errorf("%q: %s, warnings %q", cfg, r, warned)
		}
	}
}

func TestFailingConjunctIsNamed(t *testing.T) {
	r := tla.Expect(t, tla.Spec{Module: "testdata/Clock.tla", Config: "testdata/Clock-inv.cfg"}, "Small")
	if !strings.Contains(r.Conjunct, "Clock.tla:8:") || !strings.Contains(r.Conjunct, "hr < 12") {
		t.Errorf("conjunct is %q", r.Conjunct)
	}
}

func TestFaultHasAPlace(t *testing.T) {
	r, err := tla.Run(tla.Spec{Module: "testdata/Broken.tla", Config: "testdata/Broken-tail.cfg"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Err == nil || !strings.Contains(r.Err.Error(), filepath.FromSlash("testdata/Broken.tla:5:14: Tail of the empty sequence")) {
		t.Errorf("error is %v", r.Err)
	}
}

func TestCoverageWarnsOfDeadActions(t *testing.T) {
	r, err := tla.Run(tla.Spec{
		Module: "testdata/Token.tla", Config: "testdata/Token-act.cfg", Options: check.Options{Coverage: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]int64{}
	for _, a := range r.Actions {
		taken[a.Name] = a.Taken
	}
	if taken["Ask"] == 0 || taken["Free"] != 0 || !strings.Contains(strings.Join(r.Warnings, "\n"), "action Free") {
		t.Errorf("actions %v, warnings %v", taken, r.Warnings)
	}
	if len(r.Parts) == 0 || r.Parts[0].Taken == 0 {
		t.Errorf("no conjunct was counted: %v", r.Parts)
	}
}

func TestSimulationRepeatsForASeed(t *testing.T) {
	run := func(seed uint64) *check.Result {
		r, err := tla.Run(tla.Spec{
			Module: "testdata/Counter.tla", Config: "testdata/Counter-short.cfg",
			Options: check.Options{Mode: check.Simulate, Seed: seed, Traces: 50},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := run(7), run(7)
	if a.Verdict != check.Safety || a.Text() != b.Text() {
		t.Errorf("two runs with one seed differ:\n%s\n%s", a.Text(), b.Text())
	}
}

func TestDepthFirstFindsTheSameStates(t *testing.T) {
	r, err := tla.Run(tla.Spec{
		Module: "testdata/Token.tla", Config: "testdata/Token-sym.cfg", Options: check.Options{Mode: check.DepthFirst},
	})
	if err != nil || r.Verdict != check.Success || r.Distinct != 7 {
		t.Errorf("%v %v", r, err)
	}
}

func TestBoundsAreAVerdict(t *testing.T) {
	for _, o := range []check.Options{{MaxStates: 3}, {Depth: 2}} {
		r, err := tla.Run(tla.Spec{Module: "testdata/Token.tla", Config: "testdata/Token-sym.cfg", Options: o})
		if err != nil || r.Verdict != check.Unfinished {
			t.Errorf("%+v: %v %v", o, r, err)
		}
	}
}

func ExampleRun() {
	r, err := tla.Run(tla.Spec{Module: "testdata/Clock.tla", Config: "testdata/Clock-ok.cfg"})
	if err != nil {
		panic(err)
	}
	fmt.Print(r.Verdict.String() + ", " + strconv.FormatInt(r.Distinct, 10) + " states\n")
	// Output: success, 12 states
}

func TestCheckReportsToTheTest(t *testing.T) {
	r := tla.CheckSpec(t, tla.Spec{Module: "testdata/Clock.tla", Config: "testdata/Clock-ok.cfg"})
	if r.Collision <= 0 || r.Collision > 1e-9 {
		t.Errorf("collision probability %g", r.Collision)
	}
}
