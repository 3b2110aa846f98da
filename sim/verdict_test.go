package sim_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// counterOwner is an owner with an invariant: never above its limit.
type counterOwner struct {
	n     sched.Int64
	limit int64
}

func newCounterOwner(s sched.Scheduler, limit int64, afterStep bool) *counterOwner {
	c := &counterOwner{n: sched.NewInt64(s, "n", 0), limit: limit}
	check := c.invariant
	if !afterStep {
		check = nil
	}
	s.Own("T1", c, check)
	return c
}

func (c *counterOwner) invariant() error {
	if n := c.n.Peek(); n > c.limit {
		return sched.Broken("T1.I1", "%d above the limit %d", n, c.limit)
	}
	return nil
}

type hookless struct {
	m    sched.Mutex //nolint:unused // found by reflection
	deep []*sched.Uint64
}

// holder and holding reach primitives in every way that a walk follows.
type holder struct {
	n    sched.Int64
	next *holder
}

type holding struct {
	any       any
	byName    map[string]*sched.Int64
	cell      sched.Cell[*holder]
	pointer   sched.Pointer[holder]
	published sched.Publication[holder]
	next      *holder
}

var errPlanted = errors.New("planted error")

// verdictCases has one program per way in which an execution can fail.
var verdictCases = []struct {
	name    string
	verdict string
	message []string // what the message must tell
	body    func(w *sim.World)
	opts    []sim.Option
}{
	{"deadlock", "deadlock b", []string{
		`task 1 "a then b" waits to lock mutex b#1, held by task 2 "b then a"`,
		`cycle: task 1 "a then b" waits for mutex b#1 → task 2 "b then a" waits for mutex a#0 → task 1`,
	}, programs.AcrossLocks, nil},
	{"lost wake-up", "deadlock changed", []string{`task 1 "waiter" waits to wait notify changed#1`}, programs.LostWakeUp, nil},
	{"race", "race total", []string{`task 1 "writer"`, `task 2 "reader"`, "are not ordered"}, programs.UnguardedCell, nil},
	{"panic", "panic faulty", []string{"index out of range", "verdict_test.go"}, func(w *sim.World) {
		w.Go("faulty", func() {
			var none []int
			w.Logf("%d", none[len(none)])
		})
	}, nil},
	{"panic with a recover around an operation", "panic main", []string{"again"}, func(w *sim.World) {
		defer func() {
			if recover() != nil {
				panic("again")
			}
		}()
		panic("first")
	}, nil},
	{"leak", "leak forgotten", []string{"the check is over", `"forgotten" waits to recv chan never#`}, func(w *sim.World) {
		s := w.Scheduler()
		never := sched.NewChan[int](s, "never", 0)
		s.Go(s.NewScope("own"), "forgotten", func() { never.Receive() })
	}, nil},
	{"steps", "steps", []string{"more than 500 steps"}, func(w *sim.World) {
		x := sched.NewBool(w.Scheduler(), "x", false)
		for !x.Load() {
		}
	}, []sim.Option{sim.Steps(500)}},
	{"invariant after every step", "invariant T1.I1", []string{"2 above the limit 1"}, func(w *sim.World) {
		c := newCounterOwner(w.Scheduler(), 1, true)
		w.Own(c)
		for range 2 {
			w.Go("add", func() {
				c.n.Add(1)
				c.n.Add(-1)
			})
		}
	}, nil},
	{"invariant under its guard", "invariant T1.I1", []string{"1 above the limit 0"}, func(w *sim.World) {
		s := w.Scheduler()
		c := newCounterOwner(s, 0, false)
		c.n.Add(1)
		s.Check("T1", c.invariant)
	}, nil},
	{"invariant without an id of its own", "invariant T1", []string{"planted error"}, func(w *sim.World) {
		w.Scheduler().Check("T1", func() error { return errPlanted })
	}, nil},
	{"invariant of the check", "invariant both", []string{"both are set"}, func(w *sim.World) {
		s := w.Scheduler()
		x, y := sched.NewBool(s, "x", false), sched.NewBool(s, "y", false)
		w.Invariant("both", func() error {
			if x.Peek() && y.Peek() {
				return sched.Broken("both", "both are set")
			}
			return nil
		})
		toggle := func(b *sched.Bool) func() {
			return func() {
				b.Store(true)
				b.Store(false)
			}
		}
		w.Go("x", toggle(&x))
		w.Go("y", toggle(&y))
	}, nil},
	{"assertion", "assertion T1.A", []string{"got 7"}, func(w *sim.World) { w.Require(false, "T1.A", "got %d", 7) }, nil},
	{"error", "assertion error", []string{"planted error"}, func(w *sim.World) { w.NoError(errPlanted) }, nil},
	{"errorf", "assertion", []string{"wrong 3"}, func(w *sim.World) { w.Errorf("wrong %d", 3) }, nil},
	{"fatalf in a task", "assertion", []string{"wrong"}, func(w *sim.World) { w.Go("t", func() { w.Fatalf("wrong") }) }, nil},
	{"assertion at the end", "assertion end", []string{"x is 1"}, func(w *sim.World) {
		x := sched.NewInt64(w.Scheduler(), "x", 0)
		w.Finally(func() { w.Require(x.Load() == 0, "end", "x is %d", x.Load()) })
		w.Go("add", func() { x.Add(1) })
	}, nil},
	{"hookless primitives", "assertion T2.hooks", []string{"T2.deep[1], T2.m"}, func(w *sim.World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		w.Scheduler().Own("T2", &hookless{deep: []*sched.Uint64{&x, {}}}, nil)
	}, nil},
	{"hookless primitives behind what an owner holds", "assertion T2.hooks", []string{
		"T2.any, T2.byName[a], T2.cell.n, T2.next.next.next.next.next.n, T2.pointer.n, T2.published.n",
	}, func(w *sim.World) {
		s := w.Scheduler()
		well := func() *holder { return &holder{n: sched.NewInt64(s, "n", 0)} }
		deepest := well()
		o := &holding{
			any: &sched.Mutex{}, byName: map[string]*sched.Int64{"a": {}}, cell: sched.NewCell(s, "cell", &holder{}),
			pointer: sched.NewPointer(s, "pointer", &holder{}), published: sched.NewPublication(s, "published", &holder{}), next: deepest,
		}
		for range 3 {
			deepest.next = well()
			deepest = deepest.next
		}
		deepest.next = &holder{}
		s.Own("T2", o, nil)
	}, nil},
	{"an owner too large to walk", "assertion T2.hooks", []string{"more than 4096 structures"}, func(w *sim.World) {
		s := w.Scheduler()
		var first *holder
		for range 1<<12 + 1 {
			first = &holder{n: sched.NewInt64(s, "n", 0), next: first}
		}
		s.Own("T2", first, nil)
	}, nil},
	{"owner that does not register", "assertion own", []string{"did not register"}, func(w *sim.World) { w.Own(&hookless{}) }, nil},
	{"goexit", "panic quitter", []string{"runtime.Goexit"}, func(w *sim.World) {
		w.Go("bystander", func() { w.Scheduler().Yield() })
		w.Go("quitter", func() { runtime.Goexit() })
	}, nil},
	{"negative wait group", "panic done", []string{"negative WaitGroup counter"}, func(w *sim.World) {
		wg := sched.NewWaitGroup(w.Scheduler(), "wg")
		w.Go("add", func() { wg.Add(1) })
		w.Go("done", func() { wg.Done() })
	}, nil},
	{"primitive of another execution", "panic main", []string{"belongs to another execution"}, reuse(), []sim.Option{sim.Cores(1)}},
}

