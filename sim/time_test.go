package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// outcomes explores body exhaustively and returns the set of results that it reported.
func outcomes(t *testing.T, body func(w *sim.World, report func(format string, args ...any)), opts ...sim.Option) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	r, err := sim.Explore(t.Name(), "dfs", func(w *sim.World) {
		body(w, func(format string, args ...any) { seen[fmt.Sprintf(format, args...)] = true })
	}, opts...)
	if err != nil || !r.Complete {
		t.Fatalf("complete %t, failure %+v, %v", r.Complete, r.Failure, err)
	}
	return seen
}

func wantOutcomes(t *testing.T, got map[string]bool, want ...string) {
	t.Helper()
	for _, o := range want {
		if !got[o] {
			t.Errorf("never saw %q", o)
		}
		delete(got, o)
	}
	for o := range got {
		t.Errorf("saw %q", o)
	}
}

// Timers fire in the order of their times, and no time passes while anybody can go on.
func TestVirtualTimeOrdersTimers(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, start := w.Scheduler(), w.Scheduler().Now()
		var order []string
		for _, d := range []time.Duration{3, 1, 2} {
			w.Go("sleeper", func() {
				w.NoError(s.Sleep(nil, "nap", d*time.Hour))
				order = append(order, s.Now().Sub(start).String())
			})
		}
		w.Join()
		report("%s", strings.Join(order, " "))
	})
	wantOutcomes(t, got, "1h0m0s 2h0m0s 3h0m0s")
}

func TestEarlyTimeoutsFireBeforeTheirTime(t *testing.T) {
	body := func(w *sim.World, report func(string, ...any)) {
		scope := w.Scope().ChildTimeout("limit", time.Hour)
		done := sched.NewNotify(w.Scheduler(), "done")
		w.Go("work", done.One)
		err := done.Wait(scope)
		w.Require(err == nil || errors.Is(err, sched.ErrTimeout), "cause", "cause %v", err)
		scope.Close()
		report("%v", err)
	}
	wantOutcomes(t, outcomes(t, body), "<nil>")
	wantOutcomes(t, outcomes(t, body, sim.EarlyTimeouts()), "<nil>", sched.ErrTimeout.Error())
}

// A check fires a timer by its name, early: time stays where it is.
func TestFireByName(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, start := w.Scheduler(), w.Scheduler().Now()
		w.Go("other", func() { w.NoError(s.Sleep(nil, "other", time.Minute)) })
		w.Go("sleeper", func() {
			w.NoError(s.Sleep(nil, "nap", time.Hour))
			report("woke at %s", s.Now().Sub(start))
		})
		w.Go("check", func() {
			w.Require(!w.Fire("nobody"), "fire", "fired a timer that does not exist")
			w.Fire("nap")
		})
	})
	wantOutcomes(t, got, "woke at 0s", "woke at 1h0m0s")
}

func TestTickerAndReset(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, start := w.Scheduler(), w.Scheduler().Now()
		tick := sched.NewTicker(s, "tick", time.Second)
		sched.Select2(tick.Fired(), w.Scope().Done())
		at := sched.Select2(tick.Fired(), w.Scope().Done()).A.Sub(start)
		tick.Stop()
		one := sched.NewTimer(s, "one", time.Hour)
		one.Reset(time.Minute)
		later := sched.Select2(one.Fired(), w.Scope().Done()).A.Sub(start)
		report("%s %s armed=%t", at, later, one.Stop())
	})
	wantOutcomes(t, got, "2s 1m2s armed=false")
}

func TestCancellationReachesEveryScopeBelow(t *testing.T) {
	cause := errors.New("stop")
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s := w.Scheduler()
		top := s.NewScope("top")
		low := top.Child("middle").Child("low")
		s.Go(low, "worker", func() {
			err := sched.Select2(low.Done(), sched.Case[int]{})
			report("worker %d: %v", err.Index, low.Err())
		})
		w.Go("canceller", func() {
			top.Cancel(cause)
			w.Require(errors.Is(low.Err(), cause), "cascade", "parent ended, child open")
			late := low.Child("late")
			w.Require(errors.Is(late.Err(), cause), "late", "a child of an ended scope is open")
			top.Close()
		})
	})
	wantOutcomes(t, got, "worker 0: stop")
}
