package branch_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/sched"
)

var errStop = errors.New("stop")

// ran records what lanes did.
type ran struct {
	mu    sched.Mutex
	works []string
	ended []string
}

func (r *ran) plan() branch.Plan[string, string] {
	return branch.Plan[string, string]{
		Open: func(_ *sched.Scope, l *branch.Lane[string, string]) string { return "state of " + l.Key() },
		Run: func(_ *sched.Scope, l *branch.Lane[string, string], state, w string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.works = append(r.works, l.Key()+" "+w+" on "+state)
		},
		End: func(key, state string) { r.ended = append(r.ended, key+": "+state) },
	}
}

func TestBranchesRunInOrderAndEndByLastUse(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	r := &ran{}
	table := branch.NewTable(s, "t", branch.Options{Max: 2, Queue: 4}, r.plan())
	s.Go(scope, "worker", func() { table.Work(scope) })
	for _, work := range [][2]string{{"a", "1"}, {"b", "1"}, {"a", "2"}, {"c", "1"}} {
		if err := table.Admit(scope, work[0], work[1]); err != nil {
			t.Fatal(err)
		}
		if table.Len() > 2 {
			t.Fatalf("%d branches", table.Len())
		}
	}
	if err := table.Close(scope); err != nil {
		t.Fatal(err)
	}
	scope.Join()
	a1 := slices.Index(r.works, "a 1 on state of a")
	a2 := slices.Index(r.works, "a 2 on state of a")
	if len(r.works) != 4 || a1 < 0 || a2 < a1 || len(r.ended) != 3 {
		t.Fatalf("ran %v, ended %v", r.works, r.ended)
	}
}

func TestFullTableWaitsForAnIdleBranch(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	table := branch.NewTable(s, "t", branch.Options{Max: 1, Queue: 1}, (&ran{}).plan())
	if err := table.Admit(scope, "a", "1"); err != nil {
		t.Fatal(err)
	}
	if err := table.TryAdmit(scope, "a", "2"); !errors.Is(err, branch.ErrBusy) {
		t.Fatalf("admitted above the branch's bound: %v", err)
	}
	scope.Cancel(errStop)
	if err := table.Admit(scope, "b", "1"); !errors.Is(err, errStop) {
		t.Fatalf("admitted to a full table: %v", err)
	}
	if err := table.Close(scope); !errors.Is(err, errStop) {
		t.Fatalf("closed with work queued: %v", err)
	}
}

func TestOptionsListEveryFault(t *testing.T) {
	err := branch.Options{TTL: -1, Max: 0, Queue: 0}.Validate()
	if err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) != 3 {
		t.Fatalf("faults: %v", err)
	}
	if err := (branch.Options{TTL: time.Minute, Max: 1, Queue: 1}).Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestSweepWithoutTTLEvictsNothing(t *testing.T) {
	s := sched.Scheduler{}
	table := branch.NewTable(s, "t", branch.Options{Max: 1, Queue: 1}, (&ran{}).plan())
	if err := table.Admit(nil, "a", "1"); err != nil {
		t.Fatal(err)
	}
	if _, ok := table.Sweep(); ok || table.Len() != 1 {
		t.Fatalf("swept without a ttl: %d left", table.Len())
	}
}
