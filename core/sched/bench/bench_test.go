package bench

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Both sides of a pair do the same: their results are equal where they do not depend on who comes first.
func TestPairsDoTheSame(t *testing.T) {
	differ := map[string]bool{"random": true, "now": true, "publish and observe, two tasks": true, "write-once get": true, "treiber stack, two tasks": true}
	for _, p := range Pairs() {
		a, b := p.Bare()(100), p.Ours()(100)
		if a != b && !differ[p.Name] {
			t.Errorf("%s: %d on bare primitives, %d on ours", p.Name, a, b)
		}
	}
}

func TestMeasureFindsTheSlowerSideAndTheMissedBar(t *testing.T) {
	slow := func() Loop {
		f := bareAdd()
		return func(n int) uint64 { return f(3 * n) }
	}
	r := Measure(Pair{Name: "x", Bare: bareAdd, Ours: slow, MaxRatio: 1.5}, 21)
	if r.Ratio < 1.5 || !r.Missed || r.Extra <= 0 || r.Rounds != 21 {
		t.Errorf("three times the work: %+v", r)
	}
	r = Measure(Pair{Name: "x", Bare: slow, Ours: bareAdd, MaxRatio: 1.5, MaxExtra: 0.1}, 21)
	if r.Ratio > 0.8 || r.Missed {
		t.Errorf("a third of the work: %+v", r)
	}
}
