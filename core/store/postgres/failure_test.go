package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/core/store/step"
)

func TestOptionsNameEveryFault(t *testing.T) {
	err := postgres.Options{Schema: "A b", Connections: 1, Timeout: time.Millisecond}.Validate()
	for _, field := range []string{"url", "schema", "connections", "timeout"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
	if err := fresh().Validate(); err != nil {
		t.Error(err)
	}
}

func TestForeignFormatIsRefused(t *testing.T) {
	o := fresh()
	ok(t, open(t, o).Close())
	_, err := connect(t, o.Schema).Exec(context.Background(), "insert into migrations (version) values (99)")
	ok(t, err)
	if _, err := postgres.Open(nil, o); !errors.Is(err, step.ErrFormat) {
		t.Errorf("open of version 99: %v", err)
	}
}

// Replicas that start on an empty database at once make the tables once, and leave each other's claims alone.
func TestReplicasStartAtOnce(t *testing.T) {
	o := fresh()
	stores := make([]*postgres.Store, 4)
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() { stores[i] = open(t, o) })
	}
	all.Wait()
	_, err := stores[0].Commit(nil, spawning("i"))
	ok(t, err)
	held, _, err := stores[0].Take(nil, "i", 1, store.Owner{Replica: "a", Incarnation: 1})
	ok(t, err)
	head, _, err := open2(t, o).Head(nil, "i")
	ok(t, err)
	if head.Claim != held {
		t.Errorf("after another replica started the claim is %v, was %v", head.Claim, held)
	}
	for _, st := range stores {
		ok(t, st.Close())
	}
}

// open2 is open for stores that end with the test.
func open2(t *testing.T, o postgres.Options) *postgres.Store {
	st := open(t, o)
	t.Cleanup(func() { ok(t, st.Close()) })
	return st
}

// A server that cannot be reached refuses definitely: nothing happened.
func TestUnreachableServer(t *testing.T) {
	o := fresh()
	o.URL = "host=" + t.TempDir() + " user=millrace dbname=postgres"
	o.Timeout = 100 * time.Millisecond
	if _, err := postgres.Open(nil, o); !errors.Is(err, store.ErrUnavailable) || !store.Definite(err) {
		t.Errorf("open without a server: %v", err)
	}
}

// The server ends a session in the middle of its commit. The outcome is unknown, and the committer decides it rightly: fence,
// row, record.
func TestEndedSessionIsDecided(t *testing.T) {
	o := fresh()
	st := open2(t, o)
	decideEnded(t, o, st, "i")
}

// decideEnded blocks the commit of a step behind a lock on its delivery, ends its session, and lets the committer decide.
func decideEnded(t *testing.T, o postgres.Options, st *postgres.Store, id string) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	_, err := st.Commit(scope, spawning(id))
	ok(t, err)
	conn := connect(t, o.Schema)
	tx, err := conn.Begin(context.Background())
	ok(t, err)
	// The same key, not committed: an insert of it waits.
	_, err = tx.Exec(context.Background(), "insert into inbox values ('c', $1, '', '', '', 0)", []byte("m-"+id))
	ok(t, err)

	me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
	committer := step.NewCommitter(s, st, me)
	claims := claim.New(s, st, committer, me)
	decided := make(chan error, 1)
	go func() {
		decided <- claims.With(scope, store.InstanceID(id), func(h *claim.Hold) error {
			return h.Commit(scope, &store.Step{
				Cause: "step", Status: store.Running, Snapshot: []byte("s"),
				Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: "m-" + id}},
			})
		})
	}()
	endWaiting(t, o.Schema)
	err = <-decided
	ok(t, tx.Rollback(context.Background()))
	if !errors.Is(err, store.ErrFenced) {
		t.Errorf("a step whose session ended before its commit: %v", err)
	}
	if _, _, err := st.Receipt(scope, store.Delivery{Channel: "c", ID: "m-" + id}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it left a receipt: %v", err)
	}
	ok(t, claims.With(scope, store.InstanceID(id), func(h *claim.Hold) error {
		return h.Commit(scope, &store.Step{Cause: "again", Status: store.Running})
	}))
}

// endWaiting ends the one session that waits for a lock of this schema's test.
func endWaiting(t *testing.T, schema string) {
	conn := connect(t, schema)
	for range 2000 {
		tag, err := conn.Exec(context.Background(), `
			select pg_terminate_backend(pid) from pg_stat_activity
			where wait_event_type = 'Lock' and application_name = 'millrace' and query like 'select apply_step%'`)
		ok(t, err)
		if tag.RowsAffected() > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nobody waits for the lock")
}
