package branch

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// ErrKeys fails a delivery for whose keys a branch has no room.
var ErrKeys = errors.New("branch: too many keys are kept")

// CommitPoint is where keys become durable together with what sinks wrote. A sink.Point is one.
type CommitPoint interface {
	// Begin returns a unit of at most relay.MaxUnitRows rows. It is committed when the tree whose receiver it is has
	// succeeded, and settled either way.
	Begin(rows []store.Row, settler relay.Settler) relay.PendingUnit
}

// Part is the rows of a batch that belong to one branch.
type Part struct {
	Branch string
	Rows   []int32
}

// DedupeOptions say what a deduplicator reads, writes and compares.
type DedupeOptions[P relay.Payload] struct {
	// Name identifies the deduplicator in the store and in the ids of the rows that pass.
	Name string
	// Keep is how long a key is kept from its first sight; positive.
	Keep time.Duration
	// MaxKeys bounds the keys of one branch. A delivery that would go above it fails and comes again, when older keys
	// may have expired: forgetting one early would let its duplicates pass. 0: no bound.
	MaxKeys int
	// From and To are where rows come from and go to. To's consumers commit with Point.
	From  *relay.Consumer[P]
	To    *relay.Relay[P]
	Point CommitPoint
	// Store is where keys are read from when a branch begins.
	Store KeyStore
	// Key returns the key of a row.
	Key func(rows P, row int) (string, error)
	// Refuse keeps a row whose key could not be computed. The row goes no further and holds up no other. An error says that
	// it was not kept: then the whole delivery fails, because an acknowledgement would lose the row.
	Refuse func(rows P, row int, err error) error
	// Select returns the given rows as a payload of its own, which the caller releases.
	Select func(rows P, selected []int32) P
	// Split returns the parts of a batch by branch; rows that belong to none it keeps elsewhere, and an error says that it could
	// not: then the delivery fails. Nil: there is one branch.
	Split func(rows P) ([]Part, error)
	// Branches bounds the branches. Without Split its Max and TTL are not used.
	Branches Options
}

// Deduplicator lets the first row of each key pass. It is a processor on the lanes of its branches:
//
//	From ─▶ Dispatch ─▶ lane of the branch ─▶ reserved in the keyspace ─▶ To ─▶ consumers stage and acknowledge
//	                         ▲                                                        │
//	                         └── keys committed, or released ◀── point ◀──────────────┘
//
// Rows that pass are published with a tree of their own, whose receiver is a unit of the commit point. The share of the incoming
// delivery is resolved when the unit is settled: after its keys are durable together with what sinks wrote. A row
// whose key somebody holds shares that holder's fate: acknowledged if it commits, failed, and so sent again, if not.
//
// A row that passes carries the id of its key. Which of two records with one key comes first may change after a
// crash, so ids of lines would let a flow take both. An inbox must not keep such an id for longer than Keep, or it
// refuses the first record after that.
type Deduplicator[P relay.Payload] struct {
	s     sched.Scheduler
	opts  DedupeOptions[P]
	table *Table[*keys, task[P]]

	passed, duplicates, refused sched.Int64
}

// Counts are the rows that a deduplicator has seen since it was made. A row whose output failed is counted again
// when it comes again.
type Counts struct{ Passed, Duplicates, Refused int64 }

// Counts returns the counters; they change one by one.
func (d *Deduplicator[P]) Counts() Counts {
	return Counts{d.passed.Load(), d.duplicates.Load(), d.refused.Load()}
}

// keys is the runtime of a branch. The keyspace is nil until it was read from the store.
type keys struct {
	prefix string
	space  *Keyspace
	fenced error // the commit point's: what this branch has reserved is decided by the next life
}

// task is a work of a lane: a delivery to let through, or a ticket that was settled.
type task[P relay.Payload] struct {
	delivery relay.Delivery[P]
	ticket   *ticket[P]
	err      error
}

// ticket is a reservation on its way through the commit point. It is the settler of its unit.
type ticket[P relay.Payload] struct {
	lane        *Lane[*keys, task[P]]
	reservation *Reservation
	share       *ack.Share
}

