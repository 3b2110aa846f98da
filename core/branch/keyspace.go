package branch

import (
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
)

// Keyspace (E2) remembers which keys a deduplicator has seen. It owns the live set and what observers may see of
// it. It belongs to one task, the lane of its branch; it never waits and never touches the store: the commit point
// does, and tells it.
//
//	          Reserve                    Commit (durable)            keep after first sight
//	absent ───────────────▶ reserved ───────────────────▶ committed ───────────────────────▶ expired
//	   ▲                       │ Release (the output failed)                                    │ Expire, Reserve
//	   └───────────────────────┴────────────────────────────────────────────────────────────────┘
//
// Invariants
//
//	I1  the first one wins: a key has one entry, reserved by one reservation or committed.
//	I2  an entry keeps the time of its first sight. Nothing refreshes it: entries stand in that order, and the
//	    oldest expires first.
//	I3  a reserved entry belongs to a reservation that is not resolved: one whose output failed leaves none
//	    behind, so a redelivered record passes.
//	I4  a published generation never changes.
//
//	Orders        Observe: the generation is read → wanted is raised. Publish: wanted is lowered → the next one is published. So
//	              who has seen a generation gets a newer one by the next Publish.
//	Linearization every operation is one step of the owning task; Observe is its load of the publication.
//	Waits         none.
//	Hot path      Reserve is one look-up in the task's own map. A generation is a copy, made when an observer
//	              asked for one, at most one for each call of Publish.
//
// Spec tla/dedupe/Dedupe.tla · Model models/dedupe.go · Checks TestSimE2*, TestModelE2*, TestLinearE2*, TestTraceE2*
// Mutants E2.refresh-on-hit, E2.keep-on-failure, E2.publish-live-map, E2.commit-at-reservation, E2.acknowledge-held,
// E2.source-first, E2.start-empty, E2.release-after-fence, E2.restore-unsynced, E2.restore-page-bound,
// E2.restore-last-page, E2.restore-absent-failure-sticks, E2.long-key-cut, E2.digest-no-mark, E2.drop-keeps-rows,
// E2.admit-error-keeps-rows, E2.split-error-keeps-rows, E2.sweep-timer-not-reset,
// E2.wish-before-the-look, E2.wish-lowered-last
type Keyspace struct {
	s    sched.Scheduler
	keep time.Duration

	// The owning task only.
	live   sched.Cell[map[string]*entry]
	oldest *entry // by first sight
	newest *entry

	wanted    sched.Bool // an observer looked since the last publication
	published sched.Publication[Generation]
}

// entry is a key that was seen. Entries of a keyspace are a list in order of first sight.
type entry struct {
	key          string
	first        time.Time
	by           *Reservation // nil: committed
	older, newer *entry
}

// Reservation is the right to have seen some keys first. It is resolved once, by Commit or Release.
type Reservation struct {
	entries  []*entry
	block    []entry // room for the next ones: they come and go together
	resolved bool
	// followers are shares of deliveries that repeat a key of the reservation: they end as it does.
	followers []*ack.Share
}

// Verdict is what Reserve says of a key.
type Verdict uint8

// The verdicts.
const (
	Fresh Verdict = iota // not seen before: now reserved
	Known                // committed: a duplicate
	Held                 // reserved by somebody else who is not resolved: a duplicate only if that one commits
)

// String returns the verdict in lower case.
func (v Verdict) String() string { return [...]string{"fresh", "known", "held"}[v] }

// NewKeyspace returns an empty keyspace that keeps a key for keep, which must be positive.
func NewKeyspace(s sched.Scheduler, name string, keep time.Duration) *Keyspace {
	if keep <= 0 {
		panic(fmt.Sprintf("branch: keyspace %s keeps keys for %v", name, keep))
	}
	k := &Keyspace{
		s: s, keep: keep,
		live:      sched.NewCell(s, name+" keys", map[string]*entry{}),
		wanted:    sched.NewBool(s, name+" wanted", false),
		published: sched.NewPublication(s, name+" generation", &Generation{}),
	}
	s.Own("E2", k, k.check)
	return k
}

// Restore adds a key that was committed in an earlier life. Keys come in any order, before anything is reserved.
func (k *Keyspace) Restore(key string, first time.Time) {
	live := *k.live.Edit()
	if live[key] != nil {
		return
	}
	e := &entry{key: key, first: first}
	live[key] = e
	after := k.newest
	for after != nil && after.first.After(first) {
		after = after.older
	}
	k.insert(e, after)
}

// Reserve decides whether the key passes. A fresh key joins the reservation r; Held names who holds it, which may be
// r itself.
func (k *Keyspace) Reserve(now time.Time, key string, r *Reservation) (Verdict, *Reservation) {
	live := *k.live.Edit()
	if e := live[key]; e != nil {
		switch {
		case e.by != nil:
			return Held, e.by
		case e.first.Add(k.keep).After(now):
			return Known, nil
		}
		k.remove(e)
	}
	// A clock that steps back must not disturb the order: a first sight is never before the one before it.
	if k.newest != nil && k.newest.first.After(now) {
		now = k.newest.first
	}
	e := r.add(entry{key: key, first: now, by: r})
	live[key] = e
	k.insert(e, k.newest)
	return Fresh, nil
}

const entryBlock = 32

