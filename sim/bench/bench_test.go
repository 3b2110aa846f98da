package bench

import (
	"testing"

	"github.com/millrace-dev/millrace/sim"
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
	if err != nil || len(rows) != len(searchPrograms) {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if r.Missed {
			t.Errorf("%+v", r)
		}
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
