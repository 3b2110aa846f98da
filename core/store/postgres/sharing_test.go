package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Owners of many instances read and take at once over one connection, so that their calls share statements. Each is told of its own.
func TestModelS2CallsShareAStatement(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/calls-share-a-statement", func(t *testing.T) int {
		const owners, rounds = 8, 6
		o := fresh()
		o.Connections = 2
		st := open(t, o)
		defer func() { ok(t, st.Close()) }()
		var tasks sync.WaitGroup
		faults := make([]error, owners)
		for n := range owners {
			tasks.Go(func() {
				for round := range rounds {
					faults[n] = errors.Join(faults[n], ownRows(st, n, round))
				}
			})
		}
		tasks.Wait()
		if err := errors.Join(faults...); err != nil {
			inventory.Violated(t, t, "S2.shared", "%v", err)
		}
		return owners * rounds
	})
}

// ownRows brings an instance of owner n from its spawn to its claim, and returns what it was told that is not of it.
func ownRows(st store.Store, n, round int) error {
	id, key, me := store.InstanceID(fmt.Sprintf("i%d-%d", n, round)), fmt.Sprintf("k%d-%d", n, round), store.Owner{Replica: "a", Lane: uint32(n), Incarnation: 1}
	s := spawning(string(id))
	s.Snapshot, s.Open = []byte(key), []store.Wait{{Generation: 2, Channel: "c", Key: key}, {Generation: 3, Element: key}}
	if _, err := st.Commit(nil, s); err != nil {
		return err
	}
	receipt, _, err1 := st.Receipt(nil, store.Delivery{Channel: "c", ID: string(id)})
	alias, _, err2 := st.Resolve(nil, "c", key)
	head, _, err3 := st.Head(nil, id)
	claim, _, err4 := st.Take(nil, id, 1, me)
	in, _, err5 := st.Load(nil, claim)
	_, _, err6 := st.Take(nil, id, 1, me)
	switch err := errors.Join(err1, err2, err3, err4, err5); {
	case err != nil:
		return fmt.Errorf("%s: %w", id, err)
	case receipt.Instance != id, alias.Instance != id, alias.Generation != 2, head.Instance != id, head.Epoch != 1:
		return fmt.Errorf("%s: receipt %v, alias %v, head %v", id, receipt, alias, head)
	case claim.Epoch != 2, in.Claim != claim, string(in.Snapshot) != key, len(in.Waits) != 2, in.Waits[0].Key != key, in.Waits[1].Element != key:
		return fmt.Errorf("%s: claim %v, instance %+v", id, claim, in)
	case !errors.Is(err6, store.ErrConflict):
		return fmt.Errorf("%s: taken twice: %w", id, err6)
	}
	return nil
}

// A call that the server refuses takes back the transaction that others travelled in. They are sent again: what they read or wrote before does
// not count, and each is told of its own.
func TestModelS2CallsSentAgain(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/calls-sent-again", func(t *testing.T) int {
		o := fresh()
		st := open(t, o)
		defer func() { ok(t, st.Close()) }()
		_, err := connect(t, o.Schema).Exec(t.Context(), "create table once (n int)")
		ok(t, err)
		const read, write, refused = "select generate_series(1, 3)", "insert into once values (1)", "select 1 / 0"
		rounds := 0
		for _, batch := range [][]string{{refused}, {read, refused}, {refused, read}, {write, read, refused}, {read, write, refused, write, refused, read}} {
			rounds++
			rows, errs := st.Together(batch...)
			written := 0
			for i, sql := range batch {
				want := map[string]int{read: 3}[sql]
				if rows[i] != want || (errs[i] != nil) != (sql == refused) {
					inventory.Violated(t, t, "S2.again", "%s in %q: %d rows, not %d: %v", sql, batch, rows[i], want, errs[i])
				}
				if sql == write {
					written++
				}
			}
			if all, _ := st.Together("delete from once returning n"); all[0] != written {
				inventory.Violated(t, t, "S2.again", "%d of %d writes of %q took effect", all[0], written, batch)
			}
		}
		return rounds
	})
}
