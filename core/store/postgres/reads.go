package postgres

import (
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

const sqlResolve = `
select n, instance, generation
from (select unnest($1::bytea[]) as by_channel, unnest($2::bytea[]) as by_key, ` + numbered + `) as u
join waits on channel = by_channel and key = by_key and channel <> ''`

// Resolve implements [store.Reads].
func (s *Store) Resolve(scope *sched.Scope, channel, key string) (store.Alias, store.Ticket, error) {
	a := store.Alias{Channel: channel, Key: key}
	found := false
	err := s.call(scope, &call{sql: sqlResolve, shared: true, args: []any{name(channel), name(key)}, each: func(r values) error {
		var id []byte
		var generation int64
		err := r.scan(&id, &generation)
		a.Instance, a.Generation, found = store.InstanceID(id), uint64(generation), true
		return err
	}})
	if err = notFound(err, found); err != nil {
		return store.Alias{}, durable, fmt.Errorf("resolve key %q on %q: %w", key, channel, err)
	}
	return a, durable, nil
}

const sqlReceipt = `
select n, cause, instance, reply, expires
from (select unnest($1::bytea[]) as by_channel, unnest($2::bytea[]) as by_id, ` + numbered + `) as u
join inbox on channel = by_channel and id = by_id`

// Receipt implements [store.Reads].
func (s *Store) Receipt(scope *sched.Scope, d store.Delivery) (store.Receipt, store.Ticket, error) {
	out := store.Receipt{Delivery: d}
	found := false
	err := s.call(scope, &call{sql: sqlReceipt, shared: true, args: []any{name(d.Channel), name(d.ID)}, each: func(r values) error {
		var cause, id []byte
		var expires int64
		err := r.scan(&cause, &id, &out.Reply, &expires)
		out.Cause, out.Instance, out.Reply, out.Expires, found = string(cause), store.InstanceID(id), bytes(out.Reply), moment(expires), true
		return err
	}})
	if err = notFound(err, found); err != nil {
		return store.Receipt{}, durable, fmt.Errorf("read receipt of %q on %q: %w", d.ID, d.Channel, err)
	}
	return out, durable, nil
}

const sqlHeads = `select ` + listColumns + ` from instances where id > $1 order by id limit $2`

// Heads implements [store.Reads].
func (s *Store) Heads(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	return s.listHeads(scope, "list heads", sqlHeads, after, limit)
}

// listHeads runs a listing of heads. Results are left out: nobody who lists wants them.
func (s *Store) listHeads(scope *sched.Scope, what, sql string, after store.InstanceID, limit int) (heads []store.Head, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.read(scope, sql, func(r values) error {
		h, err := readHead(r)
		heads = append(heads, h)
		return err
	}, name(after), limit)
	if err != nil {
		return nil, unsynced, fmt.Errorf("%s: %w", what, err)
	}
	return heads, unsynced, nil
}

const sqlTimers = `
select due, instance, generation from waits
where due <> 0 and (due, instance, generation) > ($1, $2, $3) and due <= $4
order by due, instance, generation limit $5`

// Timers implements [store.Reads].
func (s *Store) Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) (timers []store.Timer, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.read(scope, sqlTimers, func(r values) error {
		timer, err := readTimer(r)
		timers = append(timers, timer)
		return err
	}, dueAfter(after), name(after.Instance), number(after.Generation), until.UnixNano(), limit)
	if err != nil {
		return nil, durable, fmt.Errorf("list timers: %w", err)
	}
	return timers, durable, nil
}

// dueAfter is where a listing behind a timer begins; behind none it is before every moment.
func dueAfter(after store.Timer) int64 {
	if after == (store.Timer{}) {
		return -1 << 63
	}
	return nanoseconds(after.Due)
}

func readTimer(r values) (store.Timer, error) {
	var id []byte
	var due, generation int64
	err := r.scan(&due, &id, &generation)
	return store.Timer{Due: moment(due), Instance: store.InstanceID(id), Generation: uint64(generation)}, err
}

const sqlEmissions = `
select instance, sequence, target, payload from outbox
where (instance, sequence) > ($1, $2)
order by instance, sequence limit $3`

