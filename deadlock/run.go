package deadlock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// errDead is the cause with which the scopes of a dead program end.
var errDead = errors.New("the program is dead")

// World is what the bodies of checks use of an execution. A simulated world has it too, so that one body can run on both.
type World interface {
	Scheduler() sched.Scheduler
	Scope() *sched.Scope
	Own(owner any)
	Go(name string, f func())
	Join()
	Finally(f func())
	Choose(name string, n int) int
	Require(ok bool, id, format string, args ...any)
	NoError(err error)
}

// Run is one execution on real goroutines.
type Run struct {
	m      *monitor
	s      sched.Scheduler
	scope  *sched.Scope
	tasks  *sched.Scope
	finals []func()
}

var _ World = (*Run)(nil)

// Scheduler returns the scheduler that is watched.
func (r *Run) Scheduler() sched.Scheduler { return r.s }

// Scope returns the root scope. It ends when the body and every task started with Go have ended.
func (r *Run) Scope() *sched.Scope { return r.scope }

// Own does nothing: see monitor.Own.
func (r *Run) Own(any) {}

// Go starts a task of the check.
func (r *Run) Go(name string, f func()) { r.s.Go(r.tasks, name, f) }

// Join waits until every task started with Go so far has ended. Only the body calls it.
func (r *Run) Join() { r.tasks.Join() }

// Finally registers f to run when every task has ended. Only the body calls it.
func (r *Run) Finally(f func()) { r.finals = append(r.finals, f) }

// Choose draws from [0,n).
func (r *Run) Choose(_ string, n int) int { return int(r.m.Choose(nil, uint64(n))) } //nolint:gosec // below n

// Require ends the execution unless ok.
func (r *Run) Require(ok bool, id, format string, args ...any) {
	if !ok {
		r.m.fail(inventory.Verdict{Kind: inventory.KindAssertion, ID: id, Message: fmt.Sprintf(format, args...)})
	}
}

// NoError ends the execution when err is not nil.
func (r *Run) NoError(err error) {
	if err != nil {
		r.m.fail(inventory.Verdict{Kind: inventory.KindAssertion, ID: "error", Message: err.Error()})
	}
}

// fail ends the execution from within.
func (m *monitor) fail(v inventory.Verdict) {
	t := m.enter()
	m.find(v, true)
	m.leave(t)
}

// main is the first task: the body, then the end of everything that it started.
func (r *Run) main(body func(*Run)) {
	body(r)
	r.tasks.Join()
	r.scope.Close()
	r.tasks.Close()
	for _, f := range r.finals {
		f()
	}
}

// Option changes how often and how patiently a workload runs.
type Option func(*workload)

// Runs sets the number of executions.
func Runs(n int) Option { return func(o *workload) { o.runs = n } }

// Patience sets how long an execution may take that neither ends nor is found to be dead. It decides nothing but that it failed.
func Patience(d time.Duration) Option { return func(o *workload) { o.patience = d } }

type workload struct {
	runs     int
	second   bool // go-deadlock's locks stand in for mutexes: so they do in every second execution
	only     bool // the verdict is go-deadlock's alone
	patience time.Duration
}

// Bounds of a workload.
const (
	defaultRuns     = 40
	defaultPatience = time.Minute     // bounds a run that neither ends nor is found to be dead, which decides nothing but that it failed
	remainder       = 5 * time.Second // how long an execution goes on, to find more, when something was found
	parting         = time.Second     // how long a dead program may take to leave what it can leave
)

func newWorkload(opts []Option) workload {
	w := workload{runs: defaultRuns, patience: defaultPatience}
	for _, o := range opts {
		o(&w)
	}
	return w
}

// Workload returns the body of a registered check of lane D: it runs body some times, each with another seed, and fails with what the
// first execution that is not clean shows.
//
//	inventory.Run(t, inventory.LaneDeadlock, "L2/…", deadlock.Workload(body))
func Workload(body func(w *Run), opts ...Option) func(t *testing.T) int {
	o := newWorkload(opts)
	return func(t *testing.T) int {
		t.Helper()
		first, err := inventory.Seed()
		if err != nil {
			t.Fatal(err)
		}
		for i := range o.runs {
			seed := first + uint64(i) //nolint:gosec // not negative
			one := o
			one.second = i%2 == 1
			findings := one.execute(seed, body)
			if len(findings) == 0 {
				continue
			}
			inventory.Observe(t, findings[0])
			for _, f := range findings {
				t.Errorf("%v: %s", f, f.Message)
			}
			t.Errorf("again: ./just test-deadlock %s seed=%d (timing is real: the seed draws where tasks give way)", t.Name(), seed)
			return i + 1
		}
		return o.runs
	}
}

// execute runs body once and returns what was found.
func (o workload) execute(seed uint64, body func(*Run)) []inventory.Verdict {
	m := newMonitor(seed)
	m.second, m.silent = o.second, o.only
	s := m.Scheduler()
	r := &Run{m: m, s: s, scope: s.NewScope("world"), tasks: s.NewScope("tasks of the check")}
	idle := m.idle
	go m.run(m.begin("main"), func() { r.main(body) })
	patience := time.NewTimer(o.patience)
	defer patience.Stop()
	first := m.first
	for over := false; !over; {
		over = true
		select {
		case <-idle:
		case <-m.dead:
			m.part(r)
		case <-m.heard():
		case <-first:
			first, over = nil, false
			patience.Reset(min(o.patience, remainder))
		case <-patience.C:
			m.notOver(o.patience)
			m.part(r)
		}
	}
	return slices.Concat(m.found(), heard.take(m))
}

// heard fires when go-deadlock has spoken, where its word alone counts.
func (m *monitor) heard() <-chan struct{} {
	if m.silent {
		return m.opined
	}
	return nil
}

// notOver is the verdict of a run that goes on and on.
func (m *monitor) notOver(patience time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text []string
	for _, t := range m.live {
		if t.blocked {
			text = append(text, m.waitText(t))
		} else {
			text = append(text, t.String()+" goes on")
		}
	}
	m.find(inventory.Verdict{
		Kind: inventory.KindSteps, ID: "patience", Message: fmt.Sprintf("not over after %v:\n%s", patience, strings.Join(text, "\n")),
	}, true)
}

// part lets the tasks of a dead program end, as far as they can: who waits on a real lock or channel cannot be reached.
func (m *monitor) part(r *Run) {
	r.scope.Cancel(errDead)
	for end := time.Now().Add(parting); time.Now().Before(end); time.Sleep(time.Millisecond) {
		m.mu.Lock()
		left := slices.ContainsFunc(m.live, func(t *task) bool { return !t.foreign && m.canGo(t) })
		m.mu.Unlock()
		if !left {
			return
		}
	}
}
