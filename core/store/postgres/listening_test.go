package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
)

// heard waits until a replica has heard a hint.
func heard(t *testing.T, st *postgres.Store, want store.Hint) {
	t.Helper()
	scope := sched.Scheduler{}.NewScope("test").ChildTimeout("hint", time.Minute)
	defer scope.Close()
	for got := store.Hint(0); got&want != want; {
		more, err := st.NextHint(scope)
		if err != nil {
			t.Fatalf("heard %q, not %q: %v", got, want, err)
		}
		got |= more
	}
}

// What one replica tells another one hears, but not itself. A listener whose connection is cut connects again, and what was told meanwhile counts
// as heard.
func TestHintsReachOtherReplicasAndComeBack(t *testing.T) {
	o := fresh()
	a, b := open2(t, o), open2(t, o)
	for _, st := range []*postgres.Store{a, b} {
		heard(t, st, store.HintAll) // of the connection
	}
	a.Hint(store.HintTasks)
	heard(t, b, store.HintTasks)
	b.Hint(store.HintMail)
	heard(t, a, store.HintMail)
	// Had a heard itself, tasks were before mail.
	conn := connect(t, o.Schema)
	for range 2 {
		tag, err := conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where query = $1", "listen "+pgx.Identifier{o.Schema}.Sanitize())
		ok(t, err)
		if tag.RowsAffected() != 2 {
			t.Fatalf("%d replicas listen", tag.RowsAffected())
		}
		heard(t, a, store.HintAll)
		heard(t, b, store.HintAll)
	}
	a.Hint(store.HintTimers)
	heard(t, b, store.HintTimers)
}

// A worker that waits at one replica gets the task that another one offers long before it would look by itself.
func TestTaskOfAnotherReplicaIsHeardOf(t *testing.T) {
	o := fresh()
	s := sched.Scheduler{}
	scope := s.NewScope("hints")
	defer scope.Close()
	here, there := open2(t, o), open2(t, o)
	const never = time.Minute
	a := chargeEngine(t, s, scope, here, here, "a", never)
	defer a.Close()
	b := chargeEngine(t, s, scope, there, there, "b", never)
	defer b.Close()
	for i := range 3 {
		tasks := make(chan error, 1)
		go func() {
			some, err := b.FetchTasks(scope, engine.Fetch{Worker: "w", Types: []string{"charge"}, Max: 1, Lock: time.Hour, Wait: never / 2})
			if err == nil && len(some) != 1 {
				err = fmt.Errorf("%d tasks", len(some))
			}
			tasks <- err
		}()
		id := fmt.Sprint("t", i)
		_, err := bring(s, scope, a, "open", id, id, feel.Entry{Key: "n", Value: feel.Int(1)})
		ok(t, err)
		ok(t, <-tasks)
	}
}

func TestHintsAreWords(t *testing.T) {
	for h := range store.HintAll + 1 {
		if got := store.ParseHint(h.String() + "?"); got != h {
			t.Errorf("%v was read as %v", h, got)
		}
	}
}