// reuse makes a primitive in its first execution and uses it in all.
func reuse() func(w *sim.World) {
	var x *sched.Int64
	return func(w *sim.World) {
		if x == nil {
			first := sched.NewInt64(w.Scheduler(), "x", 0)
			x = &first
		}
		x.Add(1)
	}
}

// Every kind of verdict is found by sampling and by the search, with a message that explains it.
func TestEveryVerdict(t *testing.T) {
	for _, c := range verdictCases {
		t.Run(c.name, func(t *testing.T) {
			for _, strategy := range []string{"random", "pct3", "pos", "dfs"} {
				r, err := sim.Explore("verdict", strategy, c.body, append(c.opts, sim.Runs(300))...)
				if err != nil {
					t.Fatal(err)
				}
				if r.Failure == nil {
					t.Errorf("%s found nothing in %d executions", strategy, r.Executions)
					continue
				}
				if got := r.Failure.Verdict(); got != c.verdict {
					t.Errorf("%s: verdict %q, want %q\n%s", strategy, got, c.verdict, r.Failure.Message)
				}
				for _, part := range c.message {
					if !strings.Contains(r.Failure.Message, part) && strategy == "random" {
						t.Errorf("the message does not tell %q:\n%s", part, r.Failure.Message)
					}
				}
			}
		})
	}
}

// A real FailNow inside a task ends its goroutine: it must not hang the run.
func TestRealFailNowInATaskIsAVerdict(t *testing.T) {
	quiet := &testing.T{}
	r, err := sim.Explore("failnow", "random", func(w *sim.World) {
		w.Go("task", func() { quiet.FailNow() })
	})
	if err != nil || r.Failure == nil || r.Failure.Verdict() != "panic task" {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}

func TestUnknownStrategyIsAnError(t *testing.T) {
	for _, name := range []string{"", "pctx", "pct0", "guess"} {
		ran := false
		if _, err := sim.Explore("x", name, func(*sim.World) { ran = true }); err == nil || !strings.Contains(err.Error(), "unknown strategy") || ran {
			t.Errorf("strategy %q: %v, ran %t", name, err, ran)
		}
	}
}
