package timer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Source is the part of a store that the timers read.
type Source interface {
	Timers(scope *sched.Scope, after store.Timer, until time.Time, limit int) ([]store.Timer, store.Ticket, error)
}

// Outcome is what became of a timer that was brought to its instance.
type Outcome uint8

// The outcomes. Only Fired says that a step committed for the timer.
const (
	Fired   Outcome = iota // the step that the timer caused has committed; its row is gone with it
	Gone                   // the wait is not open any more: somebody else closed it
	Refused                // not now: the claim is held, the lane stopped, the store failed
)

// String returns the name of the outcome, which is that of its action in the specification.
func (o Outcome) String() string {
	switch o {
	case Fired:
		return "Fired"
	case Gone:
		return "Gone"
	default:
		return "Refused"
	}
}

// Fire brings one due timer to the lane of its instance and waits for that lane's reply. It must not
// return Fired before the step's commit is decided.
type Fire func(scope *sched.Scope, t store.Timer) Outcome

// Timers (L10) reads due timers from the store and brings each to its instance's lane, again and again
// until the commit of a step has removed its row.
//
// It owns who is being brought where, and when to try again. It never removes or changes a row, never
// runs on a lane, and never makes a lane wait: lanes tell it with Armed that a timer was written, which
// leaves a mark and returns.
//
//	(row due) ──scan──▶ offered ──Fired──▶ forgotten (the commit removed the row)
//	                     ▲   │ Gone, Refused
//	             backoff │   ▼
//	              over   └─ deferred ──row no longer seen──▶ forgotten
//
// Invariants
//
//	I1  a wait is offered to at most one lane at a time, and only to the one that owns its instance.
//	I2  no timer is offered before it is due.
//	I3  what is remembered is bounded for each lane: at most Batch offered and the one that it has, and five times Batch in all.
//	I4  a row leaves the store only by the commit of a step that closed its wait (kept by having no other way).
//
//	Orders         Armed: row committed → read wakeAt.  Scan: wakeAt = always → read rows → wakeAt = next due.
//	Linearization  a timer fires at the commit of its step.
//	Waits          the scan: for the next due time, a mark or an outcome, at most Poll, and at most Backoff while
//	               more is due than was read. A lane's task: for
//	               room in the lane's queue and for its reply. All until the scope ends.
//	Hot path       Armed is one atomic load, and one channel operation when the timer is next.
//
// Spec tla/timer/Timer.tla · Model models/timer.go · Checks TestSimL10*, TestModelL10*, TestTraceL10* · Mutants L10.*
type Timers struct {
	s       sched.Scheduler
	options Options
	source  Source
	owner   func(store.InstanceID) int
	fire    Fire

	// wakeAt is when the scan looks again, in Unix nanoseconds; always while it looks.
	wakeAt  sched.Int64
	marks   *sched.Chan[struct{}]
	work    []*sched.Chan[store.Timer]
	results *sched.Chan[result]

	// book is touched by the scan's task only.
	book sched.Cell[book]
}

const always = math.MaxInt64

type result struct {
	timer   store.Timer
	outcome Outcome
}

// New returns timers over source that fire through fire. owner names the lane of an instance, below
// Options.Lanes.
func New(s sched.Scheduler, o Options, source Source, owner func(store.InstanceID) int, fire Fire) (*Timers, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make timers: %w", err)
	}
	o = o.withDefaults()
	t := &Timers{
		s: s, options: o, source: source, owner: owner, fire: fire,
		wakeAt:  sched.NewInt64(s, "timer wake", always),
		marks:   sched.NewChan[struct{}](s, "timer marks", 1),
		results: sched.NewChan[result](s, "timer results", o.Lanes*(o.Batch+1)),
		book:    sched.NewCell(s, "timer book", newBook(o)),
	}
	for range o.Lanes {
		t.work = append(t.work, sched.NewChan[store.Timer](s, "timer work", o.Batch))
	}
	s.Own("L10", t, t.checkInvariants)
	return t, nil
}

// Start runs the timers as tasks of scope, until it ends. Timers that are overdue are brought first.
func (t *Timers) Start(scope *sched.Scope) {
	t.s.Go(scope, "timers", func() { t.scan(scope) })
	for lane, work := range t.work {
		t.s.Go(scope, fmt.Sprintf("timers of lane %d", lane), func() { t.bring(scope, work) })
	}
}

// Armed tells that a timer with this due time was committed. It never waits.
func (t *Timers) Armed(due time.Time) {
	if due.UnixNano() < t.wakeAt.Load() {
		t.marks.TrySend(struct{}{}) // a mark that is there already wakes the scan as well
	}
}

// Overlooked reports whether a timer with this due time may be due before whoever was not told of it looks at the store again: other nodes,
// which look as often as this one.
func (t *Timers) Overlooked(due time.Time) bool { return !due.After(t.s.Now().Add(t.options.Poll)) }

