package step

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

var _ store.Groups = (*Store)(nil)

// CommitAll implements [store.Groups].
func (s *Store) CommitAll(scope *sched.Scope, steps []*store.Step) (store.Ticket, error) {
	if err := store.ValidateGroup(steps); err != nil {
		return 0, err
	}
	t, err := s.engine.Update(scope, "commit", true, func(tx Tx) error { return applyAll(tx, steps) })
	if err != nil {
		return t, fmt.Errorf("commit %d steps: %w", len(steps), err)
	}
	return t, nil
}

// applyAll runs the transactions of steps of different instances as one. A member that is refused aborts all.
func applyAll(tx Tx, steps []*store.Step) error {
	o := &overlay{Tx: tx, written: map[string][]byte{}}
	for _, st := range slices.SortedFunc(slices.Values(steps), func(a, b *store.Step) int {
		return cmp.Compare(a.Claim.Instance, b.Claim.Instance)
	}) {
		if err := Apply(o, st); err != nil {
			return fmt.Errorf("step %s of %v: %w", st.Cause, st.Claim, err)
		}
	}
	if t, traced := tx.(Tracer); traced {
		t.Emit("LandGroup", steps)
	}
	return nil
}

// overlay lets a member read what members before it have written: inbox and alias keys are shared by all. A step reads by
// key alone, and nothing that is held but its own head, so that scans and what is held may go past it.
type overlay struct {
	Tx
	written map[string][]byte // nil: deleted
}

// Get implements [View].
func (o *overlay) Get(key []byte) ([]byte, bool, error) {
	if value, known := o.written[string(key)]; known {
		return value, value != nil, nil
	}
	return o.Tx.Get(key)
}

// Set implements [Tx].
func (o *overlay) Set(key, value []byte) {
	o.written[string(key)] = append([]byte{}, value...)
	o.Tx.Set(key, value)
}

// Delete implements [Tx].
func (o *overlay) Delete(key []byte) {
	o.written[string(key)] = nil
	o.Tx.Delete(key)
}
