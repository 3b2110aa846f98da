package sink_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

var errStop = errors.New("stop")

func TestPayloadWithoutRowsIsAcknowledged(t *testing.T) {
	root := ack.New(sched.Scheduler{}, nil)
	p := sink.NewPayload(sched.Scheduler{}, 0, root)
	if root.Tree().Outcome() != ack.Succeeded || p.Teardown(errStop) {
		t.Fatalf("outcome %v", root.Tree().Outcome())
	}
}

func TestRejectedRowsReturnToPending(t *testing.T) {
	root := ack.New(sched.Scheduler{}, nil)
	p := sink.NewPayload(sched.Scheduler{}, 2, root)
	first := p.Take(nil, 9)
	if len(first) != 2 || len(p.Take(nil, 9)) != 0 {
		t.Fatalf("took %v", first)
	}
	if !p.Deliver(first[0]) || !p.Reject(first[1]) || p.Deliver(first[1]) {
		t.Fatal("an answer counted where it must not, or did not where it must")
	}
	second := p.Take(nil, 9)
	if len(second) != 1 || second[0].Index != 1 || root.Tree().Outcome() != ack.Open {
		t.Fatalf("took %v again", second)
	}
	if p.Bury(first[1]) || !p.Bury(second[0]) || root.Tree().Outcome() != ack.Succeeded {
		t.Fatalf("outcome %v", root.Tree().Outcome())
	}
}

// sinkMachine drives a payload and its model side by side. Old rows stay, so that late answers are tried too.
type sinkMachine struct {
	inventory.Judge

	model   models.Sink
	payload *sink.Payload
	tree    *ack.Tree
	seen    []sink.Row
	attempt []int
}

func (m *sinkMachine) take(t *rapid.T) {
	limit := rapid.IntRange(0, 3).Draw(t, "limit")
	want := m.model.Take(limit)
	got := m.payload.Take(nil, limit)
	if len(got) != len(want) {
		m.Wrong(t, "took %v, model %v", got, want)
	}
	for i, row := range got {
		if row.Index != want[i] {
			m.Wrong(t, "took %v, model %v", got, want)
		}
		m.seen = append(m.seen, row)
		m.attempt = append(m.attempt, m.model.Rows[row.Index].Attempt)
	}
}

func (m *sinkMachine) answer(t *rapid.T) {
	if len(m.seen) == 0 {
		t.Skip("nothing was sent")
	}
	i := rapid.IntRange(0, len(m.seen)-1).Draw(t, "sent")
	kind := rapid.IntRange(0, 2).Draw(t, "answer")
	want := m.model.Answer(m.seen[i].Index, m.attempt[i], kind > 0)
	got := [...]func(sink.Row) bool{m.payload.Reject, m.payload.Deliver, m.payload.Bury}[kind](m.seen[i])
	if got != want {
		m.Wrong(t, "answer %d to attempt %d of row %d: %t, model %t", kind, m.attempt[i], m.seen[i].Index, got, want)
	}
}

func (m *sinkMachine) teardown(t *rapid.T) {
	if got, want := m.payload.Teardown(errStop), m.model.Teardown(); got != want {
		m.Wrong(t, "teardown: %t, model %t", got, want)
	}
}

func (m *sinkMachine) check(t *rapid.T) {
	want := ack.Open
	if m.model.Acknowledged {
		want = ack.Succeeded
	}
	if m.model.Torn {
		want = ack.Failed
	}
	n, torn := m.payload.Unresolved()
	if m.tree.Outcome() != want || n != m.model.Unresolved() || torn != m.model.Torn {
		m.Wrong(t, "outcome %v, %d unresolved, torn %t; model %+v", m.tree.Outcome(), n, torn, m.model)
	}
}

func TestModelG6(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "G6/model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			n := rapid.IntRange(0, 4).Draw(t, "rows")
			root := ack.New(sched.Scheduler{}, nil)
			m := &sinkMachine{
				Judge: inventory.Judge{Test: test, ID: "G6.model"},
				model: models.NewSink(n), tree: root.Tree(),
				payload: sink.NewPayload(sched.Scheduler{}, n, root),
			}
			t.Repeat(map[string]func(*rapid.T){
				"take": m.take, "answer": m.answer, "answer again": m.answer, "teardown": m.teardown, "": m.check,
			})
		})
		return cases
	})
}

// delivery is a payload under test with the tree it resolves.
func delivery(w *sim.World, rows int) (*sink.Payload, *ack.Tree) {
	root := ack.New(w.Scheduler(), nil)
	p := sink.NewPayload(w.Scheduler(), rows, root)
	w.Own(p)
	return p, root.Tree()
}

// Three rows are answered by three tasks while a fourth tears the payload down. Teardown before the last answer fails
// the delivery whatever is answered later; otherwise everything was delivered.
func TestSimG6TeardownIsNoDelivery(t *testing.T) {
	sim.Check(t, "G6/teardown-is-no-delivery", func(w *sim.World) {
		p, tree := delivery(w, 3)
		torn := false
		for _, row := range p.Take(nil, 3) {
			w.Go("answer", func() { w.Require(p.Deliver(row), "G6.I1", "row %d was not in flight", row.Index) })
		}
		w.Go("teardown", func() { torn = p.Teardown(errStop) })
		w.Join()
		want := ack.Succeeded
		if torn {
			want = ack.Failed
		}
		w.Require(tree.Outcome() == want, "G6.I3", "torn down %t, outcome %v", torn, tree.Outcome())
	})
}

// An attempt times out and its row is sent again, while the answer to the first attempt is still under way: one of
// the two attempts resolves the row, and the delivery is acknowledged once it did.
func TestSimG6LateAnswerCountsForNothing(t *testing.T) {
	sim.Check(t, "G6/late-answer-counts-for-nothing", func(w *sim.World) {
		p, tree := delivery(w, 2)
		first := p.Take(nil, 1)[0]
		counted, late, rejected := 0, false, false
		w.Go("late answer", func() {
			if late = p.Deliver(first); late {
				counted++
			}
		})
		w.Go("timeout", func() {
			if rejected = p.Reject(first); !rejected {
				return
			}
			again := p.Take(nil, 1)
			w.Require(len(again) == 1 && again[0].Index == first.Index, "G6.I1", "took %v after a rejection", again)
			if p.Deliver(again[0]) {
				counted++
			}
		})
		w.Join()
		w.Require(counted == 1 && late != rejected, "G6.I1", "the row was resolved %d times, late %t, rejected %t", counted, late, rejected)
		w.Require(tree.Outcome() == ack.Open, "G6.I2", "one row of two ended the delivery: %v", tree.Outcome())
		last := p.Take(nil, 1)
		w.Require(len(last) == 1 && p.Bury(last[0]), "G6.I1", "could not bury %v", last)
		w.Require(tree.Outcome() == ack.Succeeded, "G6.I2", "outcome %v after the last row", tree.Outcome())
	})
}