// scan is the one task that decides what is offered.
func (t *Timers) scan(scope *sched.Scope) {
	for scope.Err() == nil {
		t.wakeAt.Store(always)
		now := t.s.Now()
		next := t.offerDue(scope, now)
		t.wakeAt.Store(next.UnixNano())
		clock := sched.NewTimer(t.s, "timer scan", next.Sub(now))
		got := sched.Select4(t.results.OnReceive(), t.marks.OnReceive(), clock.Fired(), scope.Done())
		clock.Stop()
		if got.Index == 0 {
			t.settle(got.A)
		}
		t.settleRest()
	}
}

// offerDue offers what is due and returns when to look again.
func (t *Timers) offerDue(scope *sched.Scope, now time.Time) time.Time {
	latest := now.Add(t.options.Poll)
	b := t.book.Edit()
	b.looks++
	whole, err := t.offerPages(scope, b, now)
	switch {
	case err != nil:
		return now.Add(t.options.Backoff) // the store says no: the rows stay, so nothing is lost by asking later
	case whole:
		b.forgetUnseen(now)
	case b.cursor != (store.Timer{}):
		latest = now.Add(t.options.Backoff) // the rest is not read to its end
	}
	after := store.Timer{Due: now, Instance: maxInstance, Generation: math.MaxUint64}
	upcoming, _, err := t.source.Timers(scope, after, latest, 1)
	if err != nil {
		return now.Add(t.options.Backoff)
	}
	if len(upcoming) > 0 {
		latest = upcoming[0].Due
	}
	return b.earliest(now, latest)
}

// offerPages offers the first page of what is due. When there is more and a lane has room it offers a page of the rest, too, and the
// next look goes on behind that: so timers that a busy lane leaves in the store do not hide those of others. It reports whether the
// first page was all.
func (t *Timers) offerPages(scope *sched.Scope, b *book, now time.Time) (whole bool, err error) {
	limit := b.scanLimit()
	after := b.cursor
	b.cursor = store.Timer{}
	last, whole, err := t.offerPage(scope, b, store.Timer{}, now, limit)
	if err != nil || whole || !t.hasRoom() {
		return whole, err
	}
	if after == (store.Timer{}) {
		after = last
	}
	last, end, err := t.offerPage(scope, b, after, now, limit)
	if !end {
		b.cursor = last
	}
	return false, err
}

// offerPage offers what is due behind a timer, and returns the last of the page and whether nothing is due behind that.
func (t *Timers) offerPage(scope *sched.Scope, b *book, after store.Timer, now time.Time, limit int) (last store.Timer, end bool, err error) {
	due, _, err := t.source.Timers(scope, after, now, limit)
	if err != nil {
		return last, false, err
	}
	for _, last = range due {
		t.offer(b, last, now)
	}
	return last, len(due) < limit, nil
}

// hasRoom reports whether some lane could be offered a timer.
func (t *Timers) hasRoom() bool {
	return slices.ContainsFunc(t.work, func(w *sched.Chan[store.Timer]) bool { return w.Len() < w.Cap() })
}

// maxInstance sorts after every instance id: ids are printable text.
const maxInstance = store.InstanceID("\xff\xff\xff\xff")

// offer hands the timer to its lane's task unless it is there already, waits for its backoff, or finds
// no room. Without room it stays in the store; an outcome that makes room also brings the next scan.
func (t *Timers) offer(b *book, timer store.Timer, now time.Time) {
	lane := t.owner(timer.Instance)
	if b.mayOffer(timer, lane, now) && t.work[lane].TrySend(timer) {
		b.offered(timer, lane, now)
		t.emit("Offer", timer)
	}
}

// bring takes the timers of one lane to it, one after the other, so a lane that is busy holds up this task and
// nothing else.
func (t *Timers) bring(scope *sched.Scope, work *sched.Chan[store.Timer]) {
	for {
		timer, ok, err := work.ReceiveWithin(scope)
		if err != nil || !ok {
			return
		}
		outcome := t.fire(scope, timer)
		t.emit(outcome.String(), timer)
		t.results.Send(result{timer, outcome}) // has room for all that can be offered
	}
}

func (t *Timers) settle(r result) {
	b := t.book.Edit()
	if r.outcome == Fired {
		b.fired(r.timer)
		return
	}
	// Gone is deferred too: the next scan forgets it, unless the store goes on to show the row, and then
	// the backoff keeps this from spinning.
	b.deferred(r.timer, t.s.Now())
}

// settleRest takes the outcomes that are there without waiting. Their number is bounded by what was offered.
func (t *Timers) settleRest() {
	for {
		r, ok, ready := t.results.TryReceive()
		if !ready || !ok {
			return
		}
		t.settle(r)
	}
}

// emit reports an action of the specification.
func (t *Timers) emit(action string, timer store.Timer) {
	if t.s.Traced() {
		t.s.Emit(t, action, timer)
	}
}

func (t *Timers) checkInvariants() error { return t.book.Peek().check() }
