package group_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/group"
)

func TestMain(m *testing.M) { sim.Main(m) }

// rig is a simulated store with an instance for each lane, and commits that are grouped.
type rig struct {
	*sim.World
	engine *memory.Engine
	group  *group.Store
	told   map[string]bool // cause → committed
	causes []string        // those of told, in the order of being told
}

func newRig(w *sim.World, lanes int, o memory.Options) *rig {
	r := &rig{World: w, told: map[string]bool{}}
	var st *step.Store
	st, r.engine = memory.Open(w.Scheduler(), o)
	for n := range lanes {
		w.NoError(r.engine.Plant(spawning(n)))
	}
	if lanes > 0 {
		spec.Attach(w, r.engine)
	}
	var err error
	r.group, err = group.New(w.Scheduler(), w.Scope(), group.Options{Leaders: 1 + w.Choose("leaders", 2)}, st)
	w.NoError(err)
	w.Own(r.group)
	w.Finally(r.judge)
	return r
}

func id(lane int) store.InstanceID { return store.InstanceID(fmt.Sprint("i", lane)) }

func spawning(lane int) *store.Step {
	return &store.Step{
		Cause: fmt.Sprint("spawn", lane), Spawn: true, Status: store.Running,
		Claim: store.Claim{Instance: id(lane), Owner: store.Owner{Replica: "given"}},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "spawn", ID: fmt.Sprint(lane)}},
	}
}

// lane is one owner with its committer, over the grouped store.
type lane struct {
	*rig
	n         int
	claims    *claim.Claims
	committer *step.Committer
}

func (r *rig) lane(n int) *lane {
	me := store.Owner{Replica: "a", Lane: uint32(n), Incarnation: 1}
	c := step.NewCommitter(r.Scheduler(), r.group, me)
	return &lane{rig: r, n: n, committer: c, claims: claim.New(r.Scheduler(), r.group, c, me)}
}

// advance runs one step of the lane's instance that takes in the delivery.
func (l *lane) advance(cause, delivery string) error {
	err := l.claims.With(l.Scope(), id(l.n), func(h *claim.Hold) error {
		return l.hear(cause, h.Commit(l.Scope(), &store.Step{
			Cause: cause, Status: store.Running, Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: delivery}},
		}))
	})
	return err
}

// hear notes what the lane was told, and judges at once: committed means durable.
func (r *rig) hear(cause string, err error) error {
	switch {
	case err == nil:
		r.told[cause], r.causes = true, append(r.causes, cause)
		r.Require(slices.Contains(r.receipts(r.engine.PeekDurable), cause), "S3.I1", "%s was told committed and is not durable", cause)
	case store.Definite(err):
		r.told[cause], r.causes = false, append(r.causes, cause)
	}
	return err
}

// receipts are the causes of the steps that took effect.
func (r *rig) receipts(peek func(func(step.View) error) error) (causes []string) {
	d, err := step.InspectIn(peek)
	r.NoError(err)
	for _, x := range d.Receipts {
		causes = append(causes, x.Cause)
	}
	return causes
}

// judge compares what was told with what is there.
func (r *rig) judge() {
	there := r.receipts(r.engine.Peek)
	for _, cause := range r.causes {
		has := slices.Contains(there, cause)
		r.Require(!r.told[cause] || has, "S3.I1", "%s was told committed and took no effect", cause)
		r.Require(r.told[cause] || !has, "S3.I2", "%s was told failed and took effect", cause)
	}
}

// expect fails on an error that is none of these.
func (r *rig) expect(err error, known ...error) {
	for _, k := range known {
		if errors.Is(err, k) {
			return
		}
	}
	r.NoError(err)
}
