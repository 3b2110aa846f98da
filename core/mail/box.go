package mail

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Space is the space whose rows are kept messages.
const Space = "mail"

// Source is the part of a store that a box reads.
type Source interface {
	Rows(scope *sched.Scope, space, after string, limit int) ([]store.Row, store.Ticket, error)
}

// Outcome is what became of a message that was brought.
type Outcome uint8

// The outcomes.
const (
	Taken  Outcome = iota // a step committed with it, which removed its row
	Nobody                // nothing waits for it
	NotNow                // an instance is busy, the store failed: to be brought again soon
)

// Bring brings one message to whatever waits for it, and returns when that is decided.
type Bring func(scope *sched.Scope, row store.Row) Outcome

// Options of a box. A zero field means its default.
type Options struct {
	// Marks is how many slots to look at are remembered, 1 … 100,000. Default 1024. With more the box looks at all.
	Marks int
	// Poll is how often the box looks at all slots, which finds what another replica kept or waits for. 1 ms … 1 h. Default 5 s.
	Poll time.Duration
	// Backoff is the pause before a message that could not be brought is brought again. 1 ms … 1 min. Default 50 ms.
	Backoff time.Duration
}

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	if o.Marks < 1 || o.Marks > 100_000 {
		faults = append(faults, fmt.Errorf("mail option Marks: %d is not in 1 … 100000", o.Marks))
	}
	if o.Poll < time.Millisecond || o.Poll > time.Hour {
		faults = append(faults, fmt.Errorf("mail option Poll: %v is not in 1ms … 1h", o.Poll))
	}
	if o.Backoff < time.Millisecond || o.Backoff > time.Minute {
		faults = append(faults, fmt.Errorf("mail option Backoff: %v is not in 1ms … 1m", o.Backoff))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.Marks == 0 {
		o.Marks = 1024
	}
	if o.Poll == 0 {
		o.Poll = 5 * time.Second
	}
	if o.Backoff == 0 {
		o.Backoff = 50 * time.Millisecond
	}
	return o
}

// Key is the key of a kept message's row: its slot, which is for whom it is, then when it came. Messages of one slot are brought
// in this order.
func Key(slot string, at time.Time, id string) string {
	return fmt.Sprintf("%s/%020d/%s", slot, at.UnixNano(), id)
}

// Box (L16) brings kept messages to those who wait for them, each slot first in, first out.
//
// It owns which slots are looked at. It writes nothing: a message is kept by the transaction that takes it in, and leaves by the
// one of the step that it causes. It never runs on a lane and never makes one wait: who keeps a message, and who opens a wait that
// messages may be kept for, tells it with Look, which leaves a mark and returns.
//
//	(row kept) ──Look──▶ marked ──look──▶ brought ──Taken──▶ the slot's next
//	                       ▲                 │ Nobody: until somebody waits and marks
//	                       └─────backoff─────┴ NotNow
//
// Invariants
//
//	I1  messages of one slot are brought one at a time, in order: a later one never before an earlier one was taken.
//	I2  a message is not brought after its time.
//	I3  a mark is not lost: with no room for it every slot is looked at.
//
//	Orders         keep: row committed → some raised → Look.  wait: its step committed → some read → Look.  Whoever is second
//	               finds the other.  look at all: some lowered → rows read → some raised → a slot is looked at.
//	               LookAll, and Look when full: missed is raised → another mark.  run: mark taken → missed read.
//	Linearization  a message is taken at the commit of its step.
//	Waits          for a mark, a backoff or Poll; for one message to be brought. All until the scope ends.
//	Hot path       Look is one channel operation that never blocks.
//
// Checks TestSimL16* · Mutants L16.overtake, L16.bring-expired, L16.mark-is-lost, L16.some-behind-the-look
type Box struct {
	s       sched.Scheduler
	options Options
	source  Source
	bring   Bring

	marks  *sched.Chan[string]
	missed sched.Bool
	some   sched.Bool          // false: nothing is kept that this box knows of
	last   sched.Cell[brought] // of the task that runs
}

// brought is what the box saw last of a slot, for its invariant.
type brought struct {
	slot, key string
	taken     bool
	expires   time.Time
	broken    error
}

// New returns a box over source.
func New(s sched.Scheduler, o Options, source Source, bring Bring) (*Box, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make mail box: %w", err)
	}
	o = o.withDefaults()
	b := &Box{
		s: s, options: o, source: source, bring: bring, missed: sched.NewBool(s, "mail missed", false),
		some:  sched.NewBool(s, "mail kept", true),
		marks: sched.NewChan[string](s, "mail marks", o.Marks), last: sched.NewCell(s, "mail brought", brought{}),
	}
	s.Own("L16", b, b.check)
	return b, nil
}

