package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// A server that is killed with all its processes comes back with every commit that was answered, and the store goes on by itself. What was
// not flushed, a claim that was taken or a reservation, may be gone.
func TestCrashOfTheServerKeepsWhatWasAnswered(t *testing.T) {
	own, err := pgtest.Start(pgtest.Options{})
	ok(t, err)
	defer func() { ok(t, own.Stop()) }()
	st := open(t, postgres.Options{URL: own.URL(), Connections: 4})
	defer func() { ok(t, st.Close()) }()
	s := sched.Scheduler{}
	scope := s.NewScope("crash")
	defer scope.Close()
	for round := range 2 {
		id := store.InstanceID([]string{"a", "b"}[round])
		for range 20 { // each connection that the crash before has cut refuses once, definitely
			if _, err = st.Commit(nil, spawning(string(id))); !errors.Is(err, store.ErrUnavailable) {
				break
			}
		}
		ok(t, err)
		ok(t, own.Crash())
		var head store.Head
		for range 500 {
			if head, _, err = st.Head(nil, id); err == nil {
				break
			}
			if store.Definite(err) && !errors.Is(err, store.ErrUnavailable) {
				t.Fatal(err)
			}
			ok(t, s.Sleep(scope, "the server recovers", 20*time.Millisecond))
		}
		if err != nil || head.Status != store.Running {
			t.Fatalf("after crash %d %s is %v: %v", round+1, id, head.Status, err)
		}
	}
}
