package sim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// litmus runs two sides to their ends over x and y and reports what they read.
func litmus(left, right func(x, y *sched.Uint64) string) func(*sim.World, func(string, ...any)) {
	return func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		x, y := sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)
		var a, b string
		w.Go("left", func() { a = left(&x, &y) })
		w.Go("right", func() { b = right(&x, &y) })
		w.Join()
		report("%s %s, x %d y %d", a, b, x.Load(), y.Load())
	}
}

func bits(values ...uint64) string {
	text := ""
	for _, v := range values {
		text += string(rune('0' + v))
	}
	return text
}

// The classic shapes: what each may show when stores are delayed, and what only then.
func TestDelayedStores(t *testing.T) {
	for _, c := range []struct {
		name        string
		left, right func(x, y *sched.Uint64) string
		always      []string // also under sequential consistency
		delayed     []string // only when stores are delayed
	}{
		{"store buffering", func(x, y *sched.Uint64) string {
			x.Store(1)
			return bits(y.Load())
		}, func(x, y *sched.Uint64) string {
			y.Store(1)
			return bits(x.Load())
		}, []string{"0 1, x 1 y 1", "1 0, x 1 y 1", "1 1, x 1 y 1"}, []string{"0 0, x 1 y 1"}},
		{"store buffering with fences", func(x, y *sched.Uint64) string {
			x.Swap(1)
			return bits(y.Load())
		}, func(x, y *sched.Uint64) string {
			y.Store(1)
			y.Add(0)
			return bits(x.Load())
		}, []string{"0 1, x 1 y 1", "1 0, x 1 y 1", "1 1, x 1 y 1"}, nil},
		{"one fence is too few", func(x, y *sched.Uint64) string {
			x.Swap(1)
			return bits(y.Load())
		}, func(x, y *sched.Uint64) string {
			y.Store(1)
			return bits(x.Load())
		}, []string{"0 1, x 1 y 1", "1 0, x 1 y 1", "1 1, x 1 y 1"}, []string{"0 0, x 1 y 1"}},
		{
			"message passing", func(x, y *sched.Uint64) string {
				x.Store(1)
				y.Store(1)
				return ""
			}, func(x, y *sched.Uint64) string { return bits(y.Load(), x.Load()) },
			[]string{" 00, x 1 y 1", " 01, x 1 y 1", " 11, x 1 y 1"},
			nil,
		},
		{"load buffering", func(x, y *sched.Uint64) string {
			a := y.Load()
			x.Store(1)
			return bits(a)
		}, func(x, y *sched.Uint64) string {
			b := x.Load()
			y.Store(1)
			return bits(b)
		}, []string{"0 0, x 1 y 1", "0 1, x 1 y 1", "1 0, x 1 y 1"}, nil},
		{"own stores are seen", func(x, y *sched.Uint64) string {
			x.Store(1)
			x.Store(2)
			return bits(x.Load(), y.Load())
		}, func(x, y *sched.Uint64) string {
			y.Store(1)
			return bits(y.Load(), x.Load())
		}, []string{"20 12, x 2 y 1", "21 10, x 2 y 1", "21 11, x 2 y 1", "21 12, x 2 y 1"}, []string{"20 10, x 2 y 1", "20 11, x 2 y 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantOutcomes(t, outcomes(t, litmus(c.left, c.right)), c.always...)
			wantOutcomes(t, outcomes(t, litmus(c.left, c.right), sim.TSO()), append(c.always, c.delayed...)...)
		})
	}
}

