package sim

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var (
	generatedPrograms = flag.Int("generated", 4, "generated programs of each family that the search is compared on")
	generatedSeed     = flag.Uint64("generated-seed", 1, "seed of the generated programs")
)

// plainLimit bounds the plain enumeration of a program that is compared.
const plainLimit = 4000

// enumeration is what one kind of exploration saw of a program.
type enumeration struct {
	outcomes   map[string]int
	executions int
	pruned     int
	complete   bool
	traces     map[string]int // Mazurkiewicz traces, by their normal form
	cut        bool           // a verdict ended an execution before its tasks
}

// enumerate runs a search to its end, also past failures: with sleep sets, or plainly.
func enumerate(p genProgram, plain bool, limit int, opts ...Option) enumeration {
	return enumerateBy(&search{plain: plain}, p, limit, opts...)
}

func enumerateBy(s judged, p genProgram, limit int, opts ...Option) enumeration {
	o := newOptions(append(opts, Steps(400)))
	var current *genWorld
	w := newWorld("generated", p.body(&current), &o)
	defer w.drain()
	r := enumeration{outcomes: map[string]int{}, traces: map[string]int{}}
	more, begun := true, 0
	drive(w, func() bool {
		if more && r.executions+r.pruned < limit {
			w.reset(s, 0)
			return true
		}
		return false
	}, func() {
		if w.pruned {
			r.pruned++
		} else {
			r.executions++
			r.outcomes[current.outcome(w)]++
		}
		steps := s.steps(w)
		if !w.pruned {
			r.traces[normalForm(steps)]++
		}
		r.cut = r.cut || w.failed && w.verdict.kind != "deadlock"
		more = s.advance(w)
		if d, ok := s.(*dpor); ok && d.begun > begun {
			begun = d.begun
			r = enumeration{outcomes: map[string]int{}, traces: map[string]int{}}
		}
		r.complete = !more
	})
	return r
}

// judged is a search that shows what it did.
type judged interface {
	explorer
	// steps returns the steps of the execution that has just ended. Where a verdict ended it, it makes the last one conflict with all others: a
	// search ends there, this one goes on, and what would have come is unknown.
	steps(w *World) []foataStep
}

type foataStep struct {
	task  int32
	level int
	foot  footprint
	label string
}

func (s *search) steps(w *World) []foataStep {
	last := s.last
	s.finishStep(w)
	var steps []foataStep
	for _, p := range s.stack[:s.pos] {
		switch {
		case p.chosen < 0 && !p.data: // cut short
		case !p.data:
			steps = append(steps, foataStep{task: p.tasks[p.chosen], foot: p.step})
		case len(steps) > 0:
			steps[len(steps)-1].label += fmt.Sprint("=", p.value)
		}
	}
	if w.failed {
		for _, o := range w.objects {
			w.touchMode(o, modeWrite)
		}
		last.foot = last.foot.union(w.foot)
		w.foot = w.foot[:0]
	}
	return steps
}

func (s *dpor) steps(w *World) []foataStep {
	last := s.now
	s.finish(w)
	var steps []foataStep
	for _, m := range s.path[1:s.pos] {
		if m.idle {
			continue
		}
		x := foataStep{task: m.task, foot: append(footprint{}, m.foot...)}
		for _, d := range m.draws {
			x.label += fmt.Sprint("=", d.value)
		}
		steps = append(steps, x)
	}
	if w.failed && w.verdict.kind != "deadlock" && w.verdict.kind != "leak" {
		last.total = true
		for _, o := range w.objects {
			w.touchMode(o, modeWrite)
		}
		last.all = last.all.union(w.foot)
		w.foot = w.foot[:0]
	}
	return steps
}

