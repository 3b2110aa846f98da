package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// reserving is the fourth version of the schema: until when a row is reserved, by the server's clock; 0 is not.
const reserving = `alter table rows add column reserved bigint not null default 0`

var _ store.Reserver = (*Store)(nil)

// A row that is locked is being reserved, or deleted by a step that takes what it offers: it is left out, so reserving never waits.
const sqlReserve = `
with clock as (select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 as now),
free as (
	select key from rows, clock
	where space = $1 and key <= $2 and reserved <= clock.now
	order by key limit $4 for update of rows skip locked)
update rows r set reserved = clock.now + $3
from free, clock where r.space = $1 and r.key = free.key
returning r.key, r.value, r.expires`

// Reserve implements [store.Reserver]. Like Take it flushes nothing: a crash of the server takes it back, and somebody else may try the
// row before its time, which is safe.
func (s *Store) Reserve(scope *sched.Scope, space, until string, hold time.Duration, limit int) (out []store.Row, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.call(scope, &call{sql: sqlReserve, writes: true, locks: true, args: []any{name(space), name(until), hold.Nanoseconds(), limit}, each: func(r pgx.Rows) error {
		row, err := readRow(r, space)
		out = append(out, row)
		return err
	}})
	if err != nil {
		return nil, durable, fmt.Errorf("reserve rows of space %q: %w", space, err)
	}
	slices.SortFunc(out, func(a, b store.Row) int { return cmp.Compare(a.Key, b.Key) })
	return out, durable, nil
}
