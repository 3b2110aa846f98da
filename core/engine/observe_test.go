package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/store"
)

func TestBounceOfAnError(t *testing.T) {
	for want, err := range map[Bounce]error{ //order:each is judged by itself
		BouncedOnClaim:    fmt.Errorf("take: %w", errors.Join(claim.ErrClaimed, store.ErrConflict)),
		BouncedOnWait:     fmt.Errorf("enter: %w", correlate.ErrMoved),
		BouncedOnFence:    fmt.Errorf("commit: %w", store.ErrFenced),
		BouncedOnConflict: fmt.Errorf("commit: %w", store.ErrConflict),
	} {
		if got := bounceOf(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
	if Bounce(200).String() != "unknown" || len(Bounces()) != len(bounceNames) {
		t.Error("a kind of bounce has no name")
	}
}
