package sim

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/sim/inventory"
	"go.uber.org/goleak"
)

// Main runs a package's tests and fails when goroutines are left. Every test package with checks has
//
//	func TestMain(m *testing.M) { sim.Main(m) }
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Check explores body by sampling: 100 random and 100 PCT-3 executions, unless options or MILLRACE_SIM say
// otherwise. The body makes all it shares inside, from w.Scheduler(): bodies of several executions run at the
// same time.
func Check(t *testing.T, id string, body func(w *World), opts ...Option) {
	t.Helper()
	c := newChecker(t, id, inventory.LaneSim, body, opts)
	if c == nil || c.replayed() || c.stepsWritten() {
		return
	}
	c.sample()
	c.report()
}

// Exhaust explores every schedule of body up to the order of independent steps, and fails unless it finishes. What it
// cannot see as a conflict it may leave unexplored, so a body keeps to these rules:
//
//   - Tasks share state only through primitives and Cells. Plain memory that two tasks touch is no conflict to it.
//   - After World.Invariant every change conflicts with every other, so it may read what it likes.
//   - The invariant that s.Own is given reads what its owner holds at that moment: fields, pointers and slices, no maps, six
//     levels deep and 64 elements wide. Steps that change those objects conflict. What it reads by Peek elsewhere is not counted:
//     objects of owners without an invariant, objects made after s.Own, and an object that two owners hold is the later
//     one's alone.
//   - What s.Check peeks at is not counted at all: it is right where a guard keeps the state still.
//   - Calls of dependencies (External) conflict with each other and with nothing else.
//
// A check that needs more reads it by an operation (Load, View), which is a step and therefore seen.
func Exhaust(t *testing.T, id string, body func(w *World), opts ...Option) {
	t.Helper()
	c := newChecker(t, id, inventory.LaneExhaustive, body, opts)
	if c == nil || c.replayed() || c.stepsWritten() {
		return
	}
	if c.opts.tso { // late stores multiply the schedules: they are sampled
		c.sample()
	} else {
		c.explore(searchName)
	}
	c.report()
}

// sample runs the sampling strategies until one finds something.
func (c *checker) sample() {
	c.t.Helper()
	for _, name := range c.opts.strategies {
		if !c.explore(name) {
			break
		}
	}
}

// Planted explores a program that is wrong on purpose. It fails unless the verdict is want ("kind id"), found by every
// strategy, and its schedule replays with an equal hash.
func Planted(t *testing.T, id, want string, body func(w *World), opts ...Option) {
	t.Helper()
	c := newChecker(t, id, inventory.LaneSim, body, opts)
	if c == nil {
		return
	}
	c.want = want
	if c.replayed() || c.stepsWritten() {
		return
	}
	for _, name := range c.opts.strategies {
		c.explore(name)
		c.judgePlanted(name)
	}
	c.report()
}

// checker runs one check and reports it.
type checker struct {
	t       *testing.T
	id      string
	body    func(*World)
	opts    options
	at      caller
	want    string
	rec     inventory.Record
	traces  map[uint64]struct{} // different ones, of all strategies
	failure *Failure
	started time.Time
}

func newChecker(t *testing.T, id string, lane inventory.Lane, body func(*World), opts []Option) *checker {
	t.Helper()
	c := &checker{t: t, id: id, body: body, opts: newOptions(opts), at: callerOf(t.Name()), started: time.Now(), traces: map[uint64]struct{}{}}
	c.opts.at, c.opts.actions = c.at, &actions{read: map[any]func() map[string]int64{}}
	if err := c.opts.fromEnvironment(); err != nil {
		t.Fatal(err)
	}
	c.rec = inventory.Record{Check: id, Test: c.at.test, Package: c.at.pkg, Lane: lane}
	return c
}

