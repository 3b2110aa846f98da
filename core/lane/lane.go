package lane

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// ErrStopped answers a request that a lane accepted or was offered when it no longer runs requests. The
// request had no effect.
var ErrStopped = errors.New("lane stopped")

// Step is what preparing a request came to. Either the answer is known (Commit is nil), or one store
// transaction stands between the request and its answer.
type Step[Q, R any] struct {
	// Answer is given at once when Commit is nil.
	Answer Answer[Q, R]
	// Commit runs the request's store transaction and returns the answer when the transaction is
	// decided, never before: an unknown outcome is decided inside.
	Commit func() Answer[Q, R]
}

// Answer is what a lane says to the task that brought the request.
type Answer[Q, R any] struct {
	// Reply is for the caller when Hop is nil.
	Reply R
	// Hop asks the caller to bring the resolved request to the lane of Hop.Instance.
	Hop *Hop[Q]
}

// Hop is a request that belongs to another lane.
type Hop[Q any] struct {
	Instance string
	Request  Q
}

// Lane (L1) is one execution lane: a loop that runs one request at a time to its end.
//
// It owns its queue and the order of what happens to a request: its commit, then its reply, then the
// next dequeue. It never waits for another lane, never puts anything into a queue, and is never
// entered again by something that completes: a completion is a request of its own.
//
//	idle ──take──▶ preparing ──answer known──▶ answering ──reply──▶ idle
//	 │                 │                           ▲
//	 │                 └──transaction──▶ undecided ┘ decided
//	 └──closing and queue empty──▶ ended
//
// Invariants
//
//	I1  one task at most runs the loop.
//	I2  a request's reply leaves only when no transaction of the lane is undecided.
//	I3  every request taken has been replied to before the next is taken: taken - replied is 0 or 1.
//	I4  at most one transaction is undecided (the fence that decides it is part of it).
//
//	Orders         transaction decided → reply → next take. Requests accepted in order run in order.
//	Linearization  Accept at the channel send; the reply at the send of the answer.
//	Waits          the loop for a request, until the lane closes; Accept for room, until its scope ends or the
//	               lane closes; Pending.Wait until the loop replied or ended, or its scope ends.
//	Hot path       two channel operations and two additions a request; the evidence is plain memory.
//
// Spec tla/lane/Lane.tla · Model: none (its sequential history is the queue itself) · Checks TestSimL1*, TestExhaustL1*,
// TestLinearL1*, TestTraceL1* · Mutants L1.*
type Lane[Q, R any] struct {
	s       sched.Scheduler
	id      int
	queue   *sched.Chan[*Pending[Q, R]]
	prepare func(lane int, q Q) Step[Q, R]

	// load is how many requests were brought here and have no answer yet, those that wait for room included. It is a hint
	// for whoever chooses a lane, and guards nothing.
	load sched.Int64

	// closing ends when new requests are refused, ended when the loop has ended. The queue is never closed:
	// a request that came into it too late is answered by ended.
	closing, ended *sched.Scope

	// seen is what the loop has done so far. Only the loop's task touches it, so a second task on the
	// loop is a race, which the simulator reports.
	seen sched.Cell[evidence]
}

// evidence is what the invariants are judged by.
type evidence struct {
	workers   int
	taken     uint64
	replied   uint64
	undecided int
	early     bool // a reply left while a transaction was undecided
}

// Pending is a request that a lane accepted.
type Pending[Q, R any] struct {
	request   Q
	committed bool                      // its transaction is decided; the loop alone touches it
	answer    *sched.Chan[Answer[Q, R]] // has room for the one answer, so that the loop never waits
	ended     *sched.Scope              // of the lane's loop
}

// newLane returns a lane with room for capacity waiting requests. Its loop starts with start.
func newLane[Q, R any](s sched.Scheduler, id, capacity int, prepare func(int, Q) Step[Q, R]) *Lane[Q, R] {
	l := &Lane[Q, R]{
		s:       s,
		id:      id,
		queue:   sched.NewChan[*Pending[Q, R]](s, "lane queue", capacity),
		prepare: prepare,
		load:    sched.NewInt64(s, "lane load", 0),
		closing: s.NewScope("lane closing"),
		ended:   s.NewScope("lane ended"),
		seen:    sched.NewCell(s, "lane loop", evidence{}),
	}
	s.Own("L1", l, l.checkInvariants)
	return l
}

// start runs the loop as a task of scope until close, and until what was accepted before has run.
func (l *Lane[Q, R]) start(scope *sched.Scope) {
	l.s.Go(scope, fmt.Sprintf("lane %d", l.id), l.loop)
}

// Accept waits for room and puts q into the queue, until scope ends or the lane closes. The wait is how a
// full queue pushes back on whoever brings requests.
func (l *Lane[Q, R]) Accept(scope *sched.Scope, q Q) (*Pending[Q, R], error) {
	return l.accept(scope, q, nil)
}

