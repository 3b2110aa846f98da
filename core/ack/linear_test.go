package ack_test

import (
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// client performs the calls of one task on a tree and records them.
type client struct {
	id    int
	calls *linearizability.Calls
	tree  *ack.Tree
}

func (c client) resolve(shares []ack.Share, i, number int, fail bool) {
	op := linearizability.AckResolve
	if fail {
		op = linearizability.AckFail
	}
	end := c.calls.Begin(c.id, linearizability.AckInput{Op: op, Share: number})
	if fail {
		end(shares[i].Fail(errLost))
	} else {
		end(shares[i].Ack())
	}
}

func (c client) attach(n, number int) []ack.Share {
	end := c.calls.Begin(c.id, linearizability.AckInput{Op: linearizability.AckAttach, Share: number, N: n})
	shares := c.tree.Attach(n)
	end(shares[0].Owned())
	return shares
}

func (c client) outcome() {
	end := c.calls.Begin(c.id, linearizability.AckInput{Op: linearizability.AckOutcome})
	state := c.tree.Outcome()
	end(linearizability.AckState{Decided: state != ack.Open, Failed: state == ack.Failed})
}

// session is what one task does: it attaches, resolves a share of everybody's and its own, and looks.
func (c client) session(shared []ack.Share, fail bool) {
	mine := c.attach(1, 8+c.id)
	c.resolve(shared, c.id%len(shared), c.id%len(shared), fail)
	c.outcome()
	c.resolve(mine, 0, 8+c.id, false)
	c.outcome()
}

func TestLinearA1(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "A1/histories", func(t *testing.T) int {
		return sim.Judge(t, "A1/histories", func(w *sim.World) {
			calls := &linearizability.Calls{}
			tree, shared := ack.NewTree(w.Scheduler(), 2, nil)
			failing := w.Choose("failing", 4)
			for id := range 3 {
				w.Go("client", func() { client{id, calls, tree}.session(shared, id == failing) })
			}
			w.Join()
			client{3, calls, tree}.outcome()
			_, err := calls.Judge(linearizability.AckModel(2))
			w.Require(err == nil, "A1.linear", "%v", err)
		}, sim.Runs(300))
	})
}

// The same sessions on the real runtime, where the processors interleave them.
func TestLinearA1RealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "A1/real-histories", func(t *testing.T) int {
		const histories = 200
		for n := range histories {
			calls := &linearizability.Calls{}
			tree, shared := ack.NewTree(sched.Scheduler{}, 2, nil)
			var tasks sync.WaitGroup
			for id := range 3 {
				tasks.Go(func() { client{id, calls, tree}.session(shared, id == n%4) })
			}
			tasks.Wait()
			client{3, calls, tree}.outcome()
			if _, err := calls.Judge(linearizability.AckModel(2)); err != nil {
				inventory.Violated(t, t, "A1.linear", "%v", err)
			}
		}
		return histories
	})
}
