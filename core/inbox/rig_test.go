package inbox_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

const instance = store.InstanceID("i")

var errGuard = errors.New("guard refused")

// rig is a store with one instance; each effect appends the number of its attempt to the snapshot, so effects are
// counted apart from receipts.
type rig struct {
	st     *step.Store
	engine *memory.Engine
}

func newRig(s sched.Scheduler, o memory.Options) (*rig, error) {
	r := &rig{}
	r.st, r.engine = memory.Open(s, o)
	return r, r.engine.Plant(&store.Step{
		Cause: "given", Spawn: true, Status: store.Running,
		Claim: store.Claim{Instance: instance, Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: "i"}},
	})
}

// lane brings deliveries as one owner.
type lane struct {
	*rig
	inbox  *inbox.Inbox
	claims *claim.Claims
}

func (r *rig) lane(s sched.Scheduler, n uint32) *lane {
	me := store.Owner{Replica: "a", Lane: n, Incarnation: uint64(n)}
	return &lane{rig: r, inbox: inbox.New(s, r.st), claims: claim.New(s, r.st, step.NewCommitter(s, r.st, me), me)}
}

// bring makes attempt n at a delivery; refused makes the guard of its step refuse.
func (l *lane) bring(scope *sched.Scope, d store.Delivery, n int, refused bool) (inbox.Answer, error) {
	return l.inbox.Attempt(scope, d, 0, func(receipt *store.Receipt) error {
		return l.claims.With(scope, instance, func(h *claim.Hold) error {
			if refused {
				return errGuard
			}
			receipt.Reply = fmt.Append(nil, n)
			return l.step(scope, h, d, fmt.Sprint(n), receipt)
		})
	})
}

// step commits the effect of a delivery under a claim.
func (l *lane) step(scope *sched.Scope, h *claim.Hold, d store.Delivery, cause string, receipt *store.Receipt) error {
	in, _, err := h.Load(scope)
	if err != nil {
		return err
	}
	return h.Commit(scope, &store.Step{
		Cause: cause, Status: store.Running, Inbox: receipt, Snapshot: append(slices.Clone(in.Snapshot), d.ID+" "...),
	})
}

type peek func(func(step.View) error) error

// effects counts the effects that a state shows.
func effects(p peek) (map[string]int, error) {
	n := map[string]int{}
	err := p(func(v step.View) error {
		d, err := step.Inspect(v)
		for _, id := range strings.Fields(string(d.Instances[instance].Snapshot)) {
			n[id]++
		}
		return err
	})
	return n, err
}
