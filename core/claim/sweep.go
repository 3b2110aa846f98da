package claim

import (
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// sweepPage bounds one listing of a sweep.
const sweepPage = 256

// Sweep frees the claims that were taken before the given time and returns how many. It compares with the claim that it
// observed, so what moved meanwhile is left alone, and it raises the epoch, so an owner that was only slow can no
// longer commit. The age must exceed the longest step: an early sweep is safe, but makes its victim start over.
func Sweep(s sched.Scheduler, scope *sched.Scope, st store.Claims, before time.Time) (int, error) {
	n, after := 0, store.InstanceID("")
	for {
		heads, _, err := st.Claimed(scope, after, sweepPage)
		if err != nil {
			return n, fmt.Errorf("sweep claims: %w", err)
		}
		observed(s, heads, before)
		for _, h := range heads {
			after = h.Instance
			if !h.Since.Before(before) {
				continue
			}
			freed, _, err := st.Release(scope, h.Claim)
			if err != nil {
				return n, fmt.Errorf("sweep %v: %w", h.Claim, err)
			}
			if freed {
				n++
			}
		}
		if len(heads) < sweepPage {
			return n, nil
		}
	}
}

// observed reports the claims that the sweep is going to free, at the moment when it has read them.
func observed(s sched.Scheduler, heads []store.Head, before time.Time) {
	if !s.Traced() {
		return
	}
	for _, h := range heads {
		if h.Since.Before(before) {
			s.Emit(nil, "Sweep", h.Claim)
		}
	}
}
