package deadlock

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// execute runs body once and returns what was found.
func execute(seed uint64, body func(w *Run), opts ...Option) []inventory.Verdict {
	return newWorkload(opts).execute(seed, body)
}

// second lets go-deadlock's locks stand in for mutexes, only leaves the verdict to them alone.
func second() Option { return func(o *workload) { o.second = true } }
func only() Option   { return func(o *workload) { o.second, o.only = true, true } }

// Left alone, go-deadlock finds the inversion and the lock taken twice, which are what it is asked about; a ring of three locks and waits for
// anything but locks it does not see.
func TestSecondOpinionAlone(t *testing.T) {
	for _, c := range []struct {
		name, want string
		run        func(w *Run, fixed bool)
	}{
		{"two orders", "deadlock second order", abba},
		{"twice", "deadlock second recursive", twice},
		{"read twice", "deadlock second recursive", readTwice},
		{"a ring of three", "", ring},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found []string
			for _, f := range execute(1, func(w *Run) { hopeless(func() { c.run(w, false) }) }, only()) {
				found = append(found, f.String())
			}
			if got := strings.Join(found, " and "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, c.want)
			}
			for _, f := range execute(1, func(w *Run) { hopeless(func() { c.run(w, c.want != "deadlock second order") }) }, second()) {
				if c.want != "deadlock second order" {
					t.Errorf("put right: %v: %s", f, f.Message)
				}
			}
		})
	}
}

// Beside our own graph, go-deadlock says the same about an inversion.
func TestBothOpinions(t *testing.T) {
	var found []string
	for _, f := range execute(3, func(w *Run) { abba(w, false) }, second()) {
		found = append(found, f.String())
	}
	if got := strings.Join(found, ", "); got != "deadlock order a,b, deadlock second order" {
		t.Errorf("found %q", got)
	}
	if f := execute(3, func(w *Run) { abba(w, false) }); len(f) != 1 {
		t.Errorf("without a second opinion: %v", f)
	}
}

// A report says who waits for what, where it stands, and who has it.
func TestReportNamesTasksLocksAndPlaces(t *testing.T) {
	found := execute(1, func(w *Run) { hopeless(func() { embrace(w, false) }) })
	last := found[len(found)-1]
	for _, want := range []string{`"taker" waits to lock mutex a#`, `"taker" waits to lock mutex b#`, `, held by task `, "planted_test.go:", "and holds mutex"} {
		if !strings.Contains(last.Message, want) {
			t.Errorf("%q is not in\n%s", want, last.Message)
		}
	}
}

// A failed requirement ends an execution, and an owner's word about itself does.
func TestAssertionsEndAnExecution(t *testing.T) {
	for want, body := range map[string]func(w *Run){ // order: each on its own
		"assertion X1":    func(w *Run) { w.Require(false, "X1", "no") },
		"assertion error": func(w *Run) { w.Go("task", func() { w.NoError(errDead) }) },
		"invariant X2":    func(w *Run) { w.Scheduler().Check("X2", func() error { return errDead }) },
	} {
		found := execute(1, func(w *Run) {
			w.Finally(func() { t.Errorf("%s: the end was reached", want) })
			body(w)
		})
		if len(found) != 1 || found[0].String() != want {
			t.Errorf("found %v, want %s", found, want)
		}
	}
}

// A run that neither ends nor is dead fails by patience, and says who goes on.
func TestPatienceIsABound(t *testing.T) {
	found := execute(1, func(w *Run) {
		for w.Scope().Err() == nil {
			w.NoError(w.Scheduler().Sleep(nil, "tick", time.Microsecond))
		}
	}, Patience(20*time.Millisecond))
	if len(found) != 1 || found[0].String() != "steps patience" || !strings.Contains(found[0].Message, "not over after 20ms") {
		t.Errorf("found %v", found)
	}
}

// A timer that is stopped while it fires leaves nothing behind, and a ticker that is stopped does not tick again.
func TestStoppedTimersLeaveNothing(t *testing.T) {
	for seed := range uint64(20) {
		found := execute(seed, func(w *Run) {
			s := w.Scheduler()
			tick := sched.NewTicker(s, "tick", 50*time.Microsecond)
			for range 5 {
				sched.Select2(tick.Fired(), sched.Case[int]{})
			}
			tick.Stop()
			once := sched.NewTimer(s, "once", time.Duration(seed)*10*time.Microsecond)
			w.NoError(s.Sleep(nil, "a moment", 100*time.Microsecond))
			once.Stop()
			var off sched.Case[int]
			empty := sched.NewChan[int](s, "empty", 1)
			empty.Send(1)
			for range 3 {
				got := sched.Select3(once.Fired(), tick.Fired(), empty.OnReceive())
				w.Require(got.Index == 2, "stopped", "a stopped timer delivered: alternative %d", got.Index)
				empty.Send(1)
			}
			got := sched.Select2(empty.OnReceive(), off)
			w.Require(got.A == 1, "last", "received %d", got.A)
		})
		for _, f := range found {
			t.Errorf("seed %d: %v: %s", seed, f, f.Message)
		}
	}
}
