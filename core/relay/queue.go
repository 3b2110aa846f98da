package relay

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

var (
	// ErrClosed means that the queue takes nothing any more; for a receiver, also nothing is left in it.
	ErrClosed = errors.New("relay: queue closed")
	// ErrTimer means that the timer of a Receive fired before there was anything to receive.
	ErrTimer = errors.New("relay: timer fired")
)

// Queue (C6) is a bounded first-in first-out queue from many producers to one consumer. It owns the places, the
// order, and who sleeps; it never looks at what it carries and never drops it.
//
//	          Push: a place, then linked                    Receive
//	producer ────────────────────────────▶ queued ─────────────────────────▶ consumer
//	   │  no place: raise waiting → look again → wait        │ frees the place → reads waiting → wakes one
//	   └─ closed: refused                                    └ nothing: idle → look again → wait
//
//	Open ──Close──▶ Closing (places taken are still linked and received) ──last one received──▶ Drained
//
// Invariants
//
//	I1  places taken = items queued, plus producers between their place and their link, plus the receiver
//	    between an item and its place.
//	I2  Push takes a place only below the capacity of that moment. Shrinking takes nothing back: places above
//	    the new capacity are received as usual, and nobody gets another until they are gone.
//	I3  a closed queue gives no place.
//
//	Orders        producer: waiting is raised → room is read. consumer: room is freed → waiting is read.
//	              consumer: idle is raised → the list is read. producer: the item is linked → idle is read.
//	Linearization Push at its swap of the tail; a refusal at its load of the places; Receive at its load of
//	              next, and its ErrClosed at its load of the places; Close at its compare-and-swap of them.
//	Waits         Push for a place, bounded by its scope or Close. Receive for an item, bounded by its scope,
//	              its timer or Close; between a producer's swap and its link, for that producer's next step.
//	Hot path      Push: five atomic operations and one allocation, Receive four; no lock, unless somebody
//	              sleeps.
//
// Spec tla/relay/Relay.tla · Model models/relay.go · History linearizability/relay.go · Checks TestSimC6*, TestExhaustC6*,
// TestModelC6*, TestLinearC6*, TestTraceC6*
// Mutants C6.read-room-first, C6.read-waiting-first, C6.read-list-first, C6.count-from-second-snapshot,
// C6.acknowledge-removed, C6.shrink-discards, C6.grow-wakes-one, C6.giving-up-detaches, C6.close-wakes-one,
// C6.refused-keeps-its-reference, C6.first-refusal-ends-the-fan-out, C6.retain-after-push, C6.ended-push-stays-waiting,
// C6.dropped-permit-is-lost, C6.removed-stays-listed
type Queue[T any] struct {
	s        sched.Scheduler
	capacity sched.Int64
	places   sched.Uint64 // closed bit, places taken
	waiting  sched.Int64  // producers that look for a place
	room     sched.Notify

	tail sched.Pointer[item[T]] // producers swap it

	// The consumer's side.
	idle  sched.Bool
	ready *sched.Chan[struct{}] // one stored permit
	head  sched.Cell[*item[T]]  // received last; its next is the first one queued
}

type item[T any] struct {
	next  sched.Pointer[item[T]]
	value sched.Cell[T]
}

const (
	closedBit  uint64 = 1 << 63
	placesMask uint64 = 1<<32 - 1
)

// MaxCapacity is the largest capacity of a queue.
const MaxCapacity = 1 << 20

// NewQueue returns an open queue with a capacity of 1 to MaxCapacity.
func NewQueue[T any](s sched.Scheduler, name string, capacity int) *Queue[T] {
	checkCapacity(name, capacity)
	q := &Queue[T]{
		s:        s,
		capacity: sched.NewInt64(s, name+" capacity", int64(capacity)),
		places:   sched.NewUint64(s, name+" places", 0),
		waiting:  sched.NewInt64(s, name+" waiting", 0),
		room:     sched.NewNotify(s, name+" room"),
		idle:     sched.NewBool(s, name+" idle", false),
		ready:    sched.NewChan[struct{}](s, name+" ready", 1),
	}
	stub := newItem(s, *new(T))
	q.tail = sched.NewPointer(s, name+" tail", stub)
	q.head = sched.NewCell(s, name+" head", stub)
	if s.Traced() {
		s.Own("C6", q, q.check)
		s.Emit(q, "New")
	}
	return q
}

