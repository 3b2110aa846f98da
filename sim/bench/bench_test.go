package bench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
	"github.com/millrace-dev/millrace/sim/testdata/sct"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestSpeedMeasuresEveryProgram(t *testing.T) {
	n := 0
	rows, err := Speed(1, func(string) { n++ })
	if err != nil || n != len(rows) || n < 11 {
		t.Fatalf("%d rows, %d done, %v", len(rows), n, err)
	}
	for _, r := range rows {
		if r.PerSecond <= 0 || r.Point <= 0 || r.Trips <= 0 || r.Clocks <= 0 || r.Scale <= 0 || r.Spin <= 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestBarsAreJudged(t *testing.T) {
	good := SpeedRow{Trips: 0.8, MaxTrips: 0.9, Clocks: 1.5, MaxClocks: 2, Scale: 1.85, ScaleCPU: 1.85, Spin: 2, MinScale: 1.8}
	busy := good
	busy.Scale, busy.Spin = 0.95, 1.0
	for name, row := range map[string]SpeedRow{"good": good, "busy machine": busy} {
		if row.judge(); row.Missed != "" {
			t.Errorf("%s: %s", name, row.Missed)
		}
	}
	slow, clocks, serial := good, good, good
	slow.Trips, clocks.Clocks, serial.Scale = 0.95, 2.1, 1.5
	for name, row := range map[string]SpeedRow{"slow": slow, "clocks": clocks, "serial": serial} {
		if row.judge(); row.Missed == "" {
			t.Errorf("%s: the bar holds", name)
		}
	}
}

func TestSearchReachesTheOptimum(t *testing.T) {
	rows, err := Search()
	if err != nil || len(rows) != 2*len(programs.Optima) {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		r.MinPerSecond = 0 // a test does not time
		if r.judge(); r.Missed {
			t.Errorf("%+v", r)
		}
	}
	slow := SearchRow{Executions: 6, Optimum: 6, Complete: true, PerSecond: 10, MinPerSecond: 11}
	if slow.judge(); !slow.Missed {
		t.Error("a slow row holds its bar")
	}
	cut := SearchRow{Strategy: optimal, Executions: 6, Optimum: 6, Pruned: 1, Complete: true}
	if cut.judge(); !cut.Missed {
		t.Error("a row of the optimal search that was cut short holds its bar")
	}
}

func TestFindingFindsShallowBugs(t *testing.T) {
	rows, err := Finding(2, 60, func(string) {})
	if err != nil || len(rows) != len(findingPrograms)*len(FindingStrategies()) {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if r.Program == "lost_update" && (r.Found != r.Trials || r.Mean < 1) {
			t.Errorf("%+v", r)
		}
	}
}

// The random walk is the control: where it is about as good as the published one, the program is the same.
func TestSCTProgramsAreAsHardAsPublished(t *testing.T) {
	done := 0
	run := SCTRun{Trials: 1, Limit: 2, Done: func(SCTRow) error { done++; return nil }}
	rows, err := SCT(run)
	if err != nil || len(rows) != len(publishedSCT)*len(SCTStrategies()) || done != len(rows) {
		t.Fatalf("%d rows, %d measured, %v", len(rows), done, err)
	}
	run.Known, run.Program, done = rows[1:], rows[0].Program, 0
	again, err := SCT(run)
	if err != nil || done != 1 || len(again) == 0 || !slices.Equal(again, rows[:len(again)]) {
		t.Fatalf("resumed with all rows but one: %d measured, %+v, %v", done, again, err)
	}
	run.Strategy = "none"
	if _, err := SCT(run); !errors.Is(err, errNoProgram) {
		t.Errorf("a strategy that is none: %v", err)
	}
	compared := 0
	for _, p := range sct.Programs() {
		want := publishedSCT[p.Name][0]
		if want.mean == 0 || want.mean > 500 {
			continue
		}
		row, err := find(p.Name, p.Body, "random", 20, publishedSchedules)
		if err != nil {
			t.Fatal(err)
		}
		r := SCTRow{FindingRow: row, PublishedFound: want.found, PublishedMean: float64(want.mean)}
		if r.judge(); r.Missed != "" {
			t.Errorf("%s: %s", p.Name, r.Missed)
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("only %d programs compared", compared)
	}
}

func TestSCTBarsOfTheStrategies(t *testing.T) {
	bodies := map[string]programs.Body{}
	for _, p := range sct.Programs() {
		bodies[p.Name] = p.Body
	}
	for _, c := range []struct {
		program, strategy string
		most              float64
	}{
		{"CS/reorder_100", "rff", fuzzerMean},
		{"CS/reorder_10", "surw", 60},
		{"CS/twostage_20", "surw", 60},
		{"CS/reorder_20", "urw", 100},
		{"CS/reorder_5", "urw", 100},
		{"CS/twostage", "pos", 60},
		{"CS/twostage", "urw", 30},
	} {
		row, err := find(c.program, bodies[c.program], c.strategy, 10, 1000)
		if err != nil || row.Found < row.Trials || row.Mean > c.most {
			t.Errorf("%+v, %v", row, err)
		}
	}
	good := SCTRow{FindingRow: FindingRow{Program: "p", Strategy: "surw", Trials: 20, Found: 19, Mean: 5, Limit: publishedSchedules}, PublishedFound: 19, PublishedMean: 50}
	walk, worse := good, good
	walk.Strategy, worse.Found = "random", 18
	for want, r := range map[string]*SCTRow{"": &good, "control": &walk, "found": &worse} {
		if r.judge(); (r.Missed == "") != (want == "") || !strings.HasPrefix(r.Missed, want) {
			t.Errorf("%+v, want %q", *r, want)
		}
	}
}

// Every pattern is found within the bound by at least one strategy, with its verdict, and no strategy reports its fixed version.
func TestPatternsAreFoundAndTheirFixesAreNot(t *testing.T) {
	n := 0
	rows, err := Patterns(func(string) { n++ })
	if err != nil || n != len(rows) || n < 20 {
		t.Fatalf("%d patterns, %d done, %v", len(rows), n, err)
	}
	for _, r := range rows {
		if r.Missed != "" || len(r.First) != len(FindingStrategies()) {
			t.Errorf("%+v", r)
		}
	}
}

// What a bar of patterns is about misses it: a bug that nobody finds, another verdict, and a fixed version that is reported.
func TestPatternBarsAreJudged(t *testing.T) {
	fine := func(*sim.World) {}
	fails := func(w *sim.World) { w.Require(false, "x", "it fails") }
	for _, c := range []struct {
		p    programs.Pattern
		want string
	}{
		{programs.Pattern{Verdict: "assertion x", Bug: fails, Fixed: fine}, ""},
		{programs.Pattern{Verdict: "assertion x", Bug: fine, Fixed: fine}, "not found within 1000 schedules"},
		{programs.Pattern{Verdict: "race x", Bug: fails, Fixed: fine}, "rff finds assertion x, want race x"},
		{programs.Pattern{Verdict: "assertion x", Bug: fails, Fixed: fails}, "rff reports the fixed version: assertion x"},
	} {
		if row, err := pattern(c.p); err != nil || row.Missed != c.want {
			t.Errorf("%q, want %q, %v", row.Missed, c.want, err)
		}
	}
}
