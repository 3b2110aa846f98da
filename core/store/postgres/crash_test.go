package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// slowly keeps the server from writing by itself what nobody waits for: a crash takes it back, unless something else has flushed it.
var slowly = []string{"wal_writer_delay=10s", "autovacuum=off", "bgwriter_lru_maxpages=0", "checkpoint_timeout=1h"}

// A server that is killed with all its processes comes back with every commit that was answered, and with every claim that was seen and whose
// ticket was waited for; and the store goes on by itself. A claim that nobody waited for may be gone.
func TestModelS2ToldSurvivesACrash(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/told-survives-a-crash", func(t *testing.T) int {
		own, err := pgtest.Start(pgtest.Options{Settings: slowly})
		ok(t, err)
		defer func() { ok(t, own.Stop()) }()
		st := open(t, postgres.Options{URL: own.URL(), Connections: 4})
		defer func() { ok(t, st.Close()) }()
		ids := []store.InstanceID{"a", "b"}
		for _, id := range ids {
			after(t, func() error {
				_, err := st.Commit(nil, spawning(string(id)))
				return err
			})
			ok(t, own.Crash())
			if h := headAfter(t, st, id); h.Status != store.Running {
				inventory.Violated(t, t, "S2.durable", "%s was committed, and after a crash it is %v", id, h)
			}
			seen := claimSeen(t, st, id)
			ok(t, own.Crash())
			if h := headAfter(t, st, id); h.Claim != seen.Claim {
				inventory.Violated(t, t, "S2.durable", "%v was seen and waited for, and after a crash it is %v", seen.Claim, h.Claim)
			}
		}
		return 2 * len(ids)
	})
}

// after does something on connections that a crash may have cut: each of those refuses once, definitely.
func after(t *testing.T, do func() error) {
	t.Helper()
	s := sched.Scheduler{}
	scope := s.NewScope("after a crash")
	defer scope.Close()
	var err error
	for range 500 {
		if err = do(); !errors.Is(err, store.ErrUnavailable) {
			break
		}
		ok(t, s.Sleep(scope, "the server recovers", 20*time.Millisecond))
	}
	ok(t, err)
}

func headAfter(t *testing.T, st store.Store, id store.InstanceID) (h store.Head) {
	t.Helper()
	after(t, func() (err error) {
		h, _, err = st.Head(nil, id)
		return err
	})
	return h
}

// claimSeen takes the claim, and returns the head that shows it when that is said to be durable.
func claimSeen(t *testing.T, st store.Store, id store.InstanceID) (h store.Head) {
	t.Helper()
	after(t, func() error {
		return st.WaitDurable(nil, 1) // no connection is cut any more
	})
	_, _, err := st.Take(nil, id, 1, store.Owner{Replica: "taker", Incarnation: 1})
	ok(t, err)
	h, seen, err := st.Head(nil, id)
	ok(t, err)
	ok(t, st.WaitDurable(nil, seen))
	return h
}
