package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Of programs that rapid draws over selects, timers, wait groups, scopes, conditions and what they meet, both searches complete each Mazurkiewicz
// trace once; with a bound dpor visits none twice, and none that the others do not have. Of a thousand executions dpor cuts at most one short.
func TestSearchesAgreeOnDrawnPrograms(t *testing.T) {
	families := []string{"select", "time", "group", "scope", "cond", "rendezvous", "buffered", "semaphore", "notify"}
	executions, pruned := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram(t, families)
		found := enumerate(p, false, plainLimit)
		if !found.complete || found.cut {
			return // too large, or it ends in another way than with its tasks
		}
		s := &dpor{}
		optimal := enumerateBy(s, p, plainLimit)
		if s.strays > 0 || !optimal.complete || optimal.executions != found.executions {
			t.Fatalf("dpor: %d executions, %d astray, complete %t; dfs: %d\n%s", optimal.executions, s.strays, optimal.complete, found.executions, p)
		}
		executions, pruned = executions+optimal.executions, pruned+optimal.pruned
		bounded := enumerateBy(&dpor{preemptionBound: preemptionBound{bounded: true, bound: 1}}, p, plainLimit)
		for x := range bounded.traces {
			if optimal.traces[x] == 0 || bounded.traces[x] > 1 {
				t.Fatalf("with a bound dpor visits %q %d times, without %d\n%s", x, bounded.traces[x], optimal.traces[x], p)
			}
		}
		plain := enumerate(p, true, plainLimit)
		if plain.complete && !p.timed() && (len(plain.traces) != optimal.executions || len(optimal.traces) != optimal.executions) {
			t.Fatalf("%d executions of %d traces; there are %d\n%s", optimal.executions, len(optimal.traces), len(plain.traces), p)
		}
	})
	t.Logf("%d executions, %d cut short", executions, pruned)
	if 1000*pruned > executions {
		t.Errorf("%d of %d executions were cut short", pruned, executions)
	}
}

// drawProgram draws two or three tasks of up to three operations of two families.
func drawProgram(t *rapid.T, families []string) genProgram {
	pool := slices.Concat(genFamilies[rapid.SampledFrom(families).Draw(t, "family")], genFamilies[rapid.SampledFrom(families).Draw(t, "other family")])
	tasks := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, len(pool)-1), 1, 3), 2, 3).Draw(t, "tasks")
	p := genProgram{}
	for _, indices := range tasks {
		var ops []genOp
		for _, i := range indices {
			ops = append(ops, pool[i])
		}
		p.tasks = append(p.tasks, ops)
	}
	return p
}

// timed reports whether timers may fire: a step fires them exactly when nothing else can go on, which no normal form tells.
func (p genProgram) timed() bool {
	for _, ops := range p.tasks {
		for _, op := range ops {
			if slices.Contains([]string{"sleep 1", "sleep 2", "timeout", "timer"}, op.name) {
				return true
			}
		}
	}
	return false
}
