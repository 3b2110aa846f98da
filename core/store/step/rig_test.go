package step_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

const instance = store.InstanceID("i")

var due = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)

// rig is a simulated store with one instance and the lanes that advance it. Every step leaves its cause in each part of
// the transaction, so what is torn shows.
type rig struct {
	*sim.World
	st     *step.Store
	engine *memory.Engine
	inc    uint64
	told   map[string]bool // cause → committed; a cause that nobody was told about is not in it
}

func newRig(w *sim.World, o memory.Options) *rig {
	r := &rig{World: w, told: map[string]bool{}}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	r.NoError(r.engine.Plant(r.spawning("given", 0, store.Owner{Replica: "given"})))
	w.Invariant("L6.I1", r.atomic)
	return r
}

func (r *rig) dump() (step.Dump, error) { return step.InspectIn(r.engine.Peek) }

// spawning returns the step of an attempt to create the instance; the delivery names the instance.
func (r *rig) spawning(cause string, epoch store.Epoch, me store.Owner) *store.Step {
	return r.fill(&store.Step{
		Cause: cause, Spawn: true, Claim: store.Claim{Instance: instance, Owner: me, Epoch: epoch},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "spawn", ID: string(instance)}},
	}, store.Instance{})
}

// fill lets the step leave its cause everywhere.
func (r *rig) fill(st *store.Step, in store.Instance) *store.Step {
	st.Status = store.Running
	st.Snapshot = append(slices.Clone(in.Snapshot), st.Cause+" "...)
	for _, w := range in.Waits {
		st.Close = append(st.Close, w.Generation)
	}
	st.Open = []store.Wait{{Generation: in.Generation + 1, Element: st.Cause, Channel: "c", Key: "k", Due: due}}
	st.Outbox = []store.Emission{{Target: "r", Payload: []byte(st.Cause)}}
	st.Rows = []store.Row{{Space: "s", Key: st.Cause}}
	if st.Inbox == nil {
		st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: st.Cause}}
	}
	return st
}

// atomic judges I1 and I2 on the visible state: each part tells the same story.
func (r *rig) atomic() error {
	d, err := r.dump()
	if err != nil {
		return err
	}
	in := d.Instances[instance]
	want := strings.Fields(string(in.Snapshot))
	slices.Sort(want)
	var receipts, emissions, rows []string
	for _, x := range d.Receipts {
		receipts = append(receipts, x.Cause)
	}
	for i, x := range d.Emissions {
		emissions = append(emissions, string(x.Payload))
		if x.Sequence != uint64(i+1) {
			return sched.Broken("L6.I4", "emission %d has number %d", i+1, x.Sequence)
		}
	}
	for _, x := range d.Rows {
		rows = append(rows, x.Key)
	}
	for name, got := range map[string][]string{"inbox": receipts, "outbox": emissions, "rows": rows} {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return sched.Broken("L6.I1", "the snapshot has %q, the %s %q", want, name, got)
		}
	}
	if err := recordsKept(d); err != nil {
		return err
	}
	return waitsAgree(d, in)
}

// recordsKept judges D4 where the records are: each step forgets its owner's last one.
func recordsKept(d step.Dump) error {
	kept := map[store.Owner]int{}
	for _, x := range d.Records {
		if kept[x.Owner]++; kept[x.Owner] > 1 {
			return sched.Broken("L6.D4", "the store keeps %d records of %v: %v", kept[x.Owner], x.Owner, d.Records)
		}
	}
	return nil
}

func waitsAgree(d step.Dump, in store.Instance) error {
	if len(in.Waits) != len(d.Aliases) || len(in.Waits) != len(d.Timers) {
		return sched.Broken("L6.I2", "%d waits, %d aliases, %d timers", len(in.Waits), len(d.Aliases), len(d.Timers))
	}
	for i, w := range in.Waits {
		if d.Aliases[i].Generation != w.Generation || d.Timers[i].Generation != w.Generation {
			return sched.Broken("L6.I2", "wait %d has alias %+v and timer %+v", w.Generation, d.Aliases[i], d.Timers[i])
		}
	}
	return nil
}

// lane is one owner with its committer.
type lane struct {
	*rig
	me        store.Owner
	committer *step.Committer
	claims    *claim.Claims
}

func (r *rig) lane(n uint32) *lane {
	r.inc++
	l := &lane{rig: r, me: store.Owner{Replica: "a", Lane: n, Incarnation: r.inc}}
	l.committer = step.NewCommitter(r.Scheduler(), r.st, l.me)
	l.claims = claim.New(r.Scheduler(), r.st, l.committer, l.me)
	r.Own(l.committer)
	return l
}

// advance runs one step under the cause.
func (l *lane) advance(scope *sched.Scope, cause string, change func(*store.Step)) error {
	return l.claims.With(scope, instance, func(h *claim.Hold) error {
		in, _, err := h.Load(scope)
		if err != nil {
			return err
		}
		st := l.fill(&store.Step{Cause: cause}, in)
		if change != nil {
			change(st)
		}
		return l.hear(cause, h.Commit(scope, st))
	})
}

// hear notes what the lane was told of its step, and judges D1 at once: committed means durable.
func (r *rig) hear(cause string, err error) error {
	switch {
	case err == nil:
		r.told[cause] = true
		r.Require(r.durable(cause), "L6.D1", "%s was told committed and a crash may take it back", cause)
	case store.Definite(err):
		r.told[cause] = false
	}
	return err
}

// durable reports whether the worst crash would leave the step's receipt.
func (r *rig) durable(cause string) bool {
	d, err := step.InspectIn(r.engine.PeekDurable)
	r.NoError(err)
	return slices.ContainsFunc(d.Receipts, func(x store.Receipt) bool { return x.Cause == cause })
}

// judge compares what was told with what is there.
func (r *rig) judge() {
	d, err := r.dump()
	r.NoError(err)
	has := map[string]int{}
	for _, x := range d.Receipts {
		has[x.Cause]++
	}
	for _, cause := range slices.Sorted(maps.Keys(r.told)) {
		committed := r.told[cause]
		r.Require(!committed || has[cause] == 1, "L6.D1", "%s was told committed and took effect %d times", cause, has[cause])
		r.Require(committed || has[cause] == 0, "L6.D2", "%s was told failed and took effect", cause)
	}
}

// refused fails on every error but the allowed ones.
func (r *rig) refused(err error, allowed ...error) {
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	r.NoError(err)
}

func cause(lane uint32, n int) string { return fmt.Sprintf("c%d.%d", lane, n) }
