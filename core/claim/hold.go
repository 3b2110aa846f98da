package claim

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Hold is one claim that is held, until Commit or Free. It belongs to the task that took it.
type Hold struct {
	claims *Claims
	claim  store.Claim
	spent  bool
}

// Claim returns the claim. It stays what it was after the hold has ended.
func (h *Hold) Claim() store.Claim { return h.claim }

// Load reads the instance. What was read may leave the node after the ticket is durable. store.ErrFenced means that a
// sweep was early.
func (h *Hold) Load(scope *sched.Scope) (store.Instance, store.Ticket, error) {
	h.unspent("load")
	in, t, err := h.claims.steps.Load(scope, h.claim)
	if err == nil {
		h.claims.emit("Load", h.claim)
	}
	return in, t, err
}

// Commit commits the step under this claim and returns nil when it is durable; the commit has freed the claim then.
// After a definite refusal the claim is still held, unless the error is store.ErrFenced: then it is lost. After
// an error that is not definite ([store.Definite]) nothing is known, and the owner must end.
func (h *Hold) Commit(scope *sched.Scope, st *store.Step) error {
	h.unspent("commit")
	st.Claim = h.claim
	h.emit("Send", st)
	err := h.claims.steps.Commit(scope, st)
	if err == nil {
		h.emit("Committed", st)
		h.spend()
		return nil
	}
	if store.Definite(err) {
		h.emit("Failed", st)
	}
	return fmt.Errorf("commit under %v: %w", h.claim, err)
}

// Free ends the hold, if it has not ended. It is for every exit but a commit, so it does not depend on the scope that may
// just have ended, and it is bounded by FreeAttempts instead. Nothing rests on what it frees, so it need not be durable.
func (h *Hold) Free() error {
	if h.spent {
		return nil
	}
	h.spend()
	c := h.claims
	c.emit("GiveUp", h.claim)
	var err error
	for range FreeAttempts {
		if _, _, err = c.store.Release(nil, h.claim); err == nil {
			c.emit("Freed", h.claim) // or lost before
			return nil
		}
		if stop := c.pause(nil, err); stop != nil {
			break
		}
	}
	return fmt.Errorf("free %v: %w", h.claim, err)
}

// emit reports an action of the specification on a step.
func (h *Hold) emit(action string, st *store.Step) {
	if s := h.claims.s; s.Traced() {
		s.Emit(h.claims, action, h.claim, st.Cause)
	}
}

func (h *Hold) spend() {
	h.spent = true
	*h.claims.outstanding.Edit()--
}

// unspent panics on a use after the end: the caller would act without the claim.
func (h *Hold) unspent(verb string) {
	if h.spent {
		panic(fmt.Sprintf("claim: %s under %v after the hold ended", verb, h.claim))
	}
}