// explore runs one strategy, reports false when it failed, and runs the first executions twice.
func (c *checker) explore(name string) bool {
	c.t.Helper()
	r, err := explore(c.id, name, c.body, &c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	declared := c.opts.runs
	if _, search := searchNamed(name); search {
		declared = 0
		if r.Failure == nil {
			c.t.Logf("check %s: %s: %s", c.id, name, r.Coverage())
		}
	}
	if name == searchName {
		c.rec.Exhaustive = inventory.Complete
		if !r.Complete {
			c.rec.Exhaustive = r.Coverage()
		}
	}
	c.rec.Strategies = append(c.rec.Strategies, inventory.Strategy{Name: name, Declared: declared, Executed: r.Executions, Distinct: r.Distinct, Complete: r.Complete})
	c.rec.Executions += r.Executions
	c.rec.Declared += declared
	for _, h := range r.traces {
		c.traces[h] = struct{}{}
	}
	c.rec.Distinct = len(c.traces)
	c.rec.Points += int64(r.Points)
	c.rec.Pairs = max(c.rec.Pairs, r.Pairs)
	for _, h := range r.PairHashes {
		c.rec.PairHashes = append(c.rec.PairHashes, fmt.Sprintf("%016x", h))
	}
	for f, n := range r.Faults { //order:sums
		if c.rec.Faults == nil {
			c.rec.Faults = map[string]int{}
		}
		c.rec.Faults[f] += n
	}
	for _, h := range r.Hashes {
		c.rec.Hashes = append(c.rec.Hashes, fmt.Sprintf("%016x", h))
	}
	c.failure = r.Failure
	if r.Failure == nil && name == searchName && !r.Complete {
		c.t.Errorf("check %s: %s", c.id, c.rec.Exhaustive)
	}
	if r.Failure == nil {
		c.twice(name)
	}
	return c.failure == nil
}

// repeated is how many executions every check runs a second time within the process; `verify test-sim` repeats a
// hundred in a process of its own.
const repeated = 3

// twice runs the first executions again, with a trace and identity checks: another hash means that something beside
// the schedule decides what happens.
func (c *checker) twice(name string) {
	if _, search := searchNamed(name); search {
		return
	}
	o := c.opts
	o.runs, o.cores, o.hashes = min(repeated, o.runs), 1, repeated
	m := measureFor(name, c.id, c.body, &o)
	for i := range o.runs {
		s, _ := strategyNamed(name, m) // checked by explore
		first := newWorld(c.id, c.body, &o)
		first.tracing = true
		seed := derive(o.seed, name, i)
		execute(first, s, seed)
		first.drain()
		same := o
		same.everyTrace = first.validate
		second, _ := again(c.id, c.body, &same, Choices{first.schedule, first.data}, false)
		if first.hash != second.hash {
			f := second.failure(name, seed, i)
			f.Kind, f.ID = "nondeterminism", ""
			f.Message = fmt.Sprintf("the same schedule gave trace hash %016x, then %016x: %s\n%s", first.hash, second.hash, second.verdict.message,
				inventory.FirstDifference(stepsOf(first.trace), stepsOf(second.trace)))
			c.failure = f
			return
		}
	}
}

// report writes the record, and for a failure its folder and the line that replays it.
func (c *checker) report() {
	c.t.Helper()
	c.rec.Nanos = time.Since(c.started).Nanoseconds()
	if f := c.failure; f != nil && c.want == "" {
		c.explain(f)
	}
	c.rec.Passed, c.rec.Actions = !c.t.Failed(), c.opts.actions.counts()
	if err := inventory.Append(c.rec); err != nil {
		c.t.Error(err)
	}
}

// explain runs a failed schedule again with a trace and writes its folder.
func (c *checker) explain(f *Failure) {
	c.t.Helper()
	c.trace(f)
	if f.Kind != "nondeterminism" {
		original := *f
		*f = *shrink(c.id, c.body, &c.opts, f)
		f.original = &original
		c.trace(f)
	}
	folder, err := writeFolder(c.id, c.at, &c.opts, f)
	if err != nil {
		c.t.Error(err)
	}
	c.rec.Folder = folder
	c.rec.Verdict = &inventory.Verdict{Kind: inventory.Kind(f.Kind), ID: f.ID, Message: f.Message}
	if c.want != "" {
		return
	}
	var tail strings.Builder
	for _, e := range f.trace[max(0, len(f.trace)-12):] {
		tail.WriteString("\n" + e.line())
	}
	c.t.Errorf("check %s: %s: %s\nreplay: ./just replay %s\nstrategy %s, seed %d, execution %d, commit %s, %s%s",
		c.id, f.Verdict(), f.Message, scheduleFile(folder), f.Strategy, c.opts.seed, f.Execution, commit(), c.opts.String(), tail.String())
}

// trace fills in the trace and the stacks; a schedule that does not reproduce is nondeterministic.
func (c *checker) trace(f *Failure) {
	if f.Kind == "nondeterminism" {
		return
	}
	w, _ := again(c.id, c.body, c.opts.tracing(f.Kind), f.Choices, false)
	f.trace = append([]event(nil), w.trace...)
	if w.verdict.kind != f.Kind || w.verdict.id != f.ID || w.hash != f.Hash {
		f.Message = fmt.Sprintf("found %s with hash %016x; the same schedule then gave %s with hash %016x: %s",
			f.Verdict(), f.Hash, w.verdict, w.hash, w.verdict.message)
		f.Kind, f.ID = "nondeterminism", ""
		return
	}
	f.Message, f.Step = w.verdict.message, w.verdict.step
}

// judgePlanted compares what a strategy found with what was planted.
func (c *checker) judgePlanted(name string) {
	c.t.Helper()
	f := c.failure
	if f == nil {
		c.t.Errorf("planted %s: %s found nothing in %d executions, want %s", c.id, name, c.opts.runs, c.want)
		return
	}
	c.explain(f)
	c.t.Logf("planted %s: %s found %s in execution %d\nreplay: ./just replay %s", c.id, name, f.Verdict(), f.Execution, scheduleFile(c.rec.Folder))
	if got := f.Verdict(); got != c.want {
		c.t.Errorf("planted %s: %s found %s, want %s\n%s", c.id, name, got, c.want, f.Message)
	}
}

// replayed runs the schedule that MILLRACE_REPLAY names, and reports true when that variable is set: no other check runs
// then.
func (c *checker) replayed() bool {
	c.t.Helper()
	path := os.Getenv("MILLRACE_REPLAY")
	if path == "" {
		return false
	}
	s, choices, err := ReadSchedule(path)
	if err != nil {
		c.t.Fatal(err)
	}
	if s.Check != c.id {
		return true
	}
	mode := os.Getenv("MILLRACE_REPLAY_MODE")
	if mode == "" {
		mode = "strict"
	}
	c.opts.tso = c.opts.tso || slices.Contains(strings.Fields(s.Options), tsoWord)
	w, r := again(c.id, c.body, c.opts.tracing(s.Verdict.Kind), choices, mode == "lenient")
	hash := fmt.Sprintf("%016x", w.hash)
	got := &inventory.Verdict{Kind: inventory.Kind(w.verdict.kind), ID: w.verdict.id, Message: w.verdict.message}
	same := w.failed && w.verdict.kind == s.Verdict.Kind && w.verdict.id == s.Verdict.ID && (hash == s.Hash || mode == "lenient")
	c.rec.Executions, c.rec.Nanos = 1, time.Since(c.started).Nanoseconds()
	c.rec.Replay = &inventory.Replay{File: path, Mode: mode, Reproduced: same, Diverged: r.diverged, Hash: hash}
	if w.failed {
		c.rec.Verdict = got
	}
	c.rec.Passed = !w.failed
	f := w.failure("replay", s.Seed, s.Execution)
	folder, err := writeFolder(c.id+"-replay", c.at, &c.opts, f)
	c.rec.Folder = folder
	if err := errors.Join(err, inventory.Append(c.rec)); err != nil {
		c.t.Error(err)
	}
	c.sayReplay(f, w.failed, r, s, same)
	return true
}

// sayReplay prints what a replay showed: the failure again, a pass, or where it went another way.
func (c *checker) sayReplay(f *Failure, failed bool, r *replay, s Schedule, same bool) {
	c.t.Helper()
	hash := c.rec.Replay.Hash
	switch {
	case same && hash == s.Hash:
		c.t.Errorf("replay of %s reproduced %s with hash %s: %s", c.id, f.Verdict(), hash, f.Message)
	case r.diverged > 0 && !r.lenient:
		c.t.Errorf("replay of %s diverged at choice %d: %s", c.id, r.diverged, f.Message)
	case failed:
		c.t.Errorf("replay of %s: %s with hash %s (recorded %s %s with %s, first divergence at choice %d): %s", c.id, f.Verdict(), hash,
			s.Verdict.Kind, s.Verdict.ID, s.Hash, r.diverged, f.Message)
	default:
		c.t.Logf("replay of %s passed; it left the schedule at choice %d", c.id, r.diverged)
	}
}
