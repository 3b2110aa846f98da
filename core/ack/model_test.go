package ack_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// treeMachine drives a tree and its model side by side.
type treeMachine struct {
	inventory.Judge

	model  models.Ack
	tree   *ack.Tree
	shares []*ack.Share
	told   told
}

func (m *treeMachine) keep(shares []ack.Share) {
	for i := range shares {
		m.shares = append(m.shares, &shares[i])
	}
}

func (m *treeMachine) attach(t *rapid.T) {
	n := rapid.IntRange(0, 3).Draw(t, "n")
	owned := m.model.Attach(n)
	shares := m.tree.Attach(n)
	for i := range shares {
		if shares[i].Owned() != owned {
			m.Wrong(t, "attached share owned %t, model %t", shares[i].Owned(), owned)
		}
	}
	m.keep(shares)
}

func (m *treeMachine) resolve(t *rapid.T) {
	if len(m.shares) == 0 {
		t.Skip("no share yet")
	}
	i := rapid.IntRange(0, len(m.shares)-1).Draw(t, "share")
	failed := rapid.Bool().Draw(t, "failed")
	want := m.model.Resolve(i, failed)
	var got bool
	if failed {
		got = m.shares[i].Fail(errLost)
	} else {
		got = m.shares[i].Ack()
	}
	if got != want {
		m.Wrong(t, "resolve share %d (failed %t): %t, model %t", i, failed, got, want)
	}
}

func (m *treeMachine) check(t *rapid.T) {
	want := ack.Open
	if m.model.Decided {
		want = ack.Succeeded
	}
	if m.model.Failed {
		want = ack.Failed
	}
	told := 0
	if m.model.Decided {
		told = 1
	}
	cause, known := m.tree.Cause()
	if m.tree.Outcome() != want || m.told.times != told || known != m.model.Decided || (cause != nil) != m.model.Failed {
		m.Wrong(t, "outcome %v told %d cause %v known %t, model %+v", m.tree.Outcome(), m.told.times, cause, known, m.model)
	}
	if m.tree.Active() != m.model.Unresolved() {
		m.Wrong(t, "%d active shares, model %d", m.tree.Active(), m.model.Unresolved())
	}
}

func TestModelA1(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "A1/model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			m := &treeMachine{Judge: inventory.Judge{Test: test, ID: "A1.model"}}
			n := rapid.IntRange(0, 3).Draw(t, "initial")
			m.model = models.NewAck(n)
			tree, shares := ack.NewTree(sched.Scheduler{}, n, &m.told)
			m.tree = tree
			m.keep(shares)
			t.Repeat(map[string]func(*rapid.T){"attach": m.attach, "resolve": m.resolve, "": m.check})
		})
		return cases
	})
}
