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
	p := Pair{Name: "x", Bare: bareAdd, Ours: slow, MaxRatio: 1.5}
	r := p.Judge(Measure(p, 21))
	if r.Ratio < 1.5 || !r.Missed || r.Extra <= 0 || r.Rounds != 21 {
		t.Errorf("three times the work: %+v", r)
	}
	p = Pair{Name: "x", Bare: slow, Ours: bareAdd, MaxRatio: 1.5, MaxExtra: 0.1}
	r = p.Judge(Measure(p, 21))
	if r.Ratio > 0.8 || r.Missed {
		t.Errorf("a third of the work: %+v", r)
	}
}

// A layout that is unlucky for one side does not decide alone: the median is over the rounds of every program.
func TestRoundsOfSeveralProgramsAreJudgedTogether(t *testing.T) {
	p := Pair{Name: "x", MaxRatio: 1.05}
	all := Samples{Name: "x"}
	for _, ours := range []float64{10, 13, 10} {
		all.Add(Samples{Name: "x", Bare: []float64{10, 10}, Ours: []float64{ours, ours}})
	}
	if r := p.Judge(all); r.Rounds != 6 || r.Ratio != 1 || r.Missed {
		t.Errorf("one slow layout of three: %+v", r)
	}
	all.Add(Samples{Name: "x", Bare: []float64{10, 10, 10, 10}, Ours: []float64{13, 13, 13, 13}})
	if r := p.Judge(all); r.Ratio != 1.3 || !r.Missed {
		t.Errorf("more slow rounds than others: %+v", r)
	}
}
