package claim_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// rowMachine drives one row of a store and its model side by side.
type rowMachine struct {
	t     *testing.T
	st    store.Store
	row   models.Claim
	steps int
}

func modelOwner(n int) store.Owner {
	if n == 0 {
		return store.Owner{}
	}
	return store.Owner{Replica: "a", Lane: uint32(n), Incarnation: 1}
}

// epoch draws one that is near enough to the row's to be it now and then.
func (m *rowMachine) epoch(t *rapid.T) uint64 {
	return m.row.Epoch + uint64(rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "epoch"))
}

func (m *rowMachine) owner(t *rapid.T) int {
	return rapid.SampledFrom([]int{m.row.Owner, 1, 2}).Draw(t, "owner")
}

func answerOf(t *rapid.T, err error) models.ClaimAnswer {
	for want, answer := range map[error]models.ClaimAnswer{
		store.ErrConflict: models.ClaimConflict, store.ErrFenced: models.ClaimFenced,
		store.ErrDuplicate: models.ClaimDuplicate, store.ErrNotFound: models.ClaimNotFound,
	} {
		if errors.Is(err, want) {
			return answer
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return models.ClaimDone
}

func (m *rowMachine) same(t *rapid.T, what string, got, want any) {
	if got != want {
		inventory.Violated(m.t, t, "L3.model", "%s: got %v, model %v, row %+v", what, got, want, m.row)
	}
}

func (m *rowMachine) take(t *rapid.T) {
	seen, me := m.epoch(t), rapid.IntRange(1, 2).Draw(t, "me")
	_, _, err := m.st.Take(nil, instance, store.Epoch(seen), modelOwner(me))
	m.same(t, "take", answerOf(t, err), m.row.Take(seen, me))
}

func (m *rowMachine) renew(t *rapid.T) {
	owner, epoch := max(m.owner(t), 1), m.epoch(t)
	_, _, err := m.st.Renew(nil, store.Claim{Instance: instance, Owner: modelOwner(owner), Epoch: store.Epoch(epoch)})
	m.same(t, "renew", answerOf(t, err), m.row.Renew(owner, epoch))
}

func (m *rowMachine) release(t *rapid.T) {
	owner, epoch := m.owner(t), m.epoch(t)
	freed, _, err := m.st.Release(nil, store.Claim{Instance: instance, Owner: modelOwner(owner), Epoch: store.Epoch(epoch)})
	m.same(t, "release error", err, nil)
	m.same(t, "release", freed, m.row.Release(owner, epoch))
}

func (m *rowMachine) step(owner int, epoch uint64) *store.Step {
	m.steps++
	return &store.Step{
		Cause: cause(uint32(owner), m.steps), Status: store.Running,
		Claim: store.Claim{Instance: instance, Owner: modelOwner(owner), Epoch: store.Epoch(epoch)},
	}
}

func (m *rowMachine) commit(t *rapid.T) {
	owner, epoch, ends := max(m.owner(t), 1), m.epoch(t), rapid.IntRange(0, 5).Draw(t, "ends") == 0
	st := m.step(owner, epoch)
	if ends {
		st.Status = store.Completed
	}
	_, err := m.st.Commit(nil, st)
	m.same(t, "commit", answerOf(t, err), m.row.Commit(owner, epoch, ends))
}

func (m *rowMachine) spawn(t *rapid.T) {
	seen := m.epoch(t)
	st := m.step(1, seen)
	st.Spawn, st.Inbox = true, &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: st.Cause}}
	_, err := m.st.Commit(nil, st)
	m.same(t, "spawn", answerOf(t, err), m.row.Spawn(seen))
}

func (m *rowMachine) check(t *rapid.T) {
	h, _, err := m.st.Head(nil, instance)
	m.same(t, "head error", err, nil)
	status := map[store.Status]models.ClaimStatus{
		store.Absent: models.ClaimAbsent, store.Void: models.ClaimVoid,
		store.Running: models.ClaimRunning, store.Completed: models.ClaimEnded,
	}[h.Status]
	m.same(t, "status", status, m.row.Status)
	m.same(t, "claim", h.Claim, store.Claim{Instance: instance, Owner: modelOwner(m.row.Owner), Epoch: store.Epoch(m.row.Epoch)})
	heads, _, err := m.st.Claimed(nil, "", 10)
	m.same(t, "claimed error", err, nil)
	m.same(t, "listed as claimed", len(heads) == 1, m.row.Owner != 0)
}

func TestModelL3RowAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L3/row-against-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			st, _ := memory.Open(sched.Scheduler{}, memory.Options{})
			m := &rowMachine{t: outer, st: st}
			t.Repeat(map[string]func(*rapid.T){
				"take": m.take, "renew": m.renew, "release": m.release, "commit": m.commit, "spawn": m.spawn, "": m.check,
			})
		})
		return cases
	})
}
