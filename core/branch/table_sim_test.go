package branch_test

import (
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// state is the runtime of a branch in these checks. Its works are a Cell: two that overlap are a race.
type state struct {
	works sched.Cell[[]int]
	ended bool
}

type (
	lane  = branch.Lane[*state, int]
	table = branch.Table[*state, int]
)

// group is a table whose branches record their works.
type group struct {
	w      *sim.World
	table  *table
	opened map[string]int
	// does runs in the middle of a work.
	does    func(l *lane, st *state, work int)
	done    map[string][]int
	dropped map[string][]int
	ended   []string // branches
}

func newGroup(w *sim.World, opts branch.Options, workers int) *group {
	return newGroupWithin(w, w.Scope(), opts, workers)
}

// newGroupWithin is newGroup with workers that leave when scope ends.
func newGroupWithin(w *sim.World, scope *sched.Scope, opts branch.Options, workers int) *group {
	g := &group{w: w, opened: map[string]int{}, done: map[string][]int{}, dropped: map[string][]int{}}
	g.table = branch.NewTable(w.Scheduler(), "table", opts, branch.Plan[*state, int]{
		Open: func(_ *sched.Scope, l *lane) *state {
			g.opened[l.Key()]++
			return &state{works: sched.NewCell[[]int](w.Scheduler(), "works", nil)}
		},
		Run: g.run,
		Drop: func(l *lane, _ *state, work int, cause error) {
			w.Require(cause != nil, "E1.I5", "work %d of %s is dropped for no reason", work, l.Key())
			g.dropped[l.Key()] = append(g.dropped[l.Key()], work)
		},
		End: func(key string, st *state) {
			st.ended = true
			g.ended = append(g.ended, key)
			g.done[key] = append(g.done[key], *st.works.View()...)
		},
	})
	w.Own(g.table)
	for range workers {
		w.Go("worker", func() { g.table.Work(scope) })
	}
	return g
}

func (g *group) run(_ *sched.Scope, l *lane, st *state, work int) {
	g.w.Require(!st.ended, "E1.I4", "work %d of %s on a runtime that was taken", work, l.Key())
	before := *st.works.View()
	g.w.Scheduler().Yield()
	*st.works.Edit() = append(before, work)
	if g.does != nil {
		g.does(l, st, work)
	}
}

func (g *group) admit(key string, work int) {
	g.w.NoError(g.table.Admit(g.w.Scope(), key, work))
}

// finish closes the table and requires that each branch did the works 1 to n of it in their order.
func (g *group) finish(n map[string]int) {
	g.w.NoError(g.table.Close(g.w.Scope()))
	for key, count := range n {
		works := g.done[key]
		g.w.Require(len(works) == count, "E1.I1", "branch %s did %v, want %d works", key, works, count)
		for i, work := range works {
			g.w.Require(work == i+1, "E1.I1", "branch %s did %v", key, works)
		}
	}
}

// Two workers, two branches: each branch does one work at a time, in order.
func TestSimE1OneWorkAtATime(t *testing.T) {
	sim.Check(t, "E1/one-work-at-a-time", func(w *sim.World) {
		g := newGroup(w, branch.Options{Max: 2, Queue: 2}, 2)
		for i := 1; i <= 3; i++ {
			g.admit("a", i)
			g.admit("b", i)
		}
		g.finish(map[string]int{"a": 3, "b": 3})
	})
}

// There is room for one branch and there is work for three in turn. A branch ends only when its work is done, its
// successor begins with a runtime of its own, and no work is lost.
func TestSimE1EvictionTakesIdleBranches(t *testing.T) {
	sim.Check(t, "E1/eviction-takes-idle-branches", func(w *sim.World) {
		g := newGroup(w, branch.Options{Max: 1, Queue: 2}, 2)
		g.admit("a", 1)
		g.admit("a", 2)
		g.admit("b", 1)
		g.admit("a", 3)
		g.finish(map[string]int{"a": 3, "b": 1})
		w.Require(g.opened["a"] == 2, "E1.I2", "branch a was opened %d times", g.opened["a"])
	})
}

// A work leaves something under way that comes back later. The branch stays until then, so that it finds its
// runtime.
func TestSimE1HeldBranchStays(t *testing.T) {
	sim.Check(t, "E1/held-branch-stays", func(w *sim.World) {
		g := newGroup(w, branch.Options{Max: 1, Queue: 2, TTL: time.Second}, 1)
		var began *state
		g.does = func(l *lane, st *state, work int) {
			switch {
			case l.Key() == "a" && work == 1:
				began = st
				l.Hold()
				w.Go("outside", func() { l.Complete(2) })
			case l.Key() == "a":
				w.Require(st == began, "E1.I2", "what comes back finds another runtime")
			}
		}
		g.admit("a", 1)
		g.table.Sweep()
		g.admit("b", 1)
		g.finish(map[string]int{"a": 2, "b": 1})
	})
}

// A branch waits for another one: with a worker for each, it gets what it waits for.
func TestSimE1BranchesAreIndependent(t *testing.T) {
	sim.Check(t, "E1/branches-are-independent", func(w *sim.World) {
		g := newGroup(w, branch.Options{Max: 2, Queue: 1}, 2)
		other := sched.NewNotify(w.Scheduler(), "b ran")
		g.does = func(l *lane, _ *state, _ int) {
			if l.Key() == "b" {
				other.One()
				return
			}
			w.NoError(other.Wait(w.Scope()))
		}
		g.admit("a", 1)
		g.admit("b", 1)
		g.finish(map[string]int{"a": 1, "b": 1})
	})
}

// Time is virtual: a branch ends when it was idle for the ttl, not before, and the newer one stays.
func TestSimE1IdleBranchEndsByTime(t *testing.T) {
	sim.Check(t, "E1/idle-branch-ends-by-time", func(w *sim.World) {
		s, g := w.Scheduler(), newGroup(w, branch.Options{Max: 3, Queue: 1, TTL: 10 * time.Second}, 1)
		start := s.Now()
		g.admit("a", 1)
		w.NoError(s.Sleep(w.Scope(), "pause", 4*time.Second))
		g.admit("b", 1)
		w.NoError(s.Sleep(w.Scope(), "pause", 5*time.Second))
		next, ok := g.table.Sweep()
		w.Require(ok && g.table.Len() == 2 && next.Equal(start.Add(10*time.Second)), "E1.ttl",
			"%d branches after 9s, next due %v", g.table.Len(), next.Sub(start))
		w.NoError(s.Sleep(w.Scope(), "pause", time.Second))
		next, ok = g.table.Sweep()
		w.Require(ok && g.table.Len() == 1 && next.Equal(start.Add(14*time.Second)), "E1.ttl",
			"%d branches after 10s, next due %v", g.table.Len(), next.Sub(start))
		g.finish(map[string]int{"a": 1, "b": 1})
	})
}

// The workers' scope ends while works are queued, come back from outside, and are still admitted. Each work that got in is run
// or dropped, once: nobody waits for one that is neither.
func TestSimE1EndOfScopeDropsWhatWaits(t *testing.T) {
	sim.Check(t, "E1/end-of-scope-drops-what-waits", func(w *sim.World) {
		scope := w.Scheduler().NewScope("workers")
		g := newGroupWithin(w, scope, branch.Options{Max: 2, Queue: 4}, 2)
		ran := map[string][]int{}
		g.does = func(l *lane, _ *state, work int) {
			ran[l.Key()] = append(ran[l.Key()], work)
			if work == 1 {
				l.Hold()
				w.Go("outside", func() { l.Complete(100) })
			}
		}
		w.Go("power", func() { scope.Cancel(errStop) })
		for i := 1; i <= 3; i++ {
			g.admit("a", i)
			g.admit("b", i)
		}
		w.Finally(func() {
			for _, key := range []string{"a", "b"} {
				want := []int{1, 2, 3}
				if slices.Contains(ran[key], 1) {
					want = append(want, 100)
				}
				got := append(slices.Clone(ran[key]), g.dropped[key]...)
				slices.Sort(got)
				w.Require(slices.Equal(got, want), "E1.I5", "branch %s ran %v and dropped %v", key, ran[key], g.dropped[key])
			}
		})
	}, sim.Runs(300))
}

// One branch must make room for another while its only work runs: every order of their steps.
func TestExhaustE1WorkOrEvict(t *testing.T) {
	sim.Exhaust(t, "E1/work-or-evict", func(w *sim.World) {
		g := newGroup(w, branch.Options{Max: 1, Queue: 1}, 1)
		g.admit("a", 1)
		g.admit("b", 1)
		g.finish(map[string]int{"a": 1, "b": 1})
	})
}

// The only worker leaves while the only work comes in: every order of their steps.
func TestExhaustE1WorkOrEnd(t *testing.T) {
	sim.Exhaust(t, "E1/work-or-end", func(w *sim.World) {
		scope := w.Scheduler().NewScope("workers")
		g := newGroupWithin(w, scope, branch.Options{Max: 1, Queue: 1}, 1)
		ran := sched.NewCell(w.Scheduler(), "ran", 0)
		g.does = func(*lane, *state, int) { *ran.Edit()++ }
		w.Go("power", func() { scope.Cancel(errStop) })
		g.admit("a", 1)
		w.Finally(func() {
			w.Require(*ran.Peek()+len(g.dropped["a"]) == 1, "E1.I5", "the work ran %d times and was dropped %v", *ran.Peek(), g.dropped["a"])
		})
	})
}