// NewDeduplicator returns a deduplicator that does nothing until Dispatch and Work are run. Bounds that do not validate
// are a programming fault.
func NewDeduplicator[P relay.Payload](s sched.Scheduler, opts DedupeOptions[P]) *Deduplicator[P] {
	if opts.Keep <= 0 {
		panic(fmt.Sprintf("branch: deduplicator %s keeps keys for %v", opts.Name, opts.Keep))
	}
	if opts.Split == nil {
		opts.Branches.Max, opts.Branches.TTL = 1, 0
	}
	d := &Deduplicator[P]{
		s: s, opts: opts,
		passed:     sched.NewInt64(s, opts.Name+" passed", 0),
		duplicates: sched.NewInt64(s, opts.Name+" duplicates", 0),
		refused:    sched.NewInt64(s, opts.Name+" refused", 0),
	}
	d.table = NewTable(s, opts.Name, opts.Branches, Plan[*keys, task[P]]{Open: d.open, Run: d.run, Drop: d.drop})
	return d
}

// Work runs lanes; any number of tasks may do so. It returns when Dispatch has closed the branches, or scope ended.
func (d *Deduplicator[P]) Work(scope *sched.Scope) { d.table.Work(scope) }

// Dispatch admits deliveries to their branches until the consumer is removed; then it waits until everything
// admitted is settled and ends the branches. One task runs it. It returns nil, or the cause of scope's end.
func (d *Deduplicator[P]) Dispatch(scope *sched.Scope) error {
	timer := d.sweeper()
	if timer != nil {
		defer timer.Stop()
	}
	for {
		in, err := d.opts.From.Receive(scope, timer)
		switch {
		case err == nil:
			d.admit(scope, in)
		case errors.Is(err, relay.ErrTimer):
			d.sweep(timer)
		case errors.Is(err, relay.ErrClosed):
			return d.table.Close(scope)
		default:
			d.opts.From.Discard(err)
			return fmt.Errorf("dispatch to %s: %w", d.opts.Name, err)
		}
	}
}

func (d *Deduplicator[P]) sweeper() *sched.Timer {
	if d.opts.Branches.TTL == 0 {
		return nil
	}
	return sched.NewTimer(d.s, d.opts.Name+" sweep", d.opts.Branches.TTL)
}

func (d *Deduplicator[P]) sweep(timer *sched.Timer) {
	next, ok := d.table.Sweep()
	if !ok {
		next = d.s.Now().Add(d.opts.Branches.TTL)
	}
	timer.Reset(next.Sub(d.s.Now()))
}

// admit hands a delivery to its branch, or its parts to theirs, each with a share of its own. A part is never larger than a
// unit of the commit point.
func (d *Deduplicator[P]) admit(scope *sched.Scope, in relay.Delivery[P]) {
	if d.opts.Split == nil && in.Rows.Rows() <= relay.MaxUnitRows {
		d.enter(scope, "", in)
		return
	}
	parts, err := d.parts(in.Rows)
	if err != nil {
		in.Rows.Release()
		in.Share.Fail(fmt.Errorf("split for %s: %w", d.opts.Name, err))
		return
	}
	if len(parts) == 1 && len(parts[0].Rows) == in.Rows.Rows() {
		d.enter(scope, parts[0].Branch, in)
		return
	}
	shares := in.Share.Attach(len(parts))
	for i, part := range parts {
		d.enter(scope, part.Branch, relay.Delivery[P]{Share: &shares[i], Batch: relay.Batch[P]{
			Rows: d.opts.Select(in.Rows, part.Rows), IDs: in.IDs.Select(part.Rows), Unit: in.Unit,
		}})
	}
	in.Rows.Release()
	in.Share.Ack()
}

// parts splits by branch, and then by the bound of a unit.
func (d *Deduplicator[P]) parts(rows P) (parts []Part, err error) {
	var split []Part
	if d.opts.Split == nil {
		split = []Part{{Rows: sequence(rows.Rows())}}
	} else if split, err = d.opts.Split(rows); err != nil {
		return nil, err
	}
	for _, part := range split {
		parts = bounded(parts, part)
	}
	return parts, nil
}