// Emissions implements [store.Outbox].
func (s *Store) Emissions(scope *sched.Scope, after store.Emission, limit int) (out []store.Emission, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.read(scope, sqlEmissions, func(r values) error {
		e, err := readEmission(r)
		out = append(out, e)
		return err
	}, name(after.Instance), number(after.Sequence), limit)
	if err != nil {
		return nil, durable, fmt.Errorf("list emissions: %w", err)
	}
	return out, durable, nil
}

func readEmission(r values) (e store.Emission, err error) {
	var id, target []byte
	var sequence int64
	err = r.scan(&id, &sequence, &target, &e.Payload)
	e.Instance, e.Sequence, e.Target, e.Payload = store.InstanceID(id), uint64(sequence), string(target), bytes(e.Payload)
	return e, err
}

const sqlDelivered = `
delete from outbox o using unnest($1::bytea[], $2::bigint[]) as s(instance, sequence)
where o.instance = s.instance and o.sequence = s.sequence`

// Delivered implements [store.Outbox].
func (s *Store) Delivered(scope *sched.Scope, sent []store.Emission) (store.Ticket, error) {
	ids, sequences := make([][]byte, 0, len(sent)), make([]int64, 0, len(sent))
	for _, e := range sent {
		ids, sequences = append(ids, name(e.Instance)), append(sequences, number(e.Sequence))
	}
	if _, err := s.write(scope, sqlDelivered, ids, sequences); err != nil {
		return durable, fmt.Errorf("remove %d emissions: %w", len(sent), err)
	}
	return durable, nil
}

// rowLists are rows as the functions take them.
type rowLists struct {
	setSpace, setKey, value, dropSpace, dropKey [][]byte
	expires                                     []int64
}

// add takes rows in the order of their keys, so that two transactions lock them in one order; of several writes of one row
// the last one counts.
func (l *rowLists) add(rows []store.Row) {
	last := make(map[[2]string]int, len(rows))
	for i, r := range rows {
		last[[2]string{r.Space, r.Key}] = i
	}
	keys := make([]int, 0, len(last))
	for _, i := range last { //order:sorted below
		keys = append(keys, i)
	}
	slices.SortFunc(keys, func(a, b int) int { return compareRows(rows[a], rows[b]) })
	for _, i := range keys {
		r := rows[i]
		if r.Delete {
			l.dropSpace, l.dropKey = append(l.dropSpace, name(r.Space)), append(l.dropKey, name(r.Key))
			continue
		}
		l.setSpace, l.setKey = append(l.setSpace, name(r.Space)), append(l.setKey, name(r.Key))
		l.value, l.expires = append(l.value, raw(r.Value)), append(l.expires, nanoseconds(r.Expires))
	}
}

func compareRows(a, b store.Row) int {
	return slices.Compare([]string{a.Space, a.Key}, []string{b.Space, b.Key})
}

func (l *rowLists) empty() bool { return len(l.setKey) == 0 && len(l.dropKey) == 0 }

// args are in the order of write_rows.
func (l *rowLists) args() []any {
	return []any{l.setSpace, l.setKey, l.value, l.expires, l.dropSpace, l.dropKey}
}

// Write implements [store.Spaces].
func (s *Store) Write(scope *sched.Scope, rows []store.Row) (store.Ticket, error) {
	err := store.ValidateRows(rows)
	if err == nil {
		var l rowLists
		l.add(rows)
		_, err = s.write(scope, "select write_rows($1, $2, $3, $4, $5, $6)", l.args()...)
	}
	if err != nil {
		return durable, fmt.Errorf("write rows: %w", err)
	}
	return durable, nil
}

// expectedValue is a row's value; null stands for its absence.
func expectedValue(r store.Row) []byte {
	if r.Delete {
		return nil
	}
	return raw(r.Value)
}

// WriteIf implements [store.Spaces].
func (s *Store) WriteIf(scope *sched.Scope, expect store.Row, rows []store.Row) (store.Ticket, error) {
	err := store.ValidateWriteIf(expect, rows)
	if err == nil {
		var l rowLists
		l.add(rows)
		_, err = s.write(scope, "select write_rows_if($1, $2, $3, $4, $5, $6, $7, $8, $9)", append([]any{name(expect.Space), name(expect.Key), expectedValue(expect)}, l.args()...)...)
	}
	if err != nil {
		return durable, fmt.Errorf("write rows: %w", err)
	}
	return durable, nil
}

