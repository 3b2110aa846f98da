package engine_test

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// whisper is what one replica tells the others, in one of its lives. Hints get lost, come late, come twice, or were meant to be about
// something else: they must change nothing but when somebody looks.
type whisper struct{ r *replica }

// hinter begins what a replica tells and hears in its next life; nil when the fleet has no hints.
func (r *replica) hinter() store.Hinter {
	if !r.f.told {
		return nil
	}
	r.hints = sched.NewChan[store.Hint](r.f.Scheduler(), "hints", 16)
	return whisper{r}
}

// Hint implements [store.Hinter].
func (h whisper) Hint(kinds store.Hint) {
	for _, other := range h.r.f.replicas {
		if other != h.r && other.hints != nil {
			h.r.f.whisper(other.hints, kinds)
		}
	}
}

func (f *fleet) whisper(to *sched.Chan[store.Hint], kinds store.Hint) {
	const lost, late, twice, wrong = 0, 1, 2, 3
	fate := -1
	if !f.honest {
		fate = f.Choose("hint", 6)
	}
	switch fate {
	case lost:
	case late:
		f.Go("late hint", func() {
			f.sleep(time.Duration(1+f.Choose("late", 5)) * time.Second)
			to.TrySend(kinds)
		})
	case twice:
		to.TrySend(kinds)
		to.TrySend(kinds)
	case wrong:
		to.TrySend(store.HintAll &^ kinds)
	default:
		to.TrySend(kinds)
	}
}

// NextHint implements [store.Hinter].
func (h whisper) NextHint(scope *sched.Scope) (store.Hint, error) {
	kinds, _, err := h.r.hints.ReceiveWithin(scope)
	return kinds, err
}
