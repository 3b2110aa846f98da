package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// polite is two tasks that give way to each other, for ever if they keep step. With a tie-break the first insists, and the second
// waits until it was let in.
func polite(tieBreak bool) func(w *sim.World) {
	return func(w *sim.World) {
		s := w.Scheduler()
		wants := [2]sched.Bool{sched.NewBool(s, "first wants", false), sched.NewBool(s, "second wants", false)}
		inside := sched.NewInt64(s, "inside", 0)
		w.Eventually("both-enter", func() bool { return inside.Peek() == 2 }, &wants, &inside)
		for i := range wants {
			mine, other := &wants[i], &wants[1-i]
			w.Go("polite", func() {
				mine.Store(true)
				for other.Load() {
					if tieBreak && i == 0 {
						continue
					}
					mine.Store(false)
					if tieBreak {
						waits(other)
					}
					mine.Store(true)
				}
				inside.Add(1)
				mine.Store(false)
			})
		}
	}
}

// waits spins until b is false.
func waits(b *sched.Bool) bool {
	for b.Load() {
	}
	return true
}

// poll looks once a second for what is set after a while, or never.
func poll(set bool) func(w *sim.World) {
	return func(w *sim.World) {
		s := w.Scheduler()
		x := sched.NewBool(s, "x", false)
		w.Eventually("set", x.Peek, &x)
		w.Go("polls", func() {
			for !x.Load() {
				w.NoError(s.Sleep(nil, "pause", time.Second))
			}
		})
		w.Go("sets", func() {
			w.NoError(s.Sleep(nil, "long", 500*time.Second))
			if set {
				x.Store(true)
			}
		})
	}
}

func TestLivelocks(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict string // empty: none may be reported
		body    func(*sim.World)
		message string
	}{
		{"two polite tasks", "livelock both-enter", polite(false), `"polite" goes on to store atomic first wants`},
		{"two polite tasks with a tie-break", "", polite(true), ""},
		{"polling for what never comes", "livelock set", poll(false), `"polls" goes on to load atomic x`},
		{"polling for what comes late", "", poll(true), ""},
		{"nobody does it", "assertion never", func(w *sim.World) {
			x := sched.NewBool(w.Scheduler(), "x", false)
			w.Eventually("never", x.Peek)
		}, "every task has ended"},
		{"somebody does it at the very end", "", func(w *sim.World) {
			x := sched.NewBool(w.Scheduler(), "x", false)
			w.Eventually("last", x.Peek, &x)
			w.Go("late", func() { x.Store(true) })
		}, ""},
		{"starved by the schedule alone", "", func(w *sim.World) {
			s := w.Scheduler()
			x := sched.NewBool(s, "x", true)
			w.Eventually("stops", func() bool { return !x.Peek() }, &x)
			w.Go("spins", func() { waits(&x) })
			w.Go("stops", func() { x.Store(false) })
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range []string{"random", "pos", "pct3"} {
				r, err := sim.Explore("live", strategy, c.body, sim.Runs(60))
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case r.Failure == nil && c.verdict == "":
				case r.Failure == nil:
					t.Errorf("%s found nothing in %d executions", strategy, r.Executions)
				case r.Failure.Verdict() != c.verdict:
					t.Errorf("%s: verdict %q, want %q\n%s", strategy, r.Failure.Verdict(), c.verdict, r.Failure.Message)
				case !strings.Contains(r.Failure.Message, c.message):
					t.Errorf("%s: the message does not tell %q:\n%s", strategy, c.message, r.Failure.Message)
				}
			}
		})
	}
}
