package timer

import (
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// wait names what a timer belongs to.
type wait struct {
	instance   store.InstanceID
	generation uint64
}

func waitOf(t store.Timer) wait { return wait{t.Instance, t.Generation} }

// entry is what is remembered of a timer between its first offer and its end.
type entry struct {
	wait     wait
	lane     int
	due      time.Time
	since    time.Time // of the last offer
	offers   int       // since the last outcome: 1 while a lane has it, else 0
	refusals int
	until    time.Time // not offered again before; zero while offered
	seen     uint64    // the last look that showed its row
}

// laneCount counts the entries of one lane.
type laneCount struct {
	entries int
	with    int // of them, those that the lane or its task has; at most Batch and one
}

// book remembers the timers that are with a lane or wait for their next attempt. It is plain memory of
// one task. Entries are in the order of their first offer, so nothing depends on the order of a map.
type book struct {
	options Options
	entries []*entry
	byWait  map[wait]*entry
	lanes   []laneCount
	looks   uint64      // at the store so far
	cursor  store.Timer // where the next look into the rest of what is due begins, behind this one
}

func newBook(o Options) book {
	return book{options: o, byWait: make(map[wait]*entry), lanes: make([]laneCount, o.Lanes)}
}

// deferredRoom is how many deferred entries there may be for each that can be offered.
const deferredRoom = 4

func (b *book) room() int { return b.options.Lanes * b.options.Batch }

// bound is how many entries a lane may have: those of a lane that refuses all take no other lane's place.
func (b *book) bound() int { return (1 + deferredRoom) * b.options.Batch }

// scanLimit is how many due rows to read so that the ones already remembered cannot hide all others.
func (b *book) scanLimit() int { return min(b.room()+len(b.entries), store.MaxScan) }

// mayOffer notes that this look has shown the timer, and reports whether a lane may have it now.
func (b *book) mayOffer(t store.Timer, lane int, now time.Time) bool {
	n := b.lanes[lane]
	e := b.byWait[waitOf(t)]
	if e == nil {
		return n.entries < b.bound() && n.with <= b.options.Batch
	}
	e.seen = b.looks
	return e.offers == 0 && !e.until.After(now) && n.with <= b.options.Batch
}

func (b *book) offered(t store.Timer, lane int, now time.Time) {
	e := b.byWait[waitOf(t)]
	if e == nil {
		e = &entry{wait: waitOf(t), lane: lane, due: t.Due, seen: b.looks}
		b.lanes[lane].entries++
		b.byWait[e.wait] = e
		b.entries = append(b.entries, e)
	}
	e.offers++
	e.since, e.until = now, time.Time{}
	b.lanes[lane].with++
}

func (b *book) fired(t store.Timer) {
	if e := b.byWait[waitOf(t)]; e != nil {
		b.lanes[e.lane].with--
		b.forget(e)
	}
}

// deferred sets the time of the next attempt: the backoff doubles with each refusal in a row.
func (b *book) deferred(t store.Timer, now time.Time) {
	e := b.byWait[waitOf(t)]
	if e == nil {
		return
	}
	e.offers--
	b.lanes[e.lane].with--
	delay := b.options.Backoff << min(e.refusals, 20)
	if delay > b.options.MaxBackoff || delay <= 0 {
		delay = b.options.MaxBackoff
	}
	e.refusals++
	e.until = now.Add(delay)
}

// forgetUnseen drops the deferred entries whose time has come and whose row a complete scan did not show. Those that it did
// show have just been offered, or wait for room and keep their refusals meanwhile.
func (b *book) forgetUnseen(now time.Time) {
	for _, e := range slices.Clone(b.entries) {
		if e.offers == 0 && e.seen != b.looks && !e.until.After(now) {
			b.forget(e)
		}
	}
}

func (b *book) forget(e *entry) {
	delete(b.byWait, e.wait)
	b.lanes[e.lane].entries--
	b.entries = slices.DeleteFunc(b.entries, func(x *entry) bool { return x == e })
}

// earliest returns the first time after now and at or before latest at which a deferred entry may be
// offered again. One whose time has come already lacks room, and the outcome that makes room brings a scan.
func (b *book) earliest(now, latest time.Time) time.Time {
	for _, e := range b.entries {
		if e.offers == 0 && e.until.After(now) && e.until.Before(latest) {
			latest = e.until
		}
	}
	return latest
}

func (b *book) check() error {
	counted := make([]laneCount, len(b.lanes))
	for _, e := range b.entries {
		if e.offers < 0 || e.offers > 1 {
			return sched.Broken("L10.I1", "wait %v is offered %d times at once", e.wait, e.offers)
		}
		if e.due.After(e.since) {
			return sched.Broken("L10.I2", "wait %v was offered at %v and is due at %v", e.wait, e.since, e.due)
		}
		counted[e.lane].entries++
		counted[e.lane].with += e.offers
	}
	for lane, n := range counted {
		if n != b.lanes[lane] || n.entries > b.bound() || n.with > b.options.Batch+1 {
			return sched.Broken("L10.I3", "lane %d has %+v, counted as %+v; at most %d may be", lane, n, b.lanes[lane], b.bound())
		}
	}
	return nil
}
