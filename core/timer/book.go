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
	due      time.Time
	since    time.Time // of the last offer
	offers   int       // since the last outcome: 1 while a lane has it, else 0
	refusals int
	until    time.Time // not offered again before; zero while offered
	seen     uint64    // the last look that showed its row
}

// book remembers the timers that are with a lane or wait for their next attempt. It is plain memory of
// one task. Entries are in the order of their first offer, so nothing depends on the order of a map.
type book struct {
	options Options
	entries []*entry
	byWait  map[wait]*entry
	with    int    // entries that are with a lane
	looks   uint64 // at the store so far
}

func newBook(o Options) book { return book{options: o, byWait: make(map[wait]*entry)} }

// deferredRoom is how many deferred entries there may be for each that can be offered.
const deferredRoom = 4

func (b *book) room() int { return b.options.Lanes * b.options.Batch }

// scanLimit is how many due rows to read so that the ones already remembered cannot hide all others.
func (b *book) scanLimit() int { return min(b.room()+len(b.entries), store.MaxScan) }

// mayOffer notes that this look has shown the timer, and reports whether a lane may have it now.
func (b *book) mayOffer(t store.Timer, now time.Time) bool {
	e := b.byWait[waitOf(t)]
	if e == nil {
		return len(b.entries) < (1+deferredRoom)*b.room()
	}
	e.seen = b.looks
	return e.offers == 0 && !e.until.After(now)
}

func (b *book) offered(t store.Timer, now time.Time) {
	e := b.byWait[waitOf(t)]
	if e == nil {
		e = &entry{wait: waitOf(t), due: t.Due, seen: b.looks}
		b.byWait[e.wait] = e
		b.entries = append(b.entries, e)
	}
	e.offers++
	e.since, e.until = now, time.Time{}
	b.with++
}

func (b *book) fired(t store.Timer) {
	if e := b.byWait[waitOf(t)]; e != nil {
		b.with--
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
	b.with--
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
	if b.with > b.room()+b.options.Lanes || len(b.entries) > (1+deferredRoom)*b.room() {
		return sched.Broken("L10.I3", "%d timers remembered, %d of them offered", len(b.entries), b.with)
	}
	for _, e := range b.entries {
		if e.offers < 0 || e.offers > 1 {
			return sched.Broken("L10.I1", "wait %v is offered %d times at once", e.wait, e.offers)
		}
		if e.due.After(e.since) {
			return sched.Broken("L10.I2", "wait %v was offered at %v and is due at %v", e.wait, e.since, e.due)
		}
	}
	return nil
}