func (r *Reservation) add(e entry) *entry {
	if len(r.block) == cap(r.block) {
		r.block = make([]entry, 0, min(max(1, len(r.entries)), entryBlock))
	}
	r.block = append(r.block, e)
	added := &r.block[len(r.block)-1]
	r.entries = append(r.entries, added)
	return added
}

// Commit makes the keys of r committed: the commit point calls for it after they are durable.
func (k *Keyspace) Commit(r *Reservation) {
	r.resolve()
	for _, e := range r.entries {
		e.by = nil
	}
}

// Release forgets the keys of r: its output failed, and a redelivered record must pass.
func (k *Keyspace) Release(r *Reservation) {
	r.resolve()
	for _, e := range r.entries {
		k.remove(e)
	}
}

func (r *Reservation) resolve() {
	if r.resolved {
		panic("branch: a reservation is resolved twice")
	}
	r.resolved = true
}

// Keys calls f for each key of the reservation with the time of its first sight.
func (r *Reservation) Keys(f func(key string, first time.Time)) {
	for _, e := range r.entries {
		f(e.key, e.first)
	}
}

// Len returns the number of keys reserved.
func (r *Reservation) Len() int { return len(r.entries) }

// Expire forgets committed keys whose time is over, oldest first, at most limit, and returns how many. A reserved
// key does not expire, and the younger ones behind it wait for it.
func (k *Keyspace) Expire(now time.Time, limit int) int {
	n := 0
	for n < limit && k.oldest != nil && k.oldest.by == nil && !k.oldest.first.Add(k.keep).After(now) {
		k.remove(k.oldest)
		n++
	}
	return n
}

// Len returns the number of keys, reserved ones included. The owning task calls it.
func (k *Keyspace) Len() int { return len(*k.live.View()) }

// insert links e behind after; nil means in front.
func (k *Keyspace) insert(e, after *entry) {
	e.older = after
	if after == nil {
		e.newer, k.oldest = k.oldest, e
	} else {
		e.newer, after.newer = after.newer, e
	}
	if e.newer == nil {
		k.newest = e
	} else {
		e.newer.older = e
	}
}

func (k *Keyspace) remove(e *entry) {
	delete(*k.live.Edit(), e.key)
	if e.older == nil {
		k.oldest = e.newer
	} else {
		e.older.newer = e.newer
	}
	if e.newer == nil {
		k.newest = e.older
	} else {
		e.newer.older = e.older
	}
	e.older, e.newer = nil, nil
}

// Generation is what an observer sees: the committed keys at one moment.
type Generation struct {
	Number uint64
	At     time.Time

	keys map[string]*entry // only key and first are read, and nobody changes those
	size int               // of keys when it was published: what check compares with
}

// Len returns the number of committed keys.
func (g *Generation) Len() int { return g.size }

// Contains reports whether the key was committed, and when it was seen first.
func (g *Generation) Contains(key string) (first time.Time, ok bool) {
	if e := g.keys[key]; e != nil {
		return e.first, true
	}
	return time.Time{}, false
}

// Keys returns the keys in order.
func (g *Generation) Keys() []string {
	keys := make([]string, 0, len(g.keys))
	for key := range g.keys {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Observe returns the latest generation and asks for a newer one. Any task may call it.
func (k *Keyspace) Observe() *Generation {
	g := k.published.Observe()
	if !k.wanted.Load() {
		k.wanted.Store(true)
	}
	return g
}

// Publish makes a new generation if an observer has asked for one.
func (k *Keyspace) Publish(now time.Time) {
	if !k.wanted.Load() {
		return
	}
	k.wanted.Store(false)
	keys := k.committed()
	k.published.Publish(&Generation{
		Number: k.published.Observe().Number + 1, At: now, keys: keys, size: len(keys),
	})
}

// committed is a copy that nobody changes any more.
func (k *Keyspace) committed() map[string]*entry {
	keys := make(map[string]*entry, len(*k.live.View()))
	for e := k.oldest; e != nil; e = e.newer {
		if e.by == nil {
			keys[e.key] = e
		}
	}
	return keys
}

// begun reports an action of the specification: the keys that were read are those that the branch begins with.
func (k *Keyspace) begun() {
	if !k.s.Traced() {
		return
	}
	var keys []string
	for e := k.oldest; e != nil; e = e.newer {
		keys = append(keys, e.key)
	}
	k.s.Emit(k, "Begin", keys)
}

// check is the invariant of E2. Reservations change within one step of the task, so it holds between steps.
func (k *Keyspace) check() error {
	live, n := *k.live.Peek(), 0
	var last time.Time
	for e := k.oldest; e != nil; e = e.newer {
		n++
		switch {
		case live[e.key] != e:
			return sched.Broken("E2.I1", "key %q has two entries", e.key)
		case e.first.Before(last):
			return sched.Broken("E2.I2", "key %q seen at %v stands after one seen at %v", e.key, e.first, last)
		case e.by != nil && e.by.resolved:
			return sched.Broken("E2.I3", "key %q is reserved by a reservation that is resolved", e.key)
		}
		last = e.first
	}
	if n != len(live) {
		return sched.Broken("E2.I1", "%d entries in order, %d live", n, len(live))
	}
	if g := k.published.Peek(); len(g.keys) != g.size {
		return sched.Broken("E2.I4", "generation %d was published with %d keys and has %d", g.Number, g.size, len(g.keys))
	}
	return nil
}
