package outbox

import (
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// entry is an instance that is with a worker, or that waits after a failed send.
type entry struct {
	instance store.InstanceID
	runs     int // with a worker: 1, else 0
	failures int
	until    time.Time // not served before
}

// book remembers the instances that are served or wait. It is plain memory of one task. Entries are in
// the order of their first offer, so nothing depends on the order of a map.
type book struct {
	options    Options
	cursor     store.InstanceID // where the next look begins: after this instance; empty at the start
	entries    []*entry
	byInstance map[store.InstanceID]*entry
}

func newBook(o Options) book { return book{options: o, byInstance: make(map[store.InstanceID]*entry)} }

// waitingRoom is how many instances may wait after a failure for each that can be with a worker.
const waitingRoom = 4

func (b *book) bound() int { return (1 + waitingRoom) * b.options.Workers * b.options.Batch }

// full says that no further instance can be remembered.
func (b *book) full() bool { return len(b.entries) >= b.bound() }

// mayServe says that looking on is of use: there is room for a further instance, or the time of a remembered one has come.
func (b *book) mayServe(now time.Time) bool {
	return !b.full() || slices.ContainsFunc(b.entries, func(e *entry) bool { return e.free(now) })
}

// free says that an instance is with no worker and its backoff is over.
func (e *entry) free(now time.Time) bool { return e.runs == 0 && !e.until.After(now) }

func (b *book) mayOffer(instance store.InstanceID, now time.Time) bool {
	e := b.byInstance[instance]
	if e == nil {
		return !b.full()
	}
	return e.free(now)
}

func (b *book) offered(instance store.InstanceID) {
	e := b.byInstance[instance]
	if e == nil {
		e = &entry{instance: instance}
		b.byInstance[instance] = e
		b.entries = append(b.entries, e)
	}
	e.runs++
}

func (b *book) done(instance store.InstanceID) {
	if e := b.byInstance[instance]; e != nil {
		b.forget(e)
	}
}

// failed sets the time of the next attempt: the backoff doubles with each failure in a row.
func (b *book) failed(instance store.InstanceID, now time.Time) {
	e := b.byInstance[instance]
	if e == nil {
		return
	}
	e.runs--
	delay := b.options.Backoff << min(e.failures, 20)
	if delay > b.options.MaxBackoff || delay <= 0 {
		delay = b.options.MaxBackoff
	}
	e.failures++
	e.until = now.Add(delay)
}

// idleFor is after how many times its longest backoff an instance that nothing is offered for is forgotten.
const idleFor = 2

// forgetIdle drops instances whose rows somebody else has sent meanwhile.
func (b *book) forgetIdle(now time.Time) {
	for _, e := range slices.Clone(b.entries) {
		if e.runs == 0 && now.Sub(e.until) > idleFor*b.options.MaxBackoff {
			b.forget(e)
		}
	}
}

func (b *book) forget(e *entry) {
	delete(b.byInstance, e.instance)
	b.entries = slices.DeleteFunc(b.entries, func(x *entry) bool { return x == e })
}

// earliest returns the first time after now and at or before latest at which a failed instance may be
// served again. One whose time has come already lacks room or rows, and both bring a look of their own.
func (b *book) earliest(now, latest time.Time) time.Time {
	for _, e := range b.entries {
		if e.runs == 0 && e.until.After(now) && e.until.Before(latest) {
			latest = e.until
		}
	}
	return latest
}

func (b *book) check() error {
	if len(b.entries) > b.bound() {
		return sched.Broken("L11.I5", "%d instances remembered, at most %d may be", len(b.entries), b.bound())
	}
	for _, e := range b.entries {
		if e.runs < 0 || e.runs > 1 {
			return sched.Broken("L11.I1", "instance %s is with %d workers", e.instance, e.runs)
		}
	}
	return nil
}