// normalForm is Foata's: every step on the lowest level above all earlier steps that it depends on. Two executions are the same
// trace exactly when their normal forms are equal. Steps of the clock that no task's later step depends on are left out: an execution that
// ends without them is as complete, and which of the two a search visits depends on what it tries first.
func normalForm(steps []foataStep) string {
	steps = withoutTrailing(steps)
	for i := range steps {
		x := &steps[i]
		for _, before := range steps[:i] {
			if before.level >= x.level && (before.task == x.task || before.foot.conflicts(x.foot)) {
				x.level = before.level + 1
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b foataStep) int { return cmp.Or(a.level-b.level, int(a.task-b.task)) })
	var b strings.Builder
	for _, x := range steps {
		fmt.Fprintf(&b, "%d:%d%s ", x.level, x.task, x.label)
	}
	return b.String()
}

// withoutTrailing leaves those steps of the clock out.
func withoutTrailing(steps []foataStep) []foataStep {
	var kept []foataStep
	for i := len(steps) - 1; i >= 0; i-- {
		x := &steps[i]
		if x.task >= 0 || slices.ContainsFunc(kept, func(later foataStep) bool { return later.task == x.task || later.foot.conflicts(x.foot) }) {
			kept = append(kept, *x)
		}
	}
	slices.Reverse(kept)
	return kept
}

// sample runs random executions.
func sample(p genProgram, runs int, opts ...Option) enumeration {
	o := newOptions(append(opts, Steps(400)))
	var current *genWorld
	w := newWorld("generated", p.body(&current), &o)
	defer w.drain()
	r := enumeration{outcomes: map[string]int{}}
	walk := &randomWalk{}
	drive(w, func() bool {
		if r.executions == runs {
			return false
		}
		w.reset(walk, derive(7, "sample", r.executions))
		return true
	}, func() {
		r.executions++
		r.outcomes[current.outcome(w)]++
	})
	return r
}

// compareSearch checks one program: the search sees exactly the outcomes of the plain enumeration, and random executions see no
// others. It reports false when the plain enumeration is too large to be the judge.
func compareSearch(t *testing.T, p genProgram, opts ...Option) bool {
	t.Helper()
	brute := enumerate(p, true, plainLimit, opts...)
	if !brute.complete {
		return false
	}
	compareWith(t, p, brute, "dfs", &search{}, opts...)
	compareWith(t, p, brute, "dpor", &dpor{}, opts...)
	for _, o := range slices.Sorted(maps.Keys(sample(p, 200, opts...).outcomes)) {
		if brute.outcomes[o] == 0 {
			t.Errorf("random executions see what the enumeration does not:\n  %s\nof\n%s", o, p)
		}
	}
	return true
}

// compareWith checks one search of a program.
func compareWith(t *testing.T, p genProgram, brute enumeration, name string, s judged, opts ...Option) enumeration {
	t.Helper()
	reduced := enumerateBy(s, p, plainLimit, opts...)
	if !reduced.complete || reduced.executions > brute.executions {
		t.Errorf("%s: %d executions, complete %t; the plain enumeration needs %d\n%s", name, reduced.executions, reduced.complete, brute.executions, p)
	}
	for _, o := range slices.Sorted(maps.Keys(brute.outcomes)) {
		if reduced.outcomes[o] == 0 {
			t.Errorf("%s (%d executions, %d pruned, %d plain) misses\n  %s\nof\n%s", name, reduced.executions, reduced.pruned, brute.executions, o, p)
		}
	}
	for _, o := range slices.Sorted(maps.Keys(reduced.outcomes)) {
		if brute.outcomes[o] == 0 {
			t.Errorf("%s sees what the plain enumeration does not:\n  %s\nof\n%s", name, o, p)
		}
	}
	return reduced
}

// The judge of the search with sleep sets is a search without them, over generated programs from every family of primitives.
func TestSearchSeesEveryOutcome(t *testing.T) {
	all := slices.Sorted(maps.Keys(genFamilies))
	for _, family := range append(all, "mixed", "crash", "early") {
		t.Run(family, func(t *testing.T) {
			r := rng{s: derive(*generatedSeed, family, 0)}
			families, crash := []string{family}, false
			var opts []Option
			switch family {
			case "mixed":
				families = all
			case "crash":
				families, crash = all, true
			case "early":
				families, opts = []string{"time"}, []Option{EarlyTimeouts()}
			}
			compared := 0
			for i := 0; compared < *generatedPrograms && i < 8**generatedPrograms; i++ {
				if compareSearch(t, generate(&r, families, crash), opts...) {
					compared++
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d programs compared", compared)
			if compared < *generatedPrograms {
				t.Errorf("only %d programs were small enough to compare", compared)
			}
		})
	}
}

// One complete execution for each Mazurkiewicz trace: neither a trace twice nor one that the plain enumeration does not
// have. dpor cuts none of these short. Time is left out, where a step fires timers exactly when nothing else can go on.
func TestSearchVisitsEachGeneratedTraceOnce(t *testing.T) {
	for _, family := range []string{"atomic", "mutex", "rwmutex", "buffered", "rendezvous", "select", "semaphore", "notify", "cond", "values", "group", "scope", "mixed"} {
		t.Run(family, func(t *testing.T) {
			r := rng{s: derive(*generatedSeed, family, 1)}
			families := []string{family}
			if family == "mixed" {
				families = []string{"atomic", "mutex", "buffered", "rendezvous", "select", "semaphore", "cond", "group"}
			}
			compared := 0
			for i := 0; compared < *generatedPrograms && i < 20**generatedPrograms; i++ {
				p := generate(&r, families, false)
				plain := enumerate(p, true, plainLimit)
				if !plain.complete || plain.cut {
					continue
				}
				compared++
				s := &dpor{}
				if r := enumerateBy(s, p, plainLimit); r.executions != len(plain.traces) || len(r.traces) != len(plain.traces) || r.pruned > 0 || s.strays > 0 {
					t.Errorf("dpor: %d executions of %d traces; there are %d; %d cut short, %d astray\n%s", r.executions, len(r.traces), len(plain.traces),
						r.pruned, s.strays, p)
				}
				found := enumerate(p, false, plainLimit)
				if found.executions != len(plain.traces) || len(found.traces) != len(plain.traces) {
					t.Errorf("%d executions of %d traces; there are %d traces in %d plain executions\n%s", found.executions, len(found.traces),
						len(plain.traces), plain.executions, p)
				}
			}
			if compared < *generatedPrograms {
				t.Errorf("only %d programs were small enough to compare", compared)
			}
		})
	}
}
