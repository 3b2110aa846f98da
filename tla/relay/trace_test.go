package relay

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/relay"
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
	return newBinding(spec, func() int { return 7 })
}

// An event that the specification does not allow is explained by the conjunct that fails, with both sides.
func TestIllegalEventIsExplained(t *testing.T) {
	b := begun(t)
	q := relay.NewQueue[int](sched.Scheduler{}, "q", 1)
	for _, action := range []string{"New", "Publish", "ReadCapacity"} {
		if err := b.event(q, action, nil); err != nil {
			t.Fatal(err)
		}
	}
	var illegal *trace.Illegal
	err := b.event(q, "Add", nil) // no place has been taken
	if !errors.As(err, &illegal) || illegal.ID() != "Relay.Add" {
		t.Fatalf("a place that the words do not show: %v", err)
	}
	for _, part := range []string{"places' is", "the program shows the first", "state before"} {
		if !strings.Contains(illegal.Text, part) {
			t.Errorf("%q is not in\n%s", part, illegal.Text)
		}
	}
	if err := b.event(relay.NewQueue[int](sched.Scheduler{}, "older", 1), "Add", nil); err != nil {
		t.Errorf("an event of a queue that is older than the binding: %v", err)
	}
}

// A task that was never in Push has no call, and its events are not guessed.
func TestEventOutsideOfACall(t *testing.T) {
	b := begun(t)
	q := relay.NewQueue[int](sched.Scheduler{}, "q", 1)
	if err := b.event(q, "New", nil); err != nil {
		t.Fatal(err)
	}
	if err := b.event(q, "Link", nil); err == nil || !strings.Contains(err.Error(), "not in Push") {
		t.Errorf("a link without a call: %v", err)
	}
}

// seen is an event of a queue with the words after it.
type seen struct {
	action string
	args   []value.Value
	words  relay.Words
}

// recorded returns the events of one execution: two producers that need the one place, and their consumer.
func recorded(tb testing.TB, b *binding) (events []seen) {
	tb.Helper()
	x := &queue{calls: map[int]int{}}
	r, err := sim.Explore("bench", "random", func(w *sim.World) {
		w.OnEvent(func(owner any, action string, _ []any) error {
			var args []value.Value
			if b.isCall[action] {
				n, err := x.call(w.Running(), action)
				if err != nil {
					return err
				}
				args = []value.Value{value.MakeInt(int64(n))}
			}
			events = append(events, seen{action, args, owner.(peeker).Peek()})
			return nil
		})
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		for v := range 2 {
			w.Go("push", func() {
				for range 2 {
					w.NoError(q.Push(w.Scope(), v))
				}
			})
		}
		for range 4 {
			_, err := q.Receive(w.Scope(), nil)
			w.NoError(err)
		}
	}, sim.Runs(1))
	if err != nil || r.Failure != nil || len(events) < 30 {
		tb.Fatalf("%d events, %v, %+v", len(events), err, r)
	}
	return events
}

// BenchmarkEvent is the cost of one event: mapping the words of the queue, the action, and the invariants.
func BenchmarkEvent(b *testing.B) {
	x := begun(b)
	events := recorded(b, x)
	b.ReportAllocs()
	b.ResetTimer()
	end, n := tracetest.Cost(b), 0
	defer func() { end(n) }()
	for ; n < b.N; n += len(events) {
		run, err := x.spec.Start(x.shown(events[0].words))
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events[1:] {
			if err := run.Step(e.action, e.args, x.shown(e.words)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
