package engine

import (
	"errors"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// ErrEvicted and ErrClosing are why a held delivery was not settled.
var (
	ErrEvicted = errors.New("evicted: more deliveries are held than there is room for")
	ErrClosing = errors.New("the engine is stopping")
)

// settlement is the registry of on-complete deliveries that this node holds. Whoever takes an entry settles it, once.
//
//	pending ──arm──▶ armed ──ended, timeout, eviction, poll──▶ taken
//	   │ the commit failed
//	   └──drop──▶ taken
//
// Orders: register → commit → arm, and register → read terminal state → arm. An end that comes while an entry is pending is
// kept with it until the entry is armed: before that it is not known whether the delivery took effect. Only armed entries are
// evicted, so a delivery that was told to wait has an entry and a commit.
type settlement struct {
	s        sched.Scheduler
	capacity int

	mu     sched.Mutex // guards the rest; nobody waits for anything else while holding it
	closed bool
	by     map[store.InstanceID][]*entry // only looked up
	first  *entry                        // all entries, oldest first
	last   *entry
	size   int
}

type entryState uint8

const (
	pending entryState = iota
	armed
	taken
)

// entry is one held delivery.
type entry struct {
	instance   store.InstanceID
	state      entryState // guarded by settlement.mu, like the rest but outcome
	end        *ending    // came while pending
	next, prev *entry
	outcome    sched.WriteOnce[ending]
}

// ending is how a held delivery is answered.
type ending struct {
	status  store.Status
	result  []byte
	refused error
}

func newSettlement(s sched.Scheduler, capacity int) *settlement {
	return &settlement{s: s, capacity: capacity, mu: sched.NewMutex(s, "settlement"), by: map[store.InstanceID][]*entry{}}
}

// register adds a pending entry, or returns nil when there is no room and no armed entry to evict.
func (x *settlement) register(id store.InstanceID) *entry {
	made := &entry{instance: id, outcome: sched.NewWriteOnce[ending](x.s, "settlement outcome")}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	if x.size >= x.capacity {
		oldest := x.first
		for oldest != nil && oldest.state != armed {
			oldest = oldest.next
		}
		if oldest == nil {
			return nil
		}
		x.settle(oldest, ending{refused: ErrEvicted})
	}
	x.add(made)
	return made
}

// arm makes a pending entry one that may be settled, and returns it.
func (x *settlement) arm(k *entry) *entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case k.state != pending:
	case k.end != nil:
		x.settle(k, *k.end)
	default:
		k.state = armed
	}
	return k
}

// drop removes an entry that is not needed. A nil entry is none.
func (x *settlement) drop(k *entry) {
	if k != nil {
		x.take(k)
	}
}

// take removes an entry and reports whether it was there: whoever took it answers.
func (x *settlement) take(k *entry) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k.state == taken {
		return false
	}
	x.remove(k)
	return true
}

// ended settles the armed entries of an instance whose end is durable, and leaves the end with the pending ones.
func (x *settlement) ended(id store.InstanceID, status store.Status, result []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	end := ending{status: status, result: result}
	for _, k := range append([]*entry(nil), x.by[id]...) {
		if k.state == pending {
			k.end = &end
			continue
		}
		x.settle(k, end)
	}
}

// close refuses every entry and every later one.
func (x *settlement) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for x.first != nil {
		x.settle(x.first, ending{refused: ErrClosing})
	}
}

func (x *settlement) held() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.size
}

// settle takes an entry and answers it. The caller holds the mutex.
func (x *settlement) settle(k *entry, end ending) {
	x.remove(k)
	k.outcome.Set(end)
}

func (x *settlement) add(k *entry) {
	k.prev = x.last
	if x.last == nil {
		x.first = k
	} else {
		x.last.next = k
	}
	x.last = k
	x.by[k.instance] = append(x.by[k.instance], k)
	x.size++
}

func (x *settlement) remove(k *entry) {
	k.state = taken
	if k.prev == nil {
		x.first = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		x.last = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.next, k.prev = nil, nil
	var rest []*entry
	for _, other := range x.by[k.instance] {
		if other != k {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(x.by, k.instance)
	} else {
		x.by[k.instance] = rest
	}
	x.size--
}