func bounded(parts []Part, part Part) []Part {
	for len(part.Rows) > relay.MaxUnitRows {
		parts = append(parts, Part{Branch: part.Branch, Rows: part.Rows[:relay.MaxUnitRows]})
		part.Rows = part.Rows[relay.MaxUnitRows:]
	}
	return append(parts, part)
}

func sequence(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// enter admits a delivery, or gives it back to its source. A branch among many that is full refuses, so that it does not
// hold up the others; a single one waits.
func (d *Deduplicator[P]) enter(scope *sched.Scope, name string, in relay.Delivery[P]) {
	admit := d.table.Admit
	if d.opts.Split != nil {
		admit = d.table.TryAdmit
	}
	if err := admit(scope, name, task[P]{delivery: in}); err != nil {
		in.Rows.Release()
		in.Share.Fail(err)
	}
}

func (d *Deduplicator[P]) open(_ *sched.Scope, l *Lane[*keys, task[P]]) *keys {
	return &keys{prefix: branchPrefix(l.Key())}
}

// maxExpired bounds how many keys one work forgets.
const maxExpired = 256

func (d *Deduplicator[P]) run(scope *sched.Scope, l *Lane[*keys, task[P]], k *keys, w task[P]) {
	if w.ticket != nil {
		w.ticket.settle(k, w.err)
	} else {
		d.receive(scope, l, k, w.delivery)
	}
	if now := d.now(); k.space != nil {
		k.space.Expire(now, maxExpired)
		k.space.Publish(now)
	}
}

// drop ends a work that will not be run: a delivery goes back to its source, a ticket is settled as if it were.
func (d *Deduplicator[P]) drop(l *Lane[*keys, task[P]], k *keys, w task[P], cause error) {
	if w.ticket != nil {
		w.ticket.settle(k, w.err)
		return
	}
	w.delivery.Rows.Release()
	w.delivery.Share.Fail(fmt.Errorf("branch %q of %s: %w", l.Key(), d.opts.Name, cause))
}

// receive handles a delivery once the branch has its keys; without them it fails, and reading is tried again with the
// next one. After a fence nothing passes any more.
func (d *Deduplicator[P]) receive(scope *sched.Scope, l *Lane[*keys, task[P]], k *keys, in relay.Delivery[P]) {
	defer in.Rows.Release()
	if k.fenced != nil {
		in.Share.Fail(fmt.Errorf("branch %q of %s: %w", l.Key(), d.opts.Name, k.fenced))
		return
	}
	if k.space == nil {
		space, err := d.restore(scope, k.prefix)
		if err != nil {
			in.Share.Fail(fmt.Errorf("begin branch %q of %s: %w", l.Key(), d.opts.Name, err))
			return
		}
		k.space = space
		k.space.begun()
	}
	d.pass(scope, l, k, in)
}

// pass reserves the keys of a delivery and publishes the rows that were first.
func (d *Deduplicator[P]) pass(scope *sched.Scope, l *Lane[*keys, task[P]], k *keys, in relay.Delivery[P]) {
	chosen, err := d.choose(k, in)
	if err != nil {
		k.space.Release(chosen.reservation)
		in.Share.Fail(fmt.Errorf("branch %q of %s: %w", l.Key(), d.opts.Name, err))
		return
	}
	if d.opts.MaxKeys > 0 && k.space.Len() > d.opts.MaxKeys && len(chosen.rows) > 0 {
		k.space.Release(chosen.reservation)
		in.Share.Fail(fmt.Errorf("branch %q of %s: %w: at most %d", l.Key(), d.opts.Name, ErrKeys, d.opts.MaxKeys))
		return
	}
	t := &ticket[P]{lane: l, reservation: chosen.reservation, share: in.Share}
	d.passes(t, chosen)
	in.Share.Duplicates(chosen.duplicates)
	d.count(in.Rows.Rows(), chosen)
	follow(in.Share, chosen.holders)
	if len(chosen.rows) == 0 {
		in.Share.Ack()
		return
	}
	unit := d.opts.Point.Begin(d.rows(chosen.reservation), t)
	root := ack.New(d.s, unit)
	l.Hold()
	rows := in.Rows
	if len(chosen.rows) < in.Rows.Rows() {
		rows = d.opts.Select(in.Rows, chosen.rows)
		defer rows.Release()
	}
	out := relay.Batch[P]{Rows: rows, IDs: relay.KeyIDs(d.opts.Name, chosen.ids), Unit: unit}
	if err := d.opts.To.Publish(scope, root, out); err != nil {
		root.Fail(err) // most often a share of it failed with the same
		return
	}
	root.Ack()
}

// passes reports an action of the specification.
func (d *Deduplicator[P]) passes(t *ticket[P], c choice) {
	if d.s.Traced() {
		d.s.Emit(c.reservation, "Pass", relay.Settler(t), c.keys, c.ids, c.holders)
	}
}

func (d *Deduplicator[P]) count(rows int, c choice) {
	d.passed.Add(int64(len(c.rows)))
	d.duplicates.Add(int64(c.duplicates))
	if refused := rows - len(c.rows) - c.duplicates; refused > 0 {
		d.refused.Add(int64(refused))
	}
}

// choice is what became of the rows of one delivery.
type choice struct {
	reservation *Reservation
	rows        []int32
	ids         []string
	keys        []string // of all rows, when somebody listens
	duplicates  int
	holders     []*Reservation
}

// choose reserves what is fresh. After an error the reservation is the caller's to release.
func (d *Deduplicator[P]) choose(k *keys, in relay.Delivery[P]) (c choice, err error) {
	n := in.Rows.Rows()
	c = choice{reservation: &Reservation{}, rows: make([]int32, 0, n), ids: make([]string, 0, n)}
	now := d.now()
	for row := range n {
		text, err := d.opts.Key(in.Rows, row)
		if err != nil {
			if kept := d.opts.Refuse(in.Rows, row, err); kept != nil {
				return c, fmt.Errorf("keep a refused row: %w; after: %w", kept, err)
			}
			continue
		}
		key := durableKey(k.prefix, text)
		if d.s.Traced() {
			c.keys = append(c.keys, key)
		}
		verdict, holder := k.space.Reserve(now, key, c.reservation)
		switch verdict {
		case Fresh:
			c.rows = append(c.rows, int32(row))
			c.ids = append(c.ids, key)
		case Held:
			c.duplicates++
			c.hold(holder)
		case Known:
			c.duplicates++
		}
	}
	return c, nil
}

// hold notes a holder once. A repetition within the delivery itself needs no note: both have one fate.
func (c *choice) hold(holder *Reservation) {
	if holder == c.reservation {
		return
	}
	for _, known := range c.holders {
		if known == holder {
			return
		}
	}
	c.holders = append(c.holders, holder)
}

// follow ties a share to reservations that are not resolved: one more share for each, which ends as that one does.
func follow(share *ack.Share, holders []*Reservation) {
	shares := share.Attach(len(holders))
	for i, holder := range holders {
		holder.followers = append(holder.followers, &shares[i])
	}
}

// Settled implements relay.Settler. The lane learns before the source does: a record that is sent again finds its key
// released, and a duplicate finds it committed.
func (t *ticket[P]) Settled(err error) {
	t.lane.Complete(task[P]{ticket: t, err: err})
	t.emit("Answer")
	if err != nil {
		t.share.Fail(err)
		return
	}
	t.share.Ack()
}

// settle is the lane's side of it. After a fence nobody knows whether the keys are durable: they stay reserved, so
// that nothing with such a key passes in this life of the node.
func (t *ticket[P]) settle(k *keys, err error) {
	t.emit("Learn")
	switch {
	case err == nil:
		k.space.Commit(t.reservation)
	case errors.Is(err, relay.ErrFenced):
		k.fenced = err
	default:
		k.space.Release(t.reservation)
	}
	for _, share := range t.reservation.followers {
		if err == nil {
			share.Ack()
		} else {
			share.Fail(fmt.Errorf("the record that this one repeats: %w", err))
		}
	}
	t.reservation.followers = nil
}

// emit reports an action of the specification.
func (t *ticket[P]) emit(action string) {
	if s := t.lane.table.s; s.Traced() {
		s.Emit(t.reservation, action)
	}
}
