package flip

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/tla/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func flip(lanes int) *deploy.Flip[int] {
	first := &deploy.View[int]{Number: 1, Active: deploy.Deployment[int]{ID: "1", Definitions: 1}}
	post := func(*sched.Scope, int, *deploy.Message[int]) error { return nil }
	return deploy.New(sched.Scheduler{}, lanes, first, post, nil)
}

func bound(t *testing.T) *binding {
	t.Helper()
	spec, err := protocol.Spec()
	if err != nil {
		t.Fatal(err)
	}
	return newBinding(spec)
}

// An event that the specification does not allow is explained, with the conjunct that fails.
func TestIllegalEventIsExplained(t *testing.T) {
	b, f := bound(t), flip(2)
	if err := b.event(f, "Begin", []any{uint64(1)}); err != nil {
		t.Fatal(err)
	}
	var illegal *trace.Illegal
	err := b.event(f, "Decide", nil) // no lane has acknowledged
	if !errors.As(err, &illegal) || illegal.ID() != "Flip.Decide" || !strings.Contains(illegal.Text, "state before") {
		t.Fatalf("a decision without a barrier: %v", err)
	}
	b = bound(t)
	if err := b.event(f, "Control", []any{0}); !errors.As(err, &illegal) || illegal.ID() != "Flip.Control" {
		t.Errorf("a word that nobody sent: %v", err)
	}
}

// Events of other owners, and what a replica follows, are not the binding's business; a flip of another size is refused.
func TestWhatIsNotBound(t *testing.T) {
	b := bound(t)
	if err := b.event("somebody", "Begin", nil); err != nil {
		t.Error(err)
	}
	if err := b.event(flip(2), "Followed", nil); err != nil {
		t.Error(err)
	}
	if err := b.event(flip(3), "Begin", nil); err == nil || !strings.Contains(err.Error(), "3 lanes") {
		t.Errorf("three lanes: %v", err)
	}
}
