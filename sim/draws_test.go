package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// evenly returns what a fair draw among n names gives.
func evenly(names ...string) map[string]int {
	m := map[string]int{}
	for _, n := range names {
		m[n] = chanceRuns / len(names)
	}
	return m
}

// Change points lie anywhere in the execution that was measured, the first and the last choice included, and independently.
func TestPCTChangesAnywhere(t *testing.T) {
	const length = 12
	var o options
	w := &World{opts: &o, limit: 100}
	s := &pct{depth: 3, length: length}
	first, second, equal := map[string]int{}, map[string]int{}, 0
	var names []string
	for i := range length {
		names = append(names, fmt.Sprint(i))
	}
	for seed := range uint64(chanceRuns) {
		if s.begin(w, seed); len(s.change) != 2 {
			t.Fatalf("%d change points for depth 3", len(s.change))
		}
		first[fmt.Sprint(s.change[0])]++
		second[fmt.Sprint(s.change[1])]++
		if s.change[0] == s.change[1] {
			equal++
		}
	}
	alike(t, "first change point", first, evenly(names...))
	alike(t, "second change point", second, evenly(names...))
	alike(t, "both", map[string]int{"equal": equal, "not": chanceRuns - equal}, map[string]int{"equal": chanceRuns / length, "not": chanceRuns - chanceRuns/length})
}

// The length is the number of choices, of tasks and of values, of an execution: points where one task alone can go on are none.
func TestTheMeasuredLengthIsThatOfChoices(t *testing.T) {
	o := newOptions(nil)
	for want, body := range map[int]func(*World){ //order:each is judged alone
		0: func(w *World) {
			for range 20 {
				w.Scheduler().Yield()
			}
		},
		3: func(w *World) {
			for range 3 {
				w.Choose("value", 4)
			}
		},
	} {
		if got := measureLength("length", body, &o); got != want {
			t.Errorf("%d choices, want %d", got, want)
		}
	}
	body := adders(2, 5)
	if got := measureLength("length", body, &o); got < 7 || got > 13 { // of 13 steps, until one of three tasks is left
		t.Errorf("%d choices of two tasks with six steps each", got)
	}
}

// sharedOf runs the measuring execution and names the objects that surw may select, with the operations on each.
func sharedOf(body func(*World)) (names []string) {
	o := newOptions(nil)
	p := measureProfile("shared", body, &o)
	for _, name := range []string{"x", "y", "z", "alone", "read"} {
		h := sched.Hook{ID: 0, Kind: sched.KindAtomic, Name: name}
		var k keys
		for _, s := range p.shared {
			if s.object == k.of(&h) {
				names = append(names, fmt.Sprint(name, "=", s.ops))
			}
		}
	}
	return names
}

// selects is a program with objects of each kind: x and y are shared and written, z is written by one and read by the other, one is used alone, one
// is only read.
func selects(report func(string)) func(*World) {
	return func(w *World) {
		s := w.Scheduler()
		x, y, z := sched.NewInt64(s, "x", 0), sched.NewInt64(s, "y", 0), sched.NewInt64(s, "z", 0)
		alone, read := sched.NewInt64(s, "alone", 0), sched.NewInt64(s, "read", 0)
		log := ""
		w.Go("a", func() {
			for range 2 {
				x.Add(1)
				log += "a"
				alone.Add(1)
				read.Load()
			}
			y.Add(1)
			z.Add(1)
		})
		w.Go("b", func() {
			for range 3 {
				x.Add(1)
				log += "b"
			}
			read.Load()
			y.Add(1)
			z.Load()
		})
		w.Finally(func() { report(log) })
	}
}

// Surw selects among the objects that several tasks use and one of them changes, in proportion to the operations on them.
func TestSURWSelectsSharedObjects(t *testing.T) {
	if got := sharedOf(selects(func(string) {})); !slices.Equal(got, []string{"x=5", "y=2", "z=2"}) {
		t.Errorf("objects to select: %v", got)
	}
	o := newOptions(nil)
	p := measureProfile("shared", selects(func(string) {}), &o)
	got, want := map[string]int{}, map[string]int{}
	r := rng{s: 3}
	for range chanceRuns {
		got[fmt.Sprint(p.draw(&r))]++
	}
	for _, s := range p.shared {
		want[fmt.Sprint(s.object)] = chanceRuns * s.ops / p.total
	}
	alike(t, "selected", got, want)
}

// The orders of the operations on the selected object are equally frequent, whatever else the tasks do.
func TestSURWIsUniformOnTheSelectedObject(t *testing.T) {
	seen := map[string]int{}
	body := func(w *World) {
		s := w.Scheduler()
		x, alone := sched.NewInt64(s, "x", 0), sched.NewInt64(s, "alone", 0)
		log := ""
		w.Go("a", func() {
			for range 2 {
				x.Add(1)
				log += "a"
			}
		})
		w.Go("b", func() {
			for range 9 {
				alone.Add(1)
			}
			w.Go("c", func() { // what a child does weighs with its parent until it is started
				x.Add(1)
				log += "c"
			})
			x.Add(1)
			log += "b"
		})
		w.Finally(func() { seen[log]++ })
	}
	r, err := Explore("uniform", "surw", body, Runs(chanceRuns), Cores(1))
	if err != nil || r.Failure != nil {
		t.Fatal(r.Failure, err)
	}
	alike(t, "surw", seen, evenly("aabc", "abac", "abca", "baac", "baca", "bcaa", "aacb", "acab", "acba", "caab", "caba", "cbaa"))
}

// The portfolio takes each of its members as often.
func TestThePortfolioTakesEachMember(t *testing.T) {
	o := newOptions(nil)
	w := newWorld("portfolio", func(*World) {}, &o)
	defer w.drain()
	s := newPortfolio(measured{length: 3, profile: newProfile()})
	seen := map[string]int{}
	var names []string
	for i, m := range s.members {
		names = append(names, fmt.Sprintf("%d %T", i, m))
	}
	for seed := range uint64(chanceRuns) {
		s.begin(w, derive(1, portfolioName, int(seed)))
		seen[names[slices.Index(s.members, s.now)]]++
	}
	alike(t, "portfolio", seen, evenly(names...))
	if len(names) != 7 {
		t.Errorf("members: %v", names)
	}
}