func checkCapacity(name string, capacity int) {
	if capacity < 1 || capacity > MaxCapacity {
		panic(fmt.Sprintf("relay: queue %s with a capacity of %d, want 1 to %d", name, capacity, MaxCapacity))
	}
}

func newItem[T any](s sched.Scheduler, v T) *item[T] {
	return &item[T]{next: sched.NewPointer[item[T]](s, "item next", nil), value: sched.NewCell(s, "item", v)}
}

// Push waits for a place and queues v. The error is ErrClosed, or the cause of scope's end; then v is not queued.
func (q *Queue[T]) Push(scope *sched.Scope, v T) error {
	q.emit("Publish")
	ok, err := q.place()
	if err == nil && !ok {
		err = q.await(scope)
	}
	if err != nil {
		return err
	}
	q.link(v)
	return nil
}

// TryPush queues v if there is a place at once.
func (q *Queue[T]) TryPush(v T) (bool, error) {
	q.emit("Publish")
	ok, err := q.place()
	if ok {
		q.link(v)
	}
	return ok, err
}

// Post queues v above the capacity: for events whose number something else bounds, and whose sender must not wait.
// It reports false when the queue is closed.
func (q *Queue[T]) Post(v T) bool {
	if !q.add(1 << 31) {
		return false
	}
	q.link(v)
	return true
}

// place takes a place if there is one.
func (q *Queue[T]) place() (bool, error) {
	capacity := uint64(q.capacity.Load())
	q.emit("ReadCapacity")
	if q.add(capacity) {
		q.emit("Add")
		return true, nil
	}
	q.emit("NoRoom")
	closed := q.places.Load()&closedBit != 0
	q.emit("ReadClosed")
	if closed {
		return false, ErrClosed
	}
	return false, nil
}

// add takes a place below limit. It is repeated only when somebody else took or freed one meanwhile.
func (q *Queue[T]) add(limit uint64) bool {
	for {
		p := q.places.Load()
		if p&closedBit != 0 || p&placesMask >= limit {
			return false
		}
		if q.places.CompareAndSwap(p, p+1) {
			return true
		}
	}
}

// await takes a place as soon as there is one. A waiter that was woken and lost its place to a newcomer waits again; each
// time around somebody else has got one.
func (q *Queue[T]) await(scope *sched.Scope) error {
	q.waiting.Add(1)
	q.emit("RaiseWaiting")
	defer q.lowerWaiting()
	for {
		woken := q.room.Register()
		q.emit("Register")
		if ok, err := q.place(); ok || err != nil {
			woken.Drop()
			q.emit("Drop")
			return err
		}
		if err := woken.Wait(scope); err != nil {
			q.emit("Drop")
			return err
		}
		q.emit("Wake")
	}
}

func (q *Queue[T]) lowerWaiting() {
	q.waiting.Add(-1)
	q.emit("LowerWaiting")
}

// link makes an item with a place visible. A producer that stops between the two steps would hide what comes after it, so
// there is nothing in between that can fail or wait.
func (q *Queue[T]) link(v T) {
	n := newItem(q.s, v)
	last := q.tail.Swap(n)
	q.emit("Swap")
	last.next.Store(n)
	q.emit("Link")
	q.wakeConsumer("ReadIdle", "WakeConsumer")
}

// wakeConsumer takes the names of its two actions, which are not the same for who links and who closes.
func (q *Queue[T]) wakeConsumer(read, wake string) {
	idle := q.idle.Load()
	q.emit(read)
	if idle {
		q.ready.TrySend(struct{}{})
		q.emit(wake)
	}
}

// Receive waits for the next item. The error is ErrClosed when the queue is drained, ErrTimer when timer (which may
// be nil) fired, or the cause of scope's end. Only one task receives. What is queued comes before an ended scope.
func (q *Queue[T]) Receive(scope *sched.Scope, timer *sched.Timer) (v T, err error) {
	for {
		if v, ok := q.Take(); ok {
			return v, nil
		}
		q.emit("Look")
		q.idle.Store(true)
		q.emit("RaiseIdle")
		v, ok := q.Take()
		slept := false
		if !ok {
			q.emit("LookAgain")
			slept, err = q.drainedOrSleep(scope, timer)
		}
		q.idle.Store(false)
		q.emit("LowerIdle")
		if !slept || err != nil {
			return v, err
		}
	}
}

