package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/claim"
)

// leftSQL counts what may not be left. Status 2 is running; roles are rows of their own, which run for ever.
const leftSQL = `
select (select count(*) from outbox), (select count(*) from waits),
	(select count(*) from rows where starts_with(encode(space, 'escape'), 'task')),
	(select count(*) from instances where status = 2 and flow = 'tally')`

// settle waits until nothing is left to do, at most until patience is over: what is left then, the account names.
func (w *world) settle(ctx context.Context, patience time.Duration) error {
	until := time.Now().Add(patience)
	for {
		e := Evidence{Born: w.born()}
		err := w.query(ctx, func(conn *pgx.Conn) error { return e.read(ctx, conn) })
		a := accounting{e: e}
		if a.claims(); err != nil || e.Left == (Left{}) && len(a.faults) == 0 || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read takes what the database says.
func (e *Evidence) read(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, leftSQL).Scan(&e.Left.Outbox, &e.Left.Waits, &e.Left.Offers, &e.Left.Running); err != nil {
		return fmt.Errorf("count what is left: %w", err)
	}
	rows, err := conn.Query(ctx, "select id, replica, incarnation from instances where replica <> '' or incarnation <> 0 or lane <> 0 order by id")
	if err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	for rows.Next() {
		var id, replica []byte
		c := Claim{}
		if err := rows.Scan(&id, &replica, &c.Incarnation); err != nil {
			return fmt.Errorf("list claims: %w", err)
		}
		c.Instance, c.Replica, c.Role = string(id), string(replica), strings.HasPrefix(string(id), claim.RolePrefix)
		e.Claims = append(e.Claims, c)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	return e.readInstances(ctx, conn)
}

func (e *Evidence) readInstances(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, "select id, status, result from instances where flow = 'tally' and status >= 3 order by id")
	if err != nil {
		return fmt.Errorf("list instances: %w", err)
	}
	for rows.Next() {
		var id, result []byte
		x := Instance{}
		if err := rows.Scan(&id, &x.Status, &result); err != nil {
			return fmt.Errorf("list instances: %w", err)
		}
		x.ID = string(id)
		if err := json.Unmarshal(result, &x); err != nil {
			return fmt.Errorf("read result of instance %s: %w", x.ID, err)
		}
		e.Instances = append(e.Instances, x)
	}
	return rows.Err()
}

// born is for each replica the incarnation up to which all are dead.
func (w *world) born() (all []int64) {
	for _, r := range w.replicas {
		all = append(all, r.born)
	}
	return all
}

// outputs reads what came out of the sinks, when the replicas have stopped.
func (w *world) outputs(e *Evidence) (posts int, faults []string, err error) {
	for _, r := range w.replicas {
		text, err := os.ReadFile(filepath.Join(r.Data, "effects.ndjson"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, nil, fmt.Errorf("read output of %s: %w", r.name, err)
		}
		effects, err := readEffects(text)
		if err != nil {
			return 0, nil, err
		}
		e.Files = append(e.Files, effects)
		letters, err := filepath.Glob(filepath.Join(r.Data, "dead-letters", "*"))
		if err != nil {
			return 0, nil, err
		}
		e.Left.Buried += len(letters)
	}
	e.Posted, posts, faults, err = w.hook.effects()
	return posts, faults, err
}
