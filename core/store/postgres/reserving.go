package postgres

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// reserving is the fourth version of the schema: until when a row is reserved, by the server's clock; 0 is not.
const reserving = `alter table rows add column reserved bigint not null default 0`

// holding is the fifth version: which replica has reserved a timer or the first emission of an instance, and until when. Neither column is
// in an index, so that a reservation writes the row and nothing else.
const holding = `
alter table waits add column holder bytea not null default '', add column reserved bigint not null default 0;
alter table outbox add column holder bytea not null default '', add column reserved bigint not null default 0`

// sqlNow is the server's time in nanoseconds.
const sqlNow = `(extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000`

const sqlClock = `clock as (select ` + sqlNow + ` as now)`

// A row that is locked is being reserved, or deleted by a step that takes what it offers: it is left out, so reserving never waits.
const sqlReserve = `
with ` + sqlClock + `,
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
	err = s.call(scope, &call{sql: sqlReserve, writes: true, locks: true, args: []any{name(space), name(until), hold.Nanoseconds(), limit}, each: func(r values) error {
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

// What the replica has for half of the time still is only read, so that looking again writes nothing. What is free is locked, unless somebody
// writes it at this moment: a step that closes the wait, or another replica that reserves it.
const sqlReserveTimers = `
with ` + sqlClock + `, mine as (
	select due, instance, generation from waits, clock
	where due <> 0 and (due, instance, generation) > ($2, $3, $4) and due <= $5 and holder = $1 and reserved - clock.now >= $6::bigint / 2
	order by due, instance, generation limit $7),
free as (
	select due, instance, generation from waits, clock
	where due <> 0 and (due, instance, generation) > ($2, $3, $4) and due <= $5
		and (reserved <= clock.now or holder = $1 and reserved - clock.now < $6::bigint / 2)
	order by due, instance, generation limit $7 for no key update of waits skip locked),
taken as (
	update waits w set holder = $1, reserved = clock.now + $6::bigint from free f, clock
	where w.instance = f.instance and w.generation = f.generation)
select * from (select * from mine union all select * from free) u order by due, instance, generation limit $7`

// ReserveTimers implements [store.Reserver]. Like Take it flushes nothing.
func (s *Store) ReserveTimers(scope *sched.Scope, by string, after store.Timer, until time.Time, hold time.Duration, limit int) (timers []store.Timer, t store.Ticket, err error) {
	if err = store.ValidateReserve(by, hold, limit); err != nil {
		return nil, durable, err
	}
	err = s.call(scope, &call{sql: sqlReserveTimers, writes: true, locks: true, args: []any{
		name(by), dueAfter(after), name(after.Instance), number(after.Generation), until.UnixNano(), hold.Nanoseconds(), limit,
	}, each: func(r values) error {
		timer, err := readTimer(r)
		timers = append(timers, timer)
		return err
	}})
	if err != nil {
		return nil, durable, fmt.Errorf("reserve timers: %w", err)
	}
	return timers, durable, nil
}

// Only the first row of an instance is reserved. Whoever has removed it has sent it, so the next one is free then.
const (
	sqlFirst = ` from outbox o, clock
	where o.instance > $2 and not exists (select from outbox p where p.instance = o.instance and p.sequence < o.sequence)`

	sqlReserveEmissions = `
with ` + sqlClock + `, mine as (
	select o.instance` + sqlFirst + ` and holder = $1 and reserved - clock.now >= $3::bigint / 2
	order by o.instance limit $4),
free as (
	select o.instance, o.sequence` + sqlFirst + ` and (reserved <= clock.now or holder = $1 and reserved - clock.now < $3::bigint / 2)
	order by o.instance limit $4 for no key update of o skip locked),
taken as (
	update outbox o set holder = $1, reserved = clock.now + $3::bigint from free f, clock
	where o.instance = f.instance and o.sequence = f.sequence)
select o.instance, o.sequence, o.target, o.payload
from (select instance from mine union all select instance from free) u join outbox o on o.instance = u.instance
order by o.instance, o.sequence limit $4`
)

// ReserveEmissions implements [store.Reserver]. Like Take it flushes nothing.
func (s *Store) ReserveEmissions(scope *sched.Scope, by string, after store.InstanceID, hold time.Duration, limit int) (out []store.Emission, t store.Ticket, err error) {
	if err = store.ValidateReserve(by, hold, limit); err != nil {
		return nil, durable, err
	}
	err = s.call(scope, &call{sql: sqlReserveEmissions, writes: true, locks: true, args: []any{name(by), name(after), hold.Nanoseconds(), limit}, each: func(r values) error {
		e, err := readEmission(r)
		out = append(out, e)
		return err
	}})
	if err != nil {
		return nil, durable, fmt.Errorf("reserve emissions: %w", err)
	}
	return out, durable, nil
}

// A timer is only reserved when it is due; that clocks differ by a minute is allowed for.
const sqlGiveBack = `
with ` + sqlClock + `, timers as (
	update waits set holder = '', reserved = 0 from clock
	where due <> 0 and due <= clock.now + 60000000000 and holder = $1 returning 1)
update outbox set holder = '', reserved = 0 where holder = $1`

// GiveBack implements [store.Reserver].
func (s *Store) GiveBack(scope *sched.Scope, by string) error {
	if _, err := s.write(scope, sqlGiveBack, name(by)); err != nil {
		return fmt.Errorf("give reservations back: %w", err)
	}
	return nil
}
