package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// A step that rests on a row has found it as it expects and has not committed yet. Two decisions about the row come: they wait for the
// step, and one of them is superseded by the other.
func TestModelS2DecisionsAndStepsTakeTurns(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S2/decisions-and-steps-take-turns", func(t *testing.T) int {
		o := fresh()
		st := open2(t, o)
		was := store.Row{Space: "decided", Key: "active", Value: []byte("d1")}
		_, err := st.Write(nil, []store.Row{was})
		ok(t, err)
		// The same delivery, not committed: the step waits for it, behind its comparison.
		tx, err := connect(t, o.Schema).Begin(context.Background())
		ok(t, err)
		defer func() { _ = tx.Rollback(context.Background()) }() // it may have ended
		_, err = tx.Exec(context.Background(), "insert into inbox values ('c', 'i', '', '', '', 0)")
		ok(t, err)
		step := spawning("i")
		step.Expect = &was
		stepped, decided := make(chan error, 1), make(chan error, 2)
		go func() {
			_, err := st.Commit(nil, step)
			stepped <- err
		}()
		untilWaiting(t, o, "select expect_rows%", 1, stepped)
		for _, next := range []string{"d2", "d3"} {
			go func() {
				_, err := st.WriteIf(nil, was, []store.Row{{Space: was.Space, Key: was.Key, Value: []byte(next)}})
				decided <- err
			}()
		}
		untilWaiting(t, o, "select write_rows_if%", 2, decided)
		ok(t, tx.Rollback(context.Background()))
		ok(t, <-stepped)
		first, second := <-decided, <-decided
		if (first == nil) == (second == nil) || !errors.Is(errors.Join(first, second), store.ErrSuperseded) {
			inventory.Violated(t, t, "S2.turns", "two decisions over one row: %v, %v", first, second)
		}
		return 1
	})
}

// untilWaiting waits until so many statements wait for a lock; one that ends before is a violation.
func untilWaiting(t *testing.T, o postgres.Options, statement string, n int, ended <-chan error) {
	t.Helper()
	conn := connect(t, o.Schema)
	for range 5000 {
		var waiting int
		ok(t, conn.QueryRow(context.Background(), `
			select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'millrace' and query like $1`, statement).Scan(&waiting))
		if waiting == n {
			return
		}
		select {
		case err := <-ended:
			inventory.Violated(t, t, "S2.turns", "%s did not wait for what was under way: %v", statement, err)
		case <-time.After(time.Millisecond):
		}
	}
	t.Fatalf("%s does not wait", statement)
}
