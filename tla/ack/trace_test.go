package ack

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
	"github.com/millrace-dev/millrace/tla/value"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func begun(tb testing.TB) *binding {
	tb.Helper()
	spec, err := protocol.Spec()
	if err != nil {
		tb.Fatal(err)
	}
	return newBinding(spec)
}

// An event that the specification does not allow is explained by the conjunct that fails, with both sides, and the
// state before.
func TestIllegalEventIsExplained(t *testing.T) {
	b := begun(t)
	tree, shares := ack.NewTree(sched.Scheduler{}, 2, nil)
	if err := b.event(tree, "New", nil); err != nil {
		t.Fatal(err)
	}
	if err := b.event(tree, "Take", []any{&shares[0], false}); err != nil {
		t.Fatal(err)
	}
	var illegal *trace.Illegal
	err := b.event(tree, "Lower", []any{false}) // the word has not been lowered
	if !errors.As(err, &illegal) || illegal.ID() != "Ack.Lower" {
		t.Fatalf("a share that is taken off a word that did not change: %v", err)
	}
	for _, part := range []string{"pending' is", "left |-> 2", "left |-> 1", "the program shows the first", "state before"} {
		if !strings.Contains(illegal.Text, part) {
			t.Errorf("%q is not in\n%s", part, illegal.Text)
		}
	}
}

// A share that two tasks took is illegal although both find it held.
func TestShareTakenTwice(t *testing.T) {
	b := begun(t)
	tree, shares := ack.NewTree(sched.Scheduler{}, 2, nil)
	if err := b.event(tree, "New", nil); err != nil {
		t.Fatal(err)
	}
	if err := b.event(tree, "Take", []any{&shares[0], false}); err != nil {
		t.Fatal(err)
	}
	var illegal *trace.Illegal
	if err := b.event(tree, "Take", []any{&shares[0], false}); !errors.As(err, &illegal) || illegal.ID() != "Ack.Take" {
		t.Fatalf("a share that was taken twice: %v", err)
	}
}

// seen is an event of a tree with the words after it.
type seen struct {
	action string
	args   []value.Value
	words  ack.Words
}

// recorded returns the events of one execution: a root, three consumers, four resolutions.
func recorded(tb testing.TB) (events []seen) {
	tb.Helper()
	x := &tree{taken: map[*ack.Share]bool{}}
	r, err := sim.Explore("bench", "random", func(w *sim.World) {
		w.OnEvent(func(owner any, action string, args []any) error {
			events = append(events, seen{action, x.values(args), owner.(*ack.Tree).Peek()})
			return nil
		})
		root := ack.New(w.Scheduler(), ack.NewReply(w.Scheduler()))
		shares := root.Attach(3)
		for i := range shares {
			w.Go("consumer", func() { shares[i].Ack() })
		}
		root.Ack()
	}, sim.Runs(1))
	if err != nil || r.Failure != nil || len(events) < 10 {
		tb.Fatalf("%d events, %v, %+v", len(events), err, r)
	}
	return events
}

// BenchmarkEvent is the cost of one event: mapping the words of the tree, the action, and the invariants.
func BenchmarkEvent(b *testing.B) {
	x, events := begun(b), recorded(b)
	b.ReportAllocs()
	b.ResetTimer()
	end, n := tracetest.Cost(b), 0
	defer func() { end(n) }()
	for ; n < b.N; n += len(events) {
		run, err := x.spec.Start(x.state(events[0].words, true))
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events[1:] {
			if err := run.Step(e.action, e.args, x.state(e.words, true)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