// drainedOrSleep returns ErrClosed when nothing is left to come; else it sleeps.
func (q *Queue[T]) drainedOrSleep(scope *sched.Scope, timer *sched.Timer) (slept bool, err error) {
	drained := q.places.Load() == closedBit
	q.emit("ReadDrained")
	if drained {
		return false, ErrClosed
	}
	return true, q.sleep(scope, timer)
}

func (q *Queue[T]) sleep(scope *sched.Scope, timer *sched.Timer) error {
	switch sched.Select3(q.ready.OnReceive(), timer.Fired(), scope.Done()).Index {
	case 1:
		q.emit("StopSleeping")
		return ErrTimer
	case 2:
		q.emit("StopSleeping")
		return scope.Err()
	}
	q.emit("Woken")
	return nil
}

// Take returns the next item if one is linked. Only the receiving task calls it.
func (q *Queue[T]) Take() (v T, ok bool) {
	next := (*q.head.View()).next.Load()
	if next == nil {
		return v, false
	}
	q.emit("Take")
	v = *next.value.View()
	*next.value.Edit() = *new(T) // the item stays as the list's head: it must not keep the value alive
	*q.head.Edit() = next
	q.places.Add(^uint64(0))
	q.emit("FreePlace")
	waiting := q.waiting.Load()
	q.emit("ReadWaiting")
	if waiting > 0 {
		q.room.One()
		q.emit("WakeOne")
	}
	return v, true
}

// Resize changes the capacity. Growing lets waiting producers in; shrinking discards nothing.
func (q *Queue[T]) Resize(capacity int) {
	checkCapacity("resize", capacity)
	q.capacity.Store(int64(capacity))
	if q.s.Traced() {
		q.s.Emit(q, "Resize", capacity)
	}
	q.wakeAll("ResizeReadsWaiting", "ResizeWakesAll")
}

func (q *Queue[T]) wakeAll(read, wake string) {
	waiting := q.waiting.Load()
	q.emit(read)
	if waiting > 0 {
		q.room.All()
		q.emit(wake)
	}
}

// Close refuses everything that has no place yet and wakes whoever waits for one. The receiver still gets the rest.
// Closing twice does nothing more.
func (q *Queue[T]) Close() {
	for {
		p := q.places.Load()
		if p&closedBit != 0 {
			return
		}
		if q.places.CompareAndSwap(p, p|closedBit) {
			break
		}
	}
	q.emit("Close")
	q.wakeAll("CloseReadsWaiting", "CloseWakesAll")
	q.wakeConsumer("CloseReadsIdle", "CloseWakesConsumer")
}

// Len returns the places taken.
func (q *Queue[T]) Len() int { return int(q.places.Load() & placesMask) }

// Capacity returns the current capacity.
func (q *Queue[T]) Capacity() int { return int(q.capacity.Load()) }

// Words is what a queue's words say at one instant.
type Words struct {
	Capacity, Places, Waiting int
	Closed, Idle              bool
}

// Peek returns the words of a simulated queue without being an operation: for what checks its events.
func (q *Queue[T]) Peek() Words {
	places := q.places.Peek()
	return Words{
		Capacity: int(q.capacity.Peek()), Places: int(places & placesMask), Waiting: int(q.waiting.Peek()),
		Closed: places&closedBit != 0, Idle: q.idle.Peek(),
	}
}

// emit reports an action of the specification.
func (q *Queue[T]) emit(action string) {
	if q.s.Traced() {
		q.s.Emit(q, action)
	}
}

// checkedItems bounds the walk of check; simulated queues are shorter.
const checkedItems = 64

// check is the invariant of the queue: what is linked has a place (I1).
func (q *Queue[T]) check() error {
	linked := uint64(0)
	for n := (*q.head.Peek()).next.Peek(); n != nil && linked < checkedItems; n = n.next.Peek() {
		linked++
	}
	if places := q.places.Peek() & placesMask; linked > places {
		return sched.Broken("C6.I1", "%d items linked, %d places taken", linked, places)
	}
	return nil
}