// Start runs the box as a task of scope. What is kept already is brought first.
func (b *Box) Start(scope *sched.Scope) {
	b.missed.Store(true)
	b.s.Go(scope, "mail", func() { b.run(scope) })
}

// Kept tells that a message was kept in the slot. It never waits.
func (b *Box) Kept(slot string) {
	b.some.Store(true)
	b.mark(slot)
}

// Look marks a slot: something may wait for what was kept in it. It never waits, and does nothing while nothing is kept: not even the
// name of the slot is made then.
func (b *Box) Look(slot func() string) {
	if b.some.Load() {
		b.mark(slot())
	}
}

func (b *Box) mark(slot string) {
	if b.marks.TrySend(slot) {
		return
	}
	b.missed.Store(true)
	b.marks.TrySend(slot) // full again: what is in there wakes the box as well
}

// LookAll marks every slot: another replica kept a message. It never waits.
func (b *Box) LookAll() {
	b.some.Store(true)
	b.missed.Store(true)
	b.marks.TrySend("") // no slot is empty; what is in there wakes the box as well
}

func (b *Box) run(scope *sched.Scope) {
	for scope.Err() == nil {
		pause := b.options.Poll
		if b.missed.Swap(false) && !b.lookAll(scope) {
			pause = b.options.Backoff
			b.missed.Store(true)
		}
		clock := sched.NewTimer(b.s, "mail poll", pause)
		got := sched.Select3(b.marks.OnReceive(), clock.Fired(), scope.Done())
		clock.Stop()
		switch got.Index {
		case 0:
			if !b.look(scope, got.A) {
				b.missed.Store(true)
				if b.s.Sleep(scope, "mail backoff", b.options.Backoff) != nil {
					return
				}
			}
		default:
			b.missed.Store(true)
		}
	}
}

// page is how many rows one read of the store returns.
const page = 256

// lookAll looks at every slot once and reports whether all went well.
func (b *Box) lookAll(scope *sched.Scope) bool {
	well, after := true, ""
	b.some.Store(false)
	for scope.Err() == nil {
		rows, _, err := b.source.Rows(scope, Space, after, page)
		if err != nil {
			b.some.Store(true)
			return false
		}
		slot := ""
		if len(rows) > 0 {
			b.some.Store(true)
		}
		for _, r := range rows {
			if s := slotOf(r.Key); s != slot {
				slot = s
				well = b.look(scope, slot) && well
			}
		}
		if len(rows) < page {
			return well
		}
		after = rows[len(rows)-1].Key
	}
	return false
}

func slotOf(key string) string {
	slot, _, _ := strings.Cut(key, "/")
	return slot
}

// look brings the messages of a slot until nobody waits for the next, and reports false when it is to be done again soon.
func (b *Box) look(scope *sched.Scope, slot string) bool {
	after := slot + "/"
	for scope.Err() == nil {
		rows, _, err := b.source.Rows(scope, Space, after, 1)
		if err != nil {
			return false
		}
		if len(rows) == 0 || slotOf(rows[0].Key) != slot {
			return true
		}
		row := rows[0]
		after = row.Key
		if b.over(row.Expires) {
			continue // housekeeping removes it
		}
		switch b.hand(scope, slot, row) {
		case Taken:
		case Nobody:
			return true
		default:
			return false
		}
	}
	return false
}

// over reports whether a message's time is over; the zero time never is.
func (b *Box) over(expires time.Time) bool { return !expires.IsZero() && !b.s.Now().Before(expires) }

// hand brings one message.
func (b *Box) hand(scope *sched.Scope, slot string, row store.Row) Outcome {
	last := b.last.Edit()
	if last.slot == slot && !last.taken && row.Key > last.key && !b.over(last.expires) {
		last.broken = sched.Broken("L16.I1", "message %s is brought, and %s before it was not taken", row.Key, last.key)
	}
	if b.over(row.Expires) {
		last.broken = sched.Broken("L16.I2", "message %s is brought at %v, after its time", row.Key, b.s.Now())
	}
	out := b.bring(scope, row)
	last = b.last.Edit()
	last.slot, last.key, last.taken, last.expires = slot, row.Key, out == Taken, row.Expires
	return out
}

func (b *Box) check() error { return b.last.Peek().broken }