// accept is Accept of a request that an arrival lane has sent on, when from is what it was there.
func (l *Lane[Q, R]) accept(scope *sched.Scope, q Q, from *Pending[Q, R]) (*Pending[Q, R], error) {
	p := &Pending[Q, R]{request: q, answer: sched.NewChan[Answer[Q, R]](l.s, "lane reply", 1), ended: l.ended}
	l.load.Add(1)
	switch sched.Select3(l.queue.OnSend(p), l.closing.Done(), scope.Done()).Index {
	case 1:
		l.load.Add(-1)
		return nil, fmt.Errorf("enqueue on lane %d: %w", l.id, ErrStopped)
	case 2:
		l.load.Add(-1)
		return nil, fmt.Errorf("enqueue on lane %d: %w", l.id, scope.Err())
	}
	if from == nil {
		l.emit("Arrive", p)
	} else if l.s.Traced() {
		l.s.Emit(l, "Hop", p, from)
	}
	return p, nil
}

// Wait returns the lane's answer. ErrStopped means that the request had no effect and will have none. When
// scope ends first the request may still run: its outcome is unknown to this caller.
func (p *Pending[Q, R]) Wait(scope *sched.Scope) (Answer[Q, R], error) {
	got := sched.Select3(p.answer.OnReceive(), p.ended.Done(), scope.Done())
	switch got.Index {
	case 1:
		// The loop may have answered before it ended; after that it cannot.
		if a, _, ready := p.answer.TryReceive(); ready {
			return a, nil
		}
		return Answer[Q, R]{}, fmt.Errorf("wait for lane reply: %w", ErrStopped)
	case 2:
		return Answer[Q, R]{}, fmt.Errorf("wait for lane reply: %w", scope.Err())
	}
	return got.A, nil
}

// close refuses new requests and lets the loop end when it has run those that are in the queue.
func (l *Lane[Q, R]) close() { l.closing.Cancel(ErrStopped) }

func (l *Lane[Q, R]) loop() {
	l.seen.Edit().workers++
	for l.next() {
	}
	l.seen.Edit().workers--
	l.ended.Cancel(ErrStopped)
}

// next takes one request and runs it. It reports false when the lane is closing and its queue is empty.
func (l *Lane[Q, R]) next() bool {
	got := sched.Select2(l.queue.OnReceive(), l.closing.Done())
	p := got.A
	if got.Index == 1 {
		var ready bool
		if p, _, ready = l.queue.TryReceive(); !ready {
			return false
		}
	}
	l.seen.Edit().taken++
	l.emit("Dequeue", p)
	l.run(p)
	return true
}

// run takes one request to its end. The order of its lines is the order that L1 is about.
func (l *Lane[Q, R]) run(p *Pending[Q, R]) {
	step := l.prepare(l.id, p.request)
	answer := step.Answer
	if step.Commit != nil {
		l.seen.Edit().undecided++
		l.emit("Begin", p)
		answer = step.Commit()
		l.seen.Edit().undecided--
		p.committed = true
		l.emit("Commit", p)
	}
	l.reply(p, answer)
}

func (l *Lane[Q, R]) reply(p *Pending[Q, R], answer Answer[Q, R]) {
	seen := l.seen.Edit()
	seen.replied++
	seen.early = seen.early || seen.undecided > 0
	l.load.Add(-1) // before the answer: who was answered finds the lane free
	p.answer.Send(answer)
	switch {
	case answer.Hop != nil:
		l.emit("Resolve", p)
	case p.committed:
		l.emit("Reply", p)
	default:
		l.emit("Answer", p)
	}
}

// Words are what a lane shows of itself: how many requests wait, how many of those taken have no reply yet, and how many of
// these have an undecided transaction.
type Words struct{ Lane, Capacity, Queued, Busy, Undecided int }

// Peek returns the words of a simulated lane without being an operation: for what checks its events.
func (l *Lane[Q, R]) Peek() Words {
	seen := l.seen.Peek()
	return Words{
		Lane: l.id, Capacity: l.queue.Cap(), Queued: l.queue.PeekLen(),
		Busy: int(seen.taken) - int(seen.replied), Undecided: seen.undecided, //nolint:gosec // counts of one execution
	}
}

// emit reports an action of the specification on a request.
func (l *Lane[Q, R]) emit(action string, p *Pending[Q, R]) {
	if l.s.Traced() {
		l.s.Emit(l, action, p)
	}
}

func (l *Lane[Q, R]) checkInvariants() error {
	seen := l.seen.Peek()
	switch {
	case seen.workers < 0 || seen.workers > 1:
		return sched.Broken("L1.I1", "lane %d: %d tasks run the loop", l.id, seen.workers)
	case seen.early:
		return sched.Broken("L1.I2", "lane %d replied while its transaction was undecided", l.id)
	case seen.taken-seen.replied > 1:
		return sched.Broken("L1.I3", "lane %d took %d requests and replied to %d", l.id, seen.taken, seen.replied)
	case seen.undecided < 0 || seen.undecided > 1:
		return sched.Broken("L1.I4", "lane %d: %d undecided transactions", l.id, seen.undecided)
	}
	return nil
}
