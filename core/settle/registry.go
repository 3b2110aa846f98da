package settle

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Registry (L5) is who may answer a delivery that waits for the end of its instance, and when.
//
// It owns the entries of one node, their order of age and their number. Whoever takes an entry settles it, once: the lane that
// commits the end, the comparison with durable state, the timeout, an eviction, the stop of the node. It never decides what the
// answer is: that is durable terminal state. It never makes a lane wait, and calls nobody while it is locked.
//
//	Register ──▶ pending ──Arm──▶ armed ──Ended, comparison or timeout, eviction, Close──▶ taken
//	                │  │             ▲
//	                │  └─Ended keeps the end until Arm, which settles with it
//	                └──Drop (refused, or answered at once), Close──▶ taken
//
// Invariants
//
//	I1  An entry is settled at most once, and only by who took it.
//	I2  Evictions and timeouts take armed entries only: a pending one may still turn out not to have taken effect.
//	I3  The registry holds at most its capacity; full of pending entries it refuses the newcomer before its commit.
//	I4  Who was told to wait has an entry, and a commit. An entry whose commit failed is gone.
//	I5  An end that is told is durable terminal state of the instance.
//
//	Orders         Register → commit → Arm → "deferred". Register → read terminal state → settle or Arm. The other order loses
//	               an end that comes in between.
//	Linearization  Each operation while it holds the mutex; the answer at the write of the outcome.
//	Waits          Await: for an outcome, at most its patience, with a look at durable state every poll. Compare: for its reads.
//	Hot path       Two short sections a deferred delivery; a delivery that is not deferred comes nowhere near.
//
// Spec tla/settle/Settle.tla · Model models/settle.go · Checks TestSimL5*, TestExhaustL5*, TestModelL5*,
// TestTraceL5* ·
// Mutants L5.*
type Registry struct {
	s    sched.Scheduler
	mu   sched.Mutex // guards the book and the entries; nobody waits for anything else while holding it
	book sched.Cell[book]
}

// book is all that is held. The map is only looked up.
type book struct {
	capacity    int
	closed      bool
	by          map[store.InstanceID][]*Entry
	first, last *Entry // all entries, oldest first
	size        int
	broken      error // the first violated invariant
	settled     func(e *Entry, o outcome)
}

type state uint8

const (
	pending state = iota
	armed
	taken
)

// Entry is one held delivery.
type Entry struct {
	instance   store.InstanceID
	state      state
	end        *End // came while pending
	settled    int
	next, prev *Entry
	outcome    sched.WriteOnce[outcome]
}

// End is how an instance ended.
type End struct {
	Status store.Status
	Result []byte
}

// outcome is how a held delivery is answered: with the end, or refused.
type outcome struct {
	end     End
	refused error
}

// Why a delivery is not held, or not any longer. The delivery may have taken effect; brought again it is answered from durable
// state.
var (
	ErrFull    = errors.New("settle: more deliveries are held than there is room for")
	ErrEvicted = errors.New("settle: evicted by a younger delivery")
	ErrTimeout = errors.New("settle: the instance has not ended in time")
	ErrClosing = errors.New("settle: the node is stopping")
)

// New returns an empty registry of 1 … capacity entries.
func New(s sched.Scheduler, capacity int) *Registry {
	if capacity < 1 {
		panic(fmt.Sprintf("settle: capacity %d", capacity))
	}
	r := &Registry{
		s: s, mu: sched.NewMutex(s, "settle/guard"),
		book: sched.NewCell(s, "settle/book", book{capacity: capacity, by: map[store.InstanceID][]*Entry{}}),
	}
	r.book.Edit().settled = r.emitSettled
	s.Own("L5", r, r.checkInvariants)
	return r
}