const sqlPins = "select id, deployment, flow from instances where status = 2 and id > $1 order by id limit $2"

// Pins implements [store.Reads].
func (s *Store) Pins(scope *sched.Scope, after store.InstanceID, limit int) (pins []store.Pin, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.read(scope, sqlPins, func(r values) error {
		p, err := readPin(r)
		pins = append(pins, p)
		return err
	}, name(after), limit)
	if err != nil {
		return nil, durable, fmt.Errorf("list pins: %w", err)
	}
	return pins, durable, nil
}

func readPin(r values) (store.Pin, error) {
	var id, deployment, flow []byte
	err := r.scan(&id, &deployment, &flow)
	return store.Pin{Instance: store.InstanceID(id), Deployment: string(deployment), Flow: string(flow)}, err
}

// PinOf implements [store.Reads].
func (s *Store) PinOf(scope *sched.Scope, id store.InstanceID) (p store.Pin, t store.Ticket, err error) {
	found := false
	err = s.read(scope, "select id, deployment, flow from instances where id = $1 and status >= 2", func(r values) (err error) {
		p, err = readPin(r)
		found = true
		return err
	}, name(id))
	return p, durable, wrap(notFound(err, found), "read pin", id)
}

func readRow(r values, space string) (store.Row, error) {
	var key []byte
	var expires int64
	row := store.Row{Space: space}
	err := r.scan(&key, &row.Value, &expires)
	row.Key, row.Value, row.Expires = string(key), bytes(row.Value), moment(expires)
	return row, err
}

// Row implements [store.Spaces].
func (s *Store) Row(scope *sched.Scope, space, key string) (row store.Row, t store.Ticket, err error) {
	found := false
	err = s.read(scope, "select key, value, expires from rows where space = $1 and key = $2", func(r values) (err error) {
		row, err = readRow(r, space)
		found = true
		return err
	}, name(space), name(key))
	if err = notFound(err, found); err != nil {
		return store.Row{}, durable, fmt.Errorf("read row %q of space %q: %w", key, space, err)
	}
	return row, durable, nil
}

// Rows implements [store.Spaces].
func (s *Store) Rows(scope *sched.Scope, space, after string, limit int) (out []store.Row, t store.Ticket, err error) {
	if err = store.ValidateScan(limit); err != nil {
		return nil, durable, err
	}
	err = s.read(scope, "select key, value, expires from rows where space = $1 and key > $2 order by key limit $3", func(r values) error {
		row, err := readRow(r, space)
		out = append(out, row)
		return err
	}, name(space), name(after), limit)
	if err != nil {
		return nil, durable, fmt.Errorf("list rows of space %q: %w", space, err)
	}
	return out, durable, nil
}

// Replicas expire side by side: each takes rows that no other is taking.
const (
	sqlExpireInbox = `
with old as (
	select channel, id from inbox where expires <> 0 and expires <= $1
	order by expires limit $2 for update skip locked)
delete from inbox i using old where i.channel = old.channel and i.id = old.id`
	sqlExpireRows = `
with old as (
	select space, key from rows where space = $3 and expires <> 0 and expires <= $1
	order by expires limit $2 for update skip locked)
delete from rows r using old where r.space = old.space and r.key = old.key`
)

// Expire implements [store.Spaces].
func (s *Store) Expire(scope *sched.Scope, space string, now time.Time, limit int) (int, store.Ticket, error) {
	if err := store.ValidateScan(limit); err != nil {
		return 0, durable, err
	}
	sql, args := sqlExpireRows, []any{now.UnixNano(), limit, name(space)}
	if space == store.InboxSpace {
		sql, args = sqlExpireInbox, args[:2]
	}
	n, err := s.write(scope, sql, args...)
	if err != nil {
		return 0, durable, fmt.Errorf("expire rows of space %q: %w", space, err)
	}
	return int(n), durable, nil
}
