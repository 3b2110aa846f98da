package postgres

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

const (
	listColumns = `id, replica, lane, incarnation, epoch, status, since, ''::bytea`
	headColumns = `id, replica, lane, incarnation, epoch, status, since, case when status >= 3 then result else '' end`
)

// readHead takes the columns of headColumns.
func readHead(r values, more ...any) (h store.Head, err error) {
	var id, replica []byte
	var lane, incarnation, epoch, since int64
	var status int16
	into := append([]any{&id, &replica, &lane, &incarnation, &epoch, &status, &since, &h.Result}, more...)
	if err := r.scan(into...); err != nil {
		return h, err
	}
	h.Instance = store.InstanceID(id)
	h.Owner = store.Owner{Replica: string(replica), Lane: uint32(lane), Incarnation: uint64(incarnation)}
	h.Epoch, h.Status, h.Since, h.Result = store.Epoch(epoch), store.Status(status), moment(since), bytes(h.Result)
	return h, nil
}

// ticketOf: only a row that is claimed shows something that may not be flushed.
func ticketOf(h store.Head) store.Ticket {
	if h.Owner.Nobody() {
		return durable
	}
	return unsynced
}

const sqlHead = `
select n, ` + headColumns + `
from (select unnest($1::bytea[]) as wanted, ` + numbered + `) as u join instances on id = wanted`

// Head implements [store.Claims].
func (s *Store) Head(scope *sched.Scope, id store.InstanceID) (store.Head, store.Ticket, error) {
	h := store.Head{Claim: store.Claim{Instance: id}}
	err := store.ValidateName("instance", string(id))
	if err == nil {
		err = s.call(scope, &call{sql: sqlHead, shared: true, args: []any{name(id)}, each: func(r values) (err error) {
			h, err = readHead(r)
			return err
		}})
	}
	return h, ticketOf(h), wrap(err, "read head of", id)
}

// A row that is locked is being claimed, committed or freed: it counts as claimed, so taking never waits. Each row is looked up by its id in a
// query of its own, whose lock keeps the planner from turning the join around: conditions on constants look so selective to it that it read
// all instances and looked for each among those wanted.
const sqlTake = `
with free as (
	select u.* from (
		select unnest($1::bytea[]) as wanted, unnest($2::bigint[]) as seen, unnest($3::bytea[]) as replica, unnest($4::bigint[]) as lane,
			unnest($5::bigint[]) as incarnation, ` + numbered + `) as u
	cross join lateral (
		select from instances i
		where i.id = u.wanted and i.epoch = u.seen and i.status = 2 and i.replica = '' and i.lane = 0 and i.incarnation = 0
		for update skip locked) as locked)
update instances i
set replica = free.replica, lane = free.lane, incarnation = free.incarnation, epoch = i.epoch + 1,
	since = ` + sqlNow + `
from free where i.id = free.wanted
returning free.n, i.epoch`

// Take implements [store.Claims].
func (s *Store) Take(scope *sched.Scope, id store.InstanceID, seen store.Epoch, me store.Owner) (store.Claim, store.Ticket, error) {
	err := store.ValidateName("instance", string(id))
	if err == nil && me.Nobody() {
		err = fmt.Errorf("%w: owner: nobody cannot take a claim", store.ErrInvalid)
	}
	if err != nil {
		return store.Claim{}, durable, wrap(err, "claim", id)
	}
	taken := store.Claim{Instance: id, Owner: me}
	err = s.call(scope, &call{sql: sqlTake, shared: true, writes: true, locks: true, args: []any{
		name(id), number(uint64(seen)), name(me.Replica), int64(me.Lane), number(me.Incarnation),
	}, each: func(r values) error {
		var epoch int64
		err := r.scan(&epoch)
		taken.Epoch = store.Epoch(epoch)
		return err
	}})
	if err == nil && taken.Epoch == 0 {
		err = s.whyNotTaken(scope, id, seen)
	}
	if err != nil {
		return store.Claim{}, unsynced, wrap(err, "claim", id)
	}
	return taken, unsynced, nil
}