// Register adds a pending entry. A full registry evicts its oldest armed entry; full of pending ones, it refuses with ErrFull.
func (r *Registry) Register(id store.InstanceID) (*Entry, error) {
	made := &Entry{instance: id, outcome: sched.NewWriteOnce[outcome](r.s, "settle/outcome")}
	if r.s.Traced() {
		r.s.Emit(r, "Deliver", made, string(id))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book.Edit()
	if b.closed {
		r.emit("RefuseStopped", made)
		return nil, ErrClosing
	}
	if b.size >= b.capacity {
		oldest := b.first
		for oldest != nil && oldest.state != armed {
			oldest = oldest.next
		}
		if oldest == nil {
			r.emitRoom("RefuseFull", made, b.capacity)
			return nil, fmt.Errorf("%w: %d, and none is known to have taken effect", ErrFull, b.size)
		}
		b.settle(oldest, outcome{refused: ErrEvicted})
	}
	b.add(made)
	r.emitRoom("Register", made, b.capacity)
	return made, nil
}

// Arm makes a pending entry one that may be settled. Its delivery took effect.
func (r *Registry) Arm(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book.Edit()
	if e.state != pending {
		return // the node stops: it was refused
	}
	e.state = armed
	r.emit("Arm", e)
	if e.end != nil {
		b.settle(e, outcome{end: *e.end})
	}
}

// Drop takes a pending entry that nobody will wait for.
func (r *Registry) Drop(e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.book.Edit(); e.state == pending {
		b.remove(e)
		r.emit("Drop", e)
	}
}

// Ended settles the armed entries of an instance whose end is durable, and leaves the end with the pending ones: it is not
// known yet whether those took effect.
func (r *Registry) Ended(id store.InstanceID, end End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book.Edit()
	for _, e := range append([]*Entry(nil), b.by[id]...) {
		if e.state == pending {
			e.end = &end
			continue
		}
		b.settle(e, outcome{end: end})
	}
}

// take settles an armed entry. Who comes second changes nothing.
func (r *Registry) take(e *Entry, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.book.Edit(); e.state == armed {
		b.settle(e, o)
	}
}

// Close refuses every entry and every later one.
func (r *Registry) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book.Edit()
	b.closed = true
	for b.first != nil {
		b.settle(b.first, outcome{refused: ErrClosing})
	}
}

// Held returns the number of entries.
func (r *Registry) Held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.View().size
}

// settle takes an entry and answers it.
func (b *book) settle(e *Entry, o outcome) {
	if e.settled++; e.settled > 1 {
		b.violated("L5.I1", "an entry of instance %s is settled again", e.instance)
	}
	if e.state != armed && (errors.Is(o.refused, ErrEvicted) || errors.Is(o.refused, ErrTimeout)) {
		b.violated("L5.I2", "an entry of instance %s that is not armed: %v", e.instance, o.refused)
	}
	if e.state != taken {
		b.remove(e)
	}
	b.settled(e, o)
	e.outcome.Set(o)
}

// settlement is the action of the specification by which an entry is settled.
func settlement(o outcome) string {
	switch {
	case errors.Is(o.refused, ErrEvicted):
		return "Evict"
	case errors.Is(o.refused, ErrTimeout):
		return "Timeout"
	case errors.Is(o.refused, ErrClosing):
		return "Stop"
	default:
		return "Poll"
	}
}

// Held is an entry that a registry shows.
type Held struct {
	Entry *Entry
	Armed bool
}

// Peek returns the entries of a simulated registry, oldest first, without being an operation: for what checks its events.
func (r *Registry) Peek() (held []Held) {
	for e := r.book.Peek().first; e != nil; e = e.next {
		held = append(held, Held{e, e.state == armed})
	}
	return held
}

// emit reports an action of the specification on an entry, a read with whether it found the end.
func (r *Registry) emit(action string, e *Entry, found ...bool) {
	if !r.s.Traced() {
		return
	}
	args := []any{e}
	for _, f := range found {
		args = append(args, f)
	}
	r.s.Emit(r, action, args...)
}

// emitRoom reports an action that depends on the capacity.
func (r *Registry) emitRoom(action string, e *Entry, capacity int) {
	if r.s.Traced() {
		r.s.Emit(r, action, e, capacity)
	}
}

// emitSettled reports how an entry was settled.
func (r *Registry) emitSettled(e *Entry, o outcome) {
	if r.s.Traced() {
		r.s.Emit(r, settlement(o), e)
	}
}

func (b *book) violated(id, format string, args ...any) {
	if b.broken == nil {
		b.broken = sched.Broken(id, format, args...)
	}
}

func (b *book) add(e *Entry) {
	e.prev = b.last
	if b.last == nil {
		b.first = e
	} else {
		b.last.next = e
	}
	b.last = e
	b.by[e.instance] = append(b.by[e.instance], e)
	b.size++
}

func (b *book) remove(e *Entry) {
	e.state = taken
	if e.prev == nil {
		b.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		b.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.next, e.prev = nil, nil
	var rest []*Entry
	for _, other := range b.by[e.instance] {
		if other != e {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(b.by, e.instance)
	} else {
		b.by[e.instance] = rest
	}
	b.size--
}

func (r *Registry) checkInvariants() error {
	b := r.book.Peek()
	if b.broken != nil {
		return b.broken
	}
	n := 0
	for e := b.first; e != nil; e = e.next {
		n++
	}
	if n != b.size || n > b.capacity {
		return sched.Broken("L5.I3", "%d entries are held, counted %d, capacity %d", n, b.size, b.capacity)
	}
	return nil
}