// Every kind of atomic delays its stores, and undoes nothing when its task reads them.
func TestEveryAtomicDelaysItsStores(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		one := 1
		flag, small, unsigned := sched.NewBool(s, "flag", false), sched.NewInt32(s, "small", 0), sched.NewUint32(s, "unsigned", 0)
		wide, pointer, shown := sched.NewInt64(s, "wide", 0), sched.NewPointer[int](s, "pointer", nil), sched.NewPublication(s, "shown", &one)
		w.Go("writer", func() {
			two := 2
			flag.Store(true)
			small.Store(-1)
			unsigned.Store(3)
			wide.Store(-4)
			pointer.Store(&two)
			shown.Publish(&two)
			w.Require(flag.Load() && small.Load() == -1 && unsigned.Load() == 3 && wide.Load() == -4 &&
				*pointer.Load() == 2 && *shown.Observe() == 2, "own", "a task does not see its own stores")
			seen := flag.Peek() || small.Peek() != 0 || unsigned.Peek() != 0 || wide.Peek() != 0 || pointer.Peek() != nil || *shown.Peek() != 1
			report("something reached memory: %t", seen)
		})
		w.Finally(func() {
			w.Require(flag.Peek() && small.Peek() == -1 && unsigned.Peek() == 3 && wide.Peek() == -4 && pointer.Peek() != nil && *shown.Peek() == 2,
				"end", "a store was lost")
		})
	}, sim.TSO())
	wantOutcomes(t, got, "something reached memory: false", "something reached memory: true")
}

// Locks, channels and the end of a task order what was stored before.
func TestWhatWaitsForStores(t *testing.T) {
	for name, hand := range map[string]func(w *sim.World) (func(), func()){
		"channel": func(w *sim.World) (func(), func()) {
			c := sched.NewChan[int](w.Scheduler(), "c", 0)
			return func() { c.Send(1) }, func() { c.Receive() }
		},
		"notify": func(w *sim.World) (func(), func()) {
			n := sched.NewNotify(w.Scheduler(), "n")
			return n.One, func() { w.NoError(n.Wait(nil)) }
		},
		"end of a task": func(w *sim.World) (func(), func()) {
			g := sched.NewWaitGroup(w.Scheduler(), "g")
			g.Add(1)
			return g.Done, g.Wait
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range []string{"random", "pct3"} {
				r, err := sim.Explore("order", strategy, func(w *sim.World) {
					x := sched.NewUint64(w.Scheduler(), "x", 0)
					release, acquire := hand(w)
					w.Go("writer", func() {
						x.Store(1)
						release()
					})
					w.Go("reader", func() {
						acquire()
						w.Require(x.Load() == 1, "x", "the store is not seen")
					})
				}, sim.TSO(), sim.Runs(200))
				if err != nil || r.Failure != nil {
					t.Fatalf("%s: %+v, %v", strategy, r.Failure, err)
				}
			}
		})
	}
}

// dekker lets each side in that has raised its flag and sees the other's down. Two get in only where stores are delayed.
func dekker(w *sim.World) {
	s := w.Scheduler()
	x, y := sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)
	inside := sched.NewCell(s, "inside", 0)
	enter := func(mine, other *sched.Uint64) func() {
		return func() {
			mine.Store(1)
			if other.Load() == 0 {
				*inside.Edit()++
			}
		}
	}
	w.Go("left", enter(&x, &y))
	w.Go("right", enter(&y, &x))
}

// A failure that needs a delayed store is found with delays, and not without. TestSchedulesReplayInAFreshProcess replays it.
func TestOnlyDelayedStoresLetTwoIn(t *testing.T) {
	for _, strategy := range []string{"random", "pos", "pct3", "dfs", "dpor"} {
		r, err := sim.Explore("dekker", strategy, dekker, sim.TSO(), sim.Runs(200))
		if err != nil || r.Failure == nil || r.Failure.Verdict() != "race inside" {
			t.Errorf("%s: %+v, %v", strategy, r.Failure, err)
		}
		if r, err := sim.Explore("dekker", strategy, dekker, sim.Runs(200)); err != nil || r.Failure != nil {
			t.Errorf("%s without delays: %+v, %v", strategy, r.Failure, err)
		}
	}
}

// What a task has stored happens before it starts another task of the check, and before it has waited for one.
func TestStoresHappenBeforeTasksStartAndEnd(t *testing.T) {
	r, err := sim.Explore("tso/start", "random", func(w *sim.World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		x.Store(1)
		w.Go("started", func() {
			w.Require(x.Load() == 1, "start", "x is %d", x.Load())
			x.Store(2)
		})
		w.Join()
		w.Require(x.Load() == 2, "end", "x is %d", x.Load())
	}, sim.TSO(), sim.Runs(200))
	if err != nil || r.Failure != nil {
		t.Errorf("%+v, %v", r.Failure, err)
	}
}
