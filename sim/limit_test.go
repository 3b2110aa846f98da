package sim

import (
	"slices"
	"testing"
	"time"
)

// limitOps are what a deadline of a scope meets.
func limitOps() []genOp {
	ops := []genOp{
		{"limit", func(e *genWorld, _ int) string { e.scope.ChildTimeout("one", time.Second); return "" }},
		{"wait in limit", func(e *genWorld, _ int) string { return show(e.note.Wait(e.scope.ChildTimeout("one", time.Second))) }},
		{"wait below limit", func(e *genWorld, _ int) string {
			return show(e.note.Wait(e.scope.ChildTimeout("one", time.Second).Child("b")))
		}},
	}
	for _, op := range genFamilies["time"] {
		if slices.Contains([]string{"sleep 1", "timer", "fire", "now", "one", "cancel"}, op.name) {
			ops = append(ops, op)
		}
	}
	// Closing ends a limit, too: what the clock, or the end of the scope above, did before decides what that disarms.
	return append(ops, genOp{"limited", func(e *genWorld, _ int) string {
		k := e.scope.ChildTimeout("one", time.Second)
		err := k.Err()
		k.Close()
		return show(err)
	}})
}

// compareEarly holds the traces that dpor visits against those of dfs.
func compareEarly(t *testing.T, p genProgram) bool {
	t.Helper()
	found := enumerate(p, false, 1000, EarlyTimeouts())
	if !found.complete || found.cut {
		return false
	}
	s := &dpor{}
	optimal := enumerateBy(s, p, plainLimit, EarlyTimeouts())
	missed := 0
	for x := range found.traces {
		if optimal.traces[x] == 0 {
			missed++
		}
	}
	if missed > 0 || len(optimal.traces) != len(found.traces) || !optimal.complete || s.strays > 0 {
		t.Errorf("dpor: %d traces, %d missed, %d astray; dfs: %d\n%s", len(optimal.traces), missed, s.strays, len(found.traces), p)
	}
	return true
}

// The clock's step that was never taken would have ended a scope: that races with what ends it otherwise, and so does what stops its timer.
func TestOptimalSearchSeesEarlyDeadlines(t *testing.T) {
	ops := limitOps()
	for _, text := range []string{
		"cancel/limit",
		"fire; limited/fire",
		"limited/limited",
		"limited/cancel",
	} {
		if p := programOf(t, text, ops...); !compareEarly(t, p) {
			t.Errorf("too large:\n%s", p)
		}
	}
	r := rng{s: derive(*generatedSeed, "limit", 0)}
	compared := 0
	for i := 0; compared < 10**generatedPrograms && i < 80**generatedPrograms; i++ {
		p := genProgram{tasks: make([][]genOp, 2+r.below(2))}
		for k := range p.tasks {
			for range 1 + r.below(2) {
				p.tasks[k] = append(p.tasks[k], ops[r.below(len(ops))])
			}
		}
		if compareEarly(t, p) {
			compared++
		}
	}
	t.Logf("%d programs compared", compared)
}
