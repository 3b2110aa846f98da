package claim

import (
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

// The claim of a row is a state machine of seven edges. Every store adapter takes them in the transaction that
// writes the row, so that nothing happens between the comparison and the write.
//
//	           ┌──────────────────Taken (nobody, e) → (me, e+1)──────────────────┐
//	           │                                                                 ▼
//	absent ─Spawned─▶ nobody, e ◀──Freed (owner, e) → (nobody, e+1)──────── claimed, e
//	   │               ▲    │  ▲                                                 │
//	   └─Freed: void───┘    └──┘ Freed                                           │
//	                   ▲                                                         │
//	                   └───────────Committed (owner, e) → (nobody, e+1)──────────┘
//	ended, e ─Vacated─▶ void, e+1            claimed, e ─Renewed─▶ claimed, e+1 by the same owner

// Taken is the edge of Take: it compares the row's claim with (nobody, seen) and gives it to me at the next epoch.
func Taken(h store.Head, seen store.Epoch, me store.Owner, now time.Time) (store.Head, error) {
	if h.Status != store.Running {
		return h, fmt.Errorf("take %q, which is %v: %w", h.Instance, h.Status, store.ErrNotFound)
	}
	if !h.Owner.Nobody() || h.Epoch != seen {
		return h, fmt.Errorf("take %q at epoch %d, row is %v:%d: %w", h.Instance, seen, h.Owner, h.Epoch, store.ErrConflict)
	}
	h.Owner, h.Epoch, h.Since = me, seen+1, now
	return h, nil
}

// Renewed is the edge of Renew: its owner holds the row at the next epoch. Only a role is held for so long.
func Renewed(h store.Head, c store.Claim, now time.Time) (store.Head, error) {
	if h.Claim != c {
		return h, fmt.Errorf("renew %v, row is %v:%d: %w", c, h.Owner, h.Epoch, store.ErrConflict)
	}
	h.Epoch, h.Since = c.Epoch+1, now
	return h, nil
}

// Freed is the edge of Release: when the row's claim is still c, nobody holds it at the next epoch. It reports
// whether it was. Of an absent row it makes a void one, so that a spawn which saw the row absent comes too late.
func Freed(h store.Head, c store.Claim) (store.Head, bool) {
	if h.Claim != c {
		return h, false
	}
	if h.Status == store.Absent {
		h.Status = store.Void
	}
	return release(h), true
}

// Committed is the edge of a step: it asserts the whole claim, owner and epoch, and releases it.
func Committed(h store.Head, c store.Claim, status store.Status) (store.Head, error) {
	if h.Owner != c.Owner || h.Epoch != c.Epoch {
		return h, fmt.Errorf("commit under %v, row is %v:%d: %w", c, h.Owner, h.Epoch, store.ErrFenced)
	}
	h.Status = status
	return release(h), nil
}

// Vacated is the edge of Vacate: a row that has ended becomes void at the next epoch, and its instance may be spawned again.
func Vacated(h store.Head) (store.Head, error) {
	if !h.Status.Terminal() || !h.Owner.Nobody() {
		return h, fmt.Errorf("vacate %q, which is %v under %v: %w", h.Instance, h.Status, h.Owner, store.ErrConflict)
	}
	h.Status = store.Void
	return release(h), nil
}

// Spawned is the edge of a step that creates its row. It asserts that the row is absent or void at the epoch that the
// attempt has read; a row that exists means that another attempt at the same delivery was first.
func Spawned(h store.Head, c store.Claim, status store.Status) (store.Head, error) {
	if h.Status != store.Absent && h.Status != store.Void {
		return h, fmt.Errorf("spawn %q, which is %v: %w", h.Instance, h.Status, store.ErrDuplicate)
	}
	if h.Epoch != c.Epoch {
		return h, fmt.Errorf("spawn %q at epoch %d, row is at %d: %w", h.Instance, c.Epoch, h.Epoch, store.ErrFenced)
	}
	h.Status = status
	return release(h), nil
}

// release raises the epoch too: an owner that was freed, and woke, is an owner of the past.
func release(h store.Head) store.Head {
	h.Owner, h.Epoch, h.Since = store.Owner{}, h.Epoch+1, time.Time{}
	return h
}