// whyNotTaken says what stood in the way. Whatever it reads, nothing was taken.
func (s *Store) whyNotTaken(scope *sched.Scope, id store.InstanceID, seen store.Epoch) error {
	h, _, err := s.Head(scope, id)
	switch {
	case err != nil:
		return err
	case h.Status != store.Running:
		return fmt.Errorf("row is %v: %w", h.Status, store.ErrNotFound)
	default:
		return fmt.Errorf("at epoch %d, row is %v:%d: %w", seen, h.Owner, h.Epoch, store.ErrConflict)
	}
}

const sqlRenew = `
update instances
set epoch = epoch + 1, since = ` + sqlNow + `
where id = $1 and replica = $2 and lane = $3 and incarnation = $4 and epoch = $5
returning epoch`

// Renew implements [store.Claims]. Like Take it flushes nothing: a crash of the server takes it back, and then its holder, whose
// claim is another one, has lost the role.
func (s *Store) Renew(scope *sched.Scope, c store.Claim) (store.Claim, store.Ticket, error) {
	err := store.ValidateName("instance", string(c.Instance))
	if err == nil && c.Owner.Nobody() {
		err = fmt.Errorf("%w: owner: nobody holds nothing to renew", store.ErrInvalid)
	}
	var epoch int64
	if err == nil {
		err = s.call(scope, &call{sql: sqlRenew, writes: true, args: claimArgs(c), each: func(r values) error { return r.scan(&epoch) }})
	}
	if err == nil && epoch == 0 {
		err = fmt.Errorf("row carries another claim: %w", store.ErrConflict)
	}
	if err != nil {
		return store.Claim{}, unsynced, wrap(err, "renew", c.Instance)
	}
	c.Epoch = store.Epoch(epoch)
	return c, unsynced, nil
}

// claimArgs are the whole claim, in the order of the statements that compare with it.
func claimArgs(c store.Claim) []any {
	return []any{name(c.Instance), name(c.Owner.Replica), int64(c.Owner.Lane), number(c.Owner.Incarnation), number(uint64(c.Epoch))}
}

// Of an absent row a void one is made, so that a spawn which saw the row absent comes too late.
const sqlRelease = `
with freed as (
	update instances
	set replica = '', lane = 0, incarnation = 0, since = 0, epoch = epoch + 1
	where id = $1 and replica = $2 and lane = $3 and incarnation = $4 and epoch = $5
	returning 1),
voided as (
	insert into instances (id, status, epoch)
	select $1, 1, 1 where $2 = ''::bytea and $3 = 0 and $4 = 0 and $5 = 0
	on conflict (id) do nothing
	returning 1)
select 1 from freed union all select 1 from voided`

// Release implements [store.Claims]. Unlike the engines of package step it flushes: nothing is released but to free what
// a failed step left, and to fence one.
func (s *Store) Release(scope *sched.Scope, c store.Claim) (bool, store.Ticket, error) {
	err := store.ValidateName("instance", string(c.Instance))
	var n int64
	if err == nil {
		n, err = s.write(scope, sqlRelease, claimArgs(c)...)
	}
	return n > 0 && err == nil, durable, wrap(err, "release", c.Instance)
}

const sqlClaimed = `
select ` + listColumns + ` from instances
where (incarnation <> 0 or lane <> 0 or replica <> '') and id > $1
order by id limit $2`

// Claimed implements [store.Claims].
func (s *Store) Claimed(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	return s.listHeads(scope, "list claims", sqlClaimed, after, limit)
}

func wrap(err error, verb string, id store.InstanceID) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", verb, id, err)
}

// notFound is what a read of one row returns when there is none.
func notFound(err error, found bool) error {
	if err == nil && !found {
		return store.ErrNotFound
	}
	return err
}
