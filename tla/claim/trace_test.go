package claim

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func planted(tb testing.TB) (*step.Store, *memory.Engine) {
	tb.Helper()
	st, engine := memory.Open(sched.Scheduler{}, memory.Options{})
	err := engine.Plant(&store.Step{
		Cause: "given", Spawn: true, Status: store.Running, Flow: "f",
		Claim: store.Claim{Instance: "i", Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: "i"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return st, engine
}

func start(tb testing.TB, engine *memory.Engine) *binding {
	tb.Helper()
	spec, err := protocol.Spec()
	if err != nil {
		tb.Fatal(err)
	}
	b := newBinding(spec, engine)
	if b.run, err = bind.Begin(spec, b.shown); err != nil {
		tb.Fatal(err)
	}
	return b
}

// An event that the specification does not allow is explained by the conjunct that fails, with both sides, and the
// state before.
func TestIllegalEventIsExplained(t *testing.T) {
	st, engine := planted(t)
	b := start(t, engine)
	me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
	want := store.Claim{Instance: "i", Owner: me, Epoch: 2}
	if err := b.event(nil, "Ask", []any{want}); err != nil {
		t.Fatal(err)
	}
	var illegal *trace.Illegal
	err := b.event(nil, "LandTake", []any{want}) // the store has done no such thing
	if !errors.As(err, &illegal) || illegal.ID() != "Claim.LandTake" {
		t.Fatalf("a take that the rows do not show: %v", err)
	}
	for _, part := range []string{"row' is", "epoch |-> 1", "the program shows the first", `at |-> "asking"`, "state before"} {
		if !strings.Contains(illegal.Text, part) {
			t.Errorf("%q is not in\n%s", part, illegal.Text)
		}
	}
	if _, _, err := st.Take(nil, "i", 1, me); err != nil {
		t.Fatal(err)
	}
	b = start(t, engine)
	if err := b.event(nil, "Granted", []any{want}); !errors.As(err, &illegal) || !strings.Contains(illegal.Text, "Mine(c.owner)") {
		t.Errorf("a claim that was never asked for: %v", err)
	}
}

// BenchmarkEvent is the cost of one event: mapping the rows of the store, the action, and the invariants.
func BenchmarkEvent(b *testing.B) {
	st, engine := planted(b)
	me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
	events := 0
	b.ReportAllocs()
	end := tracetest.Cost(b)
	defer func() { end(events) }()
	for events < b.N {
		x := start(b, engine)
		take := func(action string, args ...any) {
			events++
			if err := x.event(nil, action, args); err != nil {
				b.Fatal(err)
			}
		}
		for range 50 {
			h, _, err := st.Head(nil, "i")
			if err != nil {
				b.Fatal(err)
			}
			c, err := claim.Taken(h, h.Epoch, me, h.Since)
			if err != nil {
				b.Fatal(err)
			}
			take("Ask", c.Claim)
			if _, _, err := st.Take(nil, "i", h.Epoch, me); err != nil {
				b.Fatal(err)
			}
			take("LandTake", c.Claim)
			take("Granted", c.Claim)
			take("GiveUp", c.Claim)
			if _, _, err := st.Release(nil, c.Claim); err != nil {
				b.Fatal(err)
			}
			take("LandFree", c.Claim)
			take("Freed", c.Claim)
		}
	}
}
