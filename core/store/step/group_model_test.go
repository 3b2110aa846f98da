package step_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// groupMachine drives two stores with one history: members of a group meet in one transaction of the first, and one by one
// in the second, which is the reference.
type groupMachine struct {
	t             *testing.T
	group, singly *step.Store
	dumps         [2]func() (step.Dump, error)
	n             int
}

func newGroupMachine(t *testing.T) *groupMachine {
	m := &groupMachine{t: t}
	for i, st := range []**step.Store{&m.group, &m.singly} {
		opened, engine := memory.Open(sched.Scheduler{}, memory.Options{})
		*st = opened
		m.dumps[i] = func() (step.Dump, error) { return step.InspectIn(engine.Peek) }
	}
	return m
}

func (m *groupMachine) same(t *rapid.T, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		inventory.Violated(m.t, t, "L6.group", "%s:\n together %+v\n singly   %+v", what, got, want)
	}
}

// commit draws a group of steps that share keys, rows and deliveries. Together they do what they do one by one in the order of
// their instances; or, when one of those is refused, nothing.
func (m *groupMachine) commit(t *rapid.T) {
	steps := m.draw(t)
	_, together := m.group.CommitAll(nil, slices.Clone(steps))
	refused := map[int]error{}
	slices.SortFunc(steps, func(a, b *store.Step) int { return cmp.Compare(a.Claim.Instance, b.Claim.Instance) })
	var first error
	for i, st := range steps {
		_, refused[i] = m.singly.Commit(nil, st)
		first = cmp.Or(first, refused[i])
	}
	m.same(t, "group", reason(t, together), reason(t, first))
	if together == nil {
		return
	}
	for i, st := range steps { // what was refused left nothing, so each member may be committed by itself
		_, err := m.group.Commit(nil, st)
		m.same(t, "member", reason(t, err), reason(t, refused[i]))
	}
}

func (m *groupMachine) check(t *rapid.T) {
	together, err := m.dumps[0]()
	m.same(t, "inspect error", err, nil)
	singly, err := m.dumps[1]()
	m.same(t, "inspect error", err, nil)
	for _, d := range []step.Dump{together, singly} {
		for i := range d.Heads {
			d.Heads[i].Since = due
		}
		for id, in := range d.Instances { //order:each has its own place
			in.Since = due
			d.Instances[id] = in
		}
	}
	m.same(t, "store", together, singly)
}

func (m *groupMachine) draw(t *rapid.T) (steps []*store.Step) {
	for _, id := range rapid.Permutation([]store.InstanceID{"a", "b", "c"}).Draw(t, "order")[:rapid.IntRange(1, 3).Draw(t, "members")] {
		m.n++
		steps = append(steps, m.member(t, id))
	}
	return steps
}

// member draws the step of one instance: its first one, or the next under a claim that it takes.
func (m *groupMachine) member(t *rapid.T, id store.InstanceID) *store.Step {
	me := store.Owner{Replica: "a", Lane: uint32(m.n), Incarnation: 1}
	st := &store.Step{
		Cause: fmt.Sprint("c", m.n), Status: store.Running, Claim: store.Claim{Instance: id, Owner: me},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "in", ID: fmt.Sprint(rapid.IntRange(max(m.n-1, 0), m.n).Draw(t, "delivery"))}},
	}
	head, _, err := m.group.Head(nil, id)
	m.same(t, "head error", err, nil)
	generation := uint64(0)
	if st.Spawn, st.Claim.Epoch = head.Status != store.Running, head.Epoch; !st.Spawn {
		in := m.take(t, id, head, me)
		st.Claim, generation = in.Claim, in.Generation
		for _, w := range in.Waits {
			if rapid.Bool().Draw(t, "close") {
				st.Close = append(st.Close, w.Generation)
			}
		}
	}
	if key := rapid.SampledFrom([]string{"", "k1", "k2"}).Draw(t, "key"); key != "" {
		st.Open = []store.Wait{{Generation: generation + 1, Channel: "c", Key: key}}
	}
	m.drawRows(t, st)
	return st
}

// drawRows lets the step write or delete one of two rows, and rest on what one of them was or may become.
func (m *groupMachine) drawRows(t *rapid.T, st *store.Step) {
	row := func(what string) store.Row {
		r := store.Row{Space: "s", Key: rapid.SampledFrom([]string{"x", "y"}).Draw(t, what)}
		if r.Delete = rapid.Bool().Draw(t, what+" absent"); !r.Delete {
			r.Value = []byte(rapid.SampledFrom([]string{"1", ""}).Draw(t, what+" value"))
		}
		return r
	}
	if rapid.Bool().Draw(t, "writes") {
		st.Rows = []store.Row{row("row")}
	}
	if rapid.Bool().Draw(t, "expects") {
		expect := row("expected")
		st.Expect = &expect
	}
}

// take frees what an earlier refusal left and takes the claim anew, in both stores.
func (m *groupMachine) take(t *rapid.T, id store.InstanceID, head store.Head, me store.Owner) (in store.Instance) {
	for _, st := range []*step.Store{m.group, m.singly} {
		epoch := head.Epoch
		if !head.Owner.Nobody() {
			_, _, err := st.Release(nil, head.Claim)
			m.same(t, "release error", err, nil)
			epoch++
		}
		c, _, err := st.Take(nil, id, epoch, me)
		m.same(t, "take error", err, nil)
		in, _, err = st.Load(nil, c)
		m.same(t, "load error", err, nil)
	}
	return in
}

// reason is the sentinel of a refusal.
func reason(t *rapid.T, err error) error {
	for _, sentinel := range []error{store.ErrFenced, store.ErrDuplicate, store.ErrConflict, store.ErrAlias, store.ErrSuperseded} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

func TestModelL6GroupAgainstItsMembers(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L6/group-against-its-members", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			m := newGroupMachine(outer)
			t.Repeat(map[string]func(*rapid.T){"commit": m.commit, "": m.check})
		})
		return cases
	})
}
