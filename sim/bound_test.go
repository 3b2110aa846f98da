package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// An execution may take exactly as many steps as its bound, under every strategy: one less is a verdict.
func TestTheStepBoundIsExact(t *testing.T) {
	for name, body := range map[string]func(*World){ //order:each is judged alone
		"two tasks": adders(2, 3),
		"alone": func(w *World) {
			for range 10 {
				w.Scheduler().Yield()
			}
		},
		"locks": func(w *World) {
			m := sched.NewMutex(w.Scheduler(), "m")
			w.Go("locks", func() {
				for range 5 {
					m.Lock()
					m.Unlock()
				}
			})
		},
		"timers": func(w *World) {
			for range 4 {
				w.NoError(w.Scheduler().Sleep(nil, "nap", time.Second))
			}
		},
	} {
		o := newOptions(nil)
		w := newWorld("steps", body, &o)
		execute(w, &randomWalk{}, 1)
		steps := w.steps
		w.drain()
		for _, strategy := range append(samplers, "pct10", searchName, searchName+"1", optimalName) {
			r, err := Explore("steps", strategy, body, Runs(20), Steps(steps))
			if err != nil || r.Failure != nil {
				t.Errorf("%s, %s: %+v within %d steps, %v", name, strategy, r.Failure, steps, err)
			}
			r, err = Explore("steps", strategy, body, Runs(20), Steps(steps-1))
			if err != nil || r.Failure == nil || r.Failure.Kind != "steps" || r.Failure.Execution != 0 || r.Failure.Step != steps {
				t.Errorf("%s, %s: %+v with a bound one below %d steps, %v", name, strategy, r.Failure, steps, err)
			}
			r, err = Explore("steps", strategy, body, Runs(20), Steps(steps/2))
			if err != nil || r.Failure == nil || r.Failure.Step != steps/2+1 {
				t.Errorf("%s, %s: %+v with a bound of half of %d steps, %v", name, strategy, r.Failure, steps, err)
			}
		}
	}
}

// Time stands still when nobody is left who waits for it.
func TestATimerThatNobodyWaitsForDoesNotFire(t *testing.T) {
	r, err := Explore("timer", "random", func(w *World) {
		s := w.Scheduler()
		start := s.Now()
		timer := sched.NewTimer(s, "t", time.Hour)
		w.Finally(func() {
			w.Require(s.Now().Equal(start) && timer.Stop(), "armed", "it fired, at %s", s.Now().Sub(start))
		})
	}, Runs(3))
	if err != nil || r.Failure != nil {
		t.Errorf("%+v, %v", r.Failure, err)
	}
}

// stays starts a task of an owner in a scope of its own, which nobody ends.
func stays(f func(w *World, s sched.Scheduler)) func(*World) {
	return func(w *World) {
		s := w.Scheduler()
		s.Go(s.NewScope("own"), "stays", func() { f(w, s) })
	}
}

// endCases are what is left when the check is over.
var endCases = []struct {
	name    string
	verdict string // empty: nothing is
	body    func(*World)
}{
	{"receive", "leak stays", stays(func(_ *World, s sched.Scheduler) { sched.NewChan[int](s, "c", 1).Receive() })},
	{"send", "leak stays", stays(func(_ *World, s sched.Scheduler) { sched.NewChan[int](s, "c", 0).Send(1) })},
	{"select", "leak stays", stays(func(_ *World, s sched.Scheduler) {
		sched.Select2(sched.NewChan[int](s, "c", 0).OnReceive(), sched.NewChan[int](s, "d", 0).OnSend(1))
	})},
	{"lock", "leak stays", stays(func(_ *World, s sched.Scheduler) {
		m := sched.NewMutex(s, "m")
		m.Lock()
		m.Lock()
	})},
	{"notify", "leak stays", stays(func(w *World, s sched.Scheduler) {
		n := sched.NewNotify(s, "n")
		w.NoError(n.Wait(nil))
	})},
	{"scope that nobody ends", "leak stays", stays(func(_ *World, s sched.Scheduler) {
		sched.Select2(s.NewScope("other").Done(), sched.Case[int]{})
	})},
	{"join of another that stays", "leak inner", stays(func(_ *World, s sched.Scheduler) {
		scope := s.NewScope("inner")
		s.Go(scope, "inner", func() { sched.NewChan[int](s, "c", 1).Receive() })
		scope.Join()
	})},
	{"beside a task of the check that waits", "deadlock c", func(w *World) {
		s := w.Scheduler()
		c := sched.NewChan[int](s, "c", 0)
		s.Go(s.NewScope("own"), "stays", func() { sched.NewChan[int](s, "d", 0).Receive() })
		w.Go("waits", func() { c.Receive() })
	}},
	{"on a paused node", "leak late", func(w *World) {
		s, n := w.Scheduler(), w.Node("n")
		n.Go("starts", func() {
			s.Go(s.NewScope("own"), "late", func() { w.NoError(s.Sleep(nil, "nap", time.Minute)) })
		})
		w.NoError(s.Sleep(nil, "settle", time.Second))
		n.Pause() // its timer fires, and it does not go on
	}},
	{"one that ends by itself", "", stays(func(w *World, s sched.Scheduler) { s.Yield(); w.Logf("over") })},
	{"one that ends when its time has come", "", stays(func(w *World, s sched.Scheduler) { w.NoError(s.Sleep(nil, "nap", time.Hour)) })},
	{"one that the root scope ends", "", func(w *World) {
		w.Scheduler().Go(w.Scope(), "serves", func() { sched.Select2(w.Scope().Done(), sched.Case[int]{}) })
	}},
	{"one on a node that crashed", "", func(w *World) {
		s, n := w.Scheduler(), w.Node("n")
		n.Go("starts", func() {
			s.Go(s.NewScope("own"), "waits", func() { sched.NewChan[int](s, "c", 1).Receive() })
		})
		w.Join()
		n.Crash()
	}},
	{"a timer that nobody waits for", "", func(w *World) { sched.NewTimer(w.Scheduler(), "t", time.Hour) }},
}

// What is left when the check is over is a leak, by the name of who waits; what ends after it, or crashed, is none.
func TestWhatIsLeftIsALeak(t *testing.T) {
	for _, c := range endCases {
		for _, strategy := range []string{"random", "pct3", searchName, optimalName} {
			finals := false
			r, err := Explore("left", strategy, func(w *World) {
				w.Finally(func() { finals = true })
				c.body(w)
			}, Runs(30), Cores(1))
			switch {
			case err != nil || (r.Failure != nil) != (c.verdict != ""):
				t.Errorf("%s, %s: %+v, want %q, %v", c.name, strategy, r.Failure, c.verdict, err)
			case r.Failure != nil && (r.Failure.Verdict() != c.verdict || finals):
				t.Errorf("%s, %s: %s, want %s; the end was judged: %t\n%s", c.name, strategy, r.Failure.Verdict(), c.verdict, finals, r.Failure.Message)
			case r.Failure == nil && !finals:
				t.Errorf("%s, %s: the end was not judged", c.name, strategy)
			case strings.HasPrefix(c.verdict, "leak") && !strings.Contains(r.Failure.Message, "the check is over"):
				t.Errorf("%s, %s: the message does not tell when: %s", c.name, strategy, r.Failure.Message)
			}
		}
	}
}
