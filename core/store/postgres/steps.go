package postgres

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Snapshot and waits are read by one statement, so they are of one moment.
const sqlLoad = `
select n, ` + headColumns + `, deployment, flow, snapshot, result, i.generation, emitted,
	w.generation, coalesce(w.element, ''), coalesce(w.channel, ''), coalesce(w.key, ''), coalesce(w.due, 0), coalesce(w.data, '')
from (
	select unnest($1::bytea[]) as wanted, unnest($2::bytea[]) as by_replica, unnest($3::bigint[]) as by_lane,
		unnest($4::bigint[]) as by_incarnation, unnest($5::bigint[]) as at_epoch, ` + numbered + `) as u
join instances i on i.id = wanted and replica = by_replica and lane = by_lane and incarnation = by_incarnation and epoch = at_epoch
left join waits w on w.instance = i.id`

// Load implements [store.Steps].
func (s *Store) Load(scope *sched.Scope, c store.Claim) (store.Instance, store.Ticket, error) {
	var in store.Instance
	var waits []store.Wait
	found := false
	var err error
	if !c.Owner.Nobody() {
		err = s.call(scope, &call{sql: sqlLoad, shared: true, args: claimArgs(c), each: func(r values) (err error) {
			found = true
			in, waits, err = readInstance(r, waits)
			return err
		}})
	}
	if err == nil && !found {
		err = fmt.Errorf("row is not %v: %w", c, store.ErrFenced)
	}
	if err != nil {
		return store.Instance{}, unsynced, wrap(err, "load", c.Instance)
	}
	slices.SortFunc(waits, func(a, b store.Wait) int { return cmp.Compare(a.Generation, b.Generation) })
	in.Waits = waits
	return in, unsynced, nil
}

// readInstance takes a row of sqlLoad: the instance, and one of its waits if it has any.
func readInstance(r values, waits []store.Wait) (in store.Instance, _ []store.Wait, err error) {
	var deployment, flow, element, channel, key []byte
	var generation, emitted, due int64
	var open *int64
	var w store.Wait
	in.Head, err = readHead(r, &deployment, &flow, &in.Snapshot, &in.Result, &generation, &emitted, &open, &element, &channel, &key, &due, &w.Data)
	if err != nil {
		return in, waits, err
	}
	in.Deployment, in.Flow, in.Snapshot, in.Result = string(deployment), string(flow), bytes(in.Snapshot), bytes(in.Result)
	in.Head.Result = in.Result
	in.Generation, in.Emitted = uint64(generation), uint64(emitted)
	if open != nil {
		w.Generation, w.Element, w.Channel, w.Key = uint64(*open), string(element), string(channel), string(key)
		w.Due, w.Data = moment(due), bytes(w.Data)
		waits = append(waits, w)
	}
	return in, waits, nil
}

// Commit implements [store.Steps].
func (s *Store) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	t, err := s.CommitAll(scope, []*store.Step{st})
	if err != nil {
		return t, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, err)
	}
	return t, nil
}

// CommitAll implements [store.Groups].
func (s *Store) CommitAll(scope *sched.Scope, steps []*store.Step) (store.Ticket, error) {
	if err := store.ValidateGroup(steps); err != nil {
		return durable, err
	}
	sql, args := s.types.transaction(steps)
	s.options.Failpoint(store.PointBeforeApply)
	if _, err := s.write(scope, sql, args...); err != nil {
		return durable, err
	}
	s.options.Failpoint(store.PointAfterSync)
	return durable, nil
}

const sqlRecorded = `
select 1 from records
where instance = $1 and epoch = $2 and cause = $3 and replica = $4 and lane = $5 and incarnation = $6`

// Recorded implements [store.Steps].
func (s *Store) Recorded(scope *sched.Scope, r store.Record) (bool, store.Ticket, error) {
	found := false
	err := s.read(scope, sqlRecorded, func(values) error {
		found = true
		return nil
	}, name(r.Instance), number(uint64(r.Epoch)), name(r.Cause), name(r.Owner.Replica), int64(r.Owner.Lane), number(r.Owner.Incarnation))
	if err != nil {
		return false, durable, fmt.Errorf("read record %s of %v: %w", r.Cause, r.Claim, err)
	}
	return found, durable, nil
}

const sqlVacate = `
update instances
set status = 1, epoch = epoch + 1, deployment = '', flow = '', snapshot = '', result = '', generation = 0
where id = $1 and status >= 3 and replica = '' and lane = 0 and incarnation = 0
	and not exists (select from inbox where channel = $2 and inbox.id = $3)
returning epoch`

// Vacate implements [store.Steps].
func (s *Store) Vacate(scope *sched.Scope, id store.InstanceID, forgotten store.Delivery) (store.Epoch, store.Ticket, error) {
	var epoch int64
	err := s.call(scope, &call{sql: sqlVacate, writes: true, args: []any{name(id), name(forgotten.Channel), name(forgotten.ID)}, each: func(r values) error {
		return r.scan(&epoch)
	}})
	if err == nil && epoch == 0 {
		err = fmt.Errorf("row has not ended, is claimed, or its delivery is remembered: %w", store.ErrConflict)
	}
	return store.Epoch(epoch), durable, wrap(err, "vacate", id)
}

const sqlCollect = `
delete from instances
where id = $1 and status >= 3 and replica = '' and lane = 0 and incarnation = 0
	and not exists (select from outbox where instance = $1)`

// Collect implements [store.Steps].
func (s *Store) Collect(scope *sched.Scope, id store.InstanceID) (store.Ticket, error) {
	n, err := s.write(scope, sqlCollect, name(id))
	if err == nil && n == 0 {
		err = fmt.Errorf("row has not ended, is claimed, or an emission has not left: %w", store.ErrConflict)
	}
	return durable, wrap(err, "collect", id)
}
