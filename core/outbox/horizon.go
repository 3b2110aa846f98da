package outbox

import (
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Horizon tells how far back an outbox reaches. What remembers that an emission has arrived, a mark or a receipt, must outlive the
// emission's row: the row may be sent again for as long as it is there, also after a node was down for longer than anything was
// to be remembered.
//
// It walks through the outbox, a page at a time, and goes on only when every row of the page has gone. When the walk has come to the
// end, no row is left that was there when it began. Rows that came later may hold it up and do no harm. It belongs to one task.
type Horizon struct {
	s      sched.Scheduler
	source Source
	walk   sched.Cell[walk]
}

type walk struct {
	known   time.Time // nothing was written before it that is still there; zero: not known
	began   time.Time // zero: no walk
	cursor  store.Emission
	waiting []store.Emission // of the page up to the cursor, those that were there when it was last looked at
	seen    store.Ticket
}

// horizonPage is how many rows a walk waits for at a time, and horizonPages how many pages one look takes at most.
const (
	horizonPage  = 128
	horizonPages = 64
)

// NewHorizon returns a horizon of source that knows nothing yet.
func NewHorizon(s sched.Scheduler, source Source) *Horizon {
	return &Horizon{s: s, source: source, walk: sched.NewCell(s, "outbox horizon", walk{})}
}

// Look goes on with the walk and returns a time before which no row was written that is still in the outbox; zero when that is not
// known yet. What the answer rests on is durable. It waits for the store.
func (h *Horizon) Look(scope *sched.Scope) (time.Time, error) {
	w := h.walk.Edit()
	if w.began.IsZero() {
		*w = walk{known: w.known, began: h.s.Now()}
	}
	for range horizonPages {
		gone, err := h.gone(scope, w)
		if err != nil || !gone {
			return w.known, err
		}
		rows, t, err := h.source.Emissions(scope, w.cursor, horizonPage)
		if err != nil {
			return w.known, fmt.Errorf("look for the horizon of the outbox: %w", err)
		}
		w.seen = t
		if len(rows) == 0 {
			return h.arrive(scope, w)
		}
		w.waiting, w.cursor = rows, rows[len(rows)-1]
	}
	return w.known, nil
}

// gone reports whether every row that the walk waits for has left.
func (h *Horizon) gone(scope *sched.Scope, w *walk) (bool, error) {
	for len(w.waiting) > 0 {
		row := w.waiting[0]
		rows, t, err := h.source.Emissions(scope, store.Emission{Instance: row.Instance, Sequence: row.Sequence - 1}, 1)
		if err != nil {
			return false, fmt.Errorf("look for emission %s/%d: %w", row.Instance, row.Sequence, err)
		}
		if len(rows) > 0 && rows[0].Instance == row.Instance && rows[0].Sequence == row.Sequence {
			return false, nil
		}
		w.waiting, w.seen = w.waiting[1:], t
	}
	return true, nil
}

// arrive ends the walk when the absence of its rows is durable.
func (h *Horizon) arrive(scope *sched.Scope, w *walk) (time.Time, error) {
	if err := h.source.WaitDurable(scope, w.seen); err != nil {
		return w.known, fmt.Errorf("look for the horizon of the outbox: %w", err)
	}
	w.known, w.began = w.began, time.Time{}
	return w.known, nil
}
