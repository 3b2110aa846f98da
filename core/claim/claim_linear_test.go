package claim_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// client calls the claim operations of a store as one owner, and records what it saw.
type client struct {
	id    int
	st    store.Store
	calls *linearizability.Calls
	lost  *[]func(any) // returns of lost calls: they may take effect until the history ends
	n     int
}

// ask reads the row's claim.
func (c *client) ask() linearizability.ClaimOutput {
	end := c.calls.Begin(c.id, linearizability.ClaimInput{Op: linearizability.ClaimHead})
	h, _, err := c.st.Head(nil, instance)
	out := linearizability.ClaimOutput{Lost: err != nil, Owner: int(h.Owner.Lane), Epoch: uint64(h.Epoch)}
	end(out)
	return out
}

// call records one changing operation and reports whether it is known to be done.
func (c *client) call(op linearizability.ClaimOp, owner int, epoch uint64, f func() (bool, error)) bool {
	end := c.calls.Begin(c.id, linearizability.ClaimInput{Op: op, Owner: owner, Epoch: epoch})
	done, err := f()
	if errors.Is(err, store.ErrUnknown) {
		*c.lost = append(*c.lost, func(any) { end(linearizability.ClaimOutput{Lost: true}) })
		return false
	}
	end(linearizability.ClaimOutput{Done: done && err == nil})
	return done && err == nil
}

// session takes the claim it sees, and commits or releases, over and over; what it meets of others it sweeps.
func (c *client) session(rounds int) {
	for range rounds {
		seen := c.ask()
		switch {
		case seen.Owner == 0:
			c.takeAndEnd(seen.Epoch)
		case seen.Owner != c.id && c.n%2 == 0:
			c.release(seen.Owner, seen.Epoch)
		}
		c.n++
	}
}

func (c *client) takeAndEnd(epoch uint64) {
	taken := c.call(linearizability.ClaimTake, c.id, epoch, func() (bool, error) {
		_, _, err := c.st.Take(nil, instance, store.Epoch(epoch), modelOwner(c.id))
		return err == nil, err
	})
	held := epoch + 1
	if taken && c.n%2 == 1 && c.renew(held) {
		held++
	}
	switch {
	case !taken:
	case c.n%3 == 0:
		c.release(c.id, held)
	default:
		c.call(linearizability.ClaimCommit, c.id, held, func() (bool, error) {
			_, err := c.st.Commit(nil, &store.Step{
				Cause: fmt.Sprint(c.n), Status: store.Running,
				Claim: store.Claim{Instance: instance, Owner: modelOwner(c.id), Epoch: store.Epoch(held)},
			})
			return err == nil, err
		})
	}
}

func (c *client) renew(epoch uint64) bool {
	return c.call(linearizability.ClaimRenew, c.id, epoch, func() (bool, error) {
		_, _, err := c.st.Renew(nil, store.Claim{Instance: instance, Owner: modelOwner(c.id), Epoch: store.Epoch(epoch)})
		return err == nil, err
	})
}

func (c *client) release(owner int, epoch uint64) {
	c.call(linearizability.ClaimRelease, owner, epoch, func() (bool, error) {
		freed, _, err := c.st.Release(nil, store.Claim{Instance: instance, Owner: modelOwner(owner), Epoch: store.Epoch(epoch)})
		return freed, err
	})
}

// judge ends the lost calls and judges the history. Given rows stand at epoch 1.
func judge(calls *linearizability.Calls, lost []func(any)) error {
	for _, end := range lost {
		end(nil)
	}
	_, err := calls.Judge(linearizability.ClaimModel(1))
	return err
}

func TestLinearL3Claims(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L3/claims-are-linearizable", func(t *testing.T) int {
		return sim.Judge(t, "L3/claims-are-linearizable", func(w *sim.World) {
			st, engine := memory.Open(w.Scheduler(), memory.Options{
				Lose: 4, Budget: 3, Scope: w.Scope(), Only: []string{"take", "renew", "commit", "release"},
			})
			w.NoError(engine.Plant(given(instance))) // no rig: clients speak to the store and leave no trace of claims
			calls, lost := &linearizability.Calls{}, []func(any){}
			for id := 1; id <= 3; id++ {
				c := &client{id: id, st: st, calls: calls, lost: &lost, n: id}
				w.Go("client", func() { c.session(3) })
			}
			w.Finally(func() {
				err := judge(calls, lost)
				w.Require(err == nil, "L3.linear", "%v", err)
			})
		}, sim.Runs(500))
	})
}

// The same sessions on the real runtime, where the processors interleave them.
func TestLinearL3ClaimsRealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L3/claims-are-linearizable-on-the-real-runtime", func(t *testing.T) int {
		const histories = 100
		for range histories {
			st, engine := memory.Open(sched.Scheduler{}, memory.Options{})
			if err := engine.Plant(given(instance)); err != nil {
				t.Fatal(err)
			}
			calls := &linearizability.Calls{}
			var tasks sync.WaitGroup
			for id := 1; id <= 3; id++ {
				c := &client{id: id, st: st, calls: calls, lost: new([]func(any)), n: id}
				tasks.Go(func() { c.session(6) })
			}
			tasks.Wait()
			if err := judge(calls, nil); err != nil {
				inventory.Violated(t, t, "L3.linear", "%v", err)
			}
		}
		return histories
	})
}
