package outbox

import (
	"fmt"
	"math"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Source is the part of a store that a sender uses.
type Source interface {
	Emissions(scope *sched.Scope, after store.Emission, limit int) ([]store.Emission, store.Ticket, error)
	Delivered(scope *sched.Scope, sent []store.Emission) (store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
}

// Send gives one emission to its receiver and returns nil when the receiver has acknowledged it. An
// error says nothing about whether it arrived: it will be sent again, under the same (instance, sequence).
type Send func(scope *sched.Scope, e store.Emission) error

// Sender (L11) sends outbox rows to their receivers and removes each once it was acknowledged.
//
// It owns which instance is being served and when a failed one is tried again. It never writes a row,
// and never runs on a lane: lanes tell it with Emitted that rows were committed, which leaves a mark and
// returns.
//
//	(row committed) ──look──▶ run with a worker ──durable──▶ sending ──acknowledged──▶ row removed
//	                            ▲                              │ failed, timeout
//	                            └───────── backoff over ───────┘
//
// Invariants
//
//	I1  an instance's rows are with at most one worker at a time.
//	I2  an emission is sent only when the commit that wrote it is durable.
//	I3  an emission is sent first only after every earlier one of its instance was acknowledged.
//	I4  a row is removed only after its receiver acknowledged it.
//	I5  what is remembered is bounded, by Workers × Batch with workers and four times as many that wait.
//
//	Orders         step's commit → its row is read → that read is durable → send → acknowledged → row removed.
//	Linearization  an emission has left when its receiver acknowledged it.
//	Waits          the look: for a mark, a worker's result or a backoff, at most Poll. A worker: for
//	               durability, and for one acknowledgement, at most Timeout. All until the scope ends.
//	Hot path       Emitted is one channel operation that never blocks.
//
// Spec tla/outbox/Outbox.tla · Model models/outbox.go · Checks TestSimL11*, TestModelL11*, TestTraceL11* · Mutants L11.*
type Sender struct {
	s       sched.Scheduler
	options Options
	source  Source
	send    Send

	marks   *sched.Chan[struct{}]
	work    []*sched.Chan[run]
	results *sched.Chan[result]

	// book is touched by the task that looks only.
	book sched.Cell[book]
}

// run is a stretch of rows of one instance in commit order, as one look saw them.
type run struct {
	rows   []store.Emission
	ticket store.Ticket
}

type result struct {
	instance store.InstanceID
	failed   bool
}

// New returns a sender over source.
func New(s sched.Scheduler, o Options, source Source, send Send) (*Sender, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make outbox sender: %w", err)
	}
	o = o.withDefaults()
	x := &Sender{
		s: s, options: o, source: source, send: send,
		marks:   sched.NewChan[struct{}](s, "outbox marks", 1),
		results: sched.NewChan[result](s, "outbox results", o.Workers*(o.Batch+1)),
		book:    sched.NewCell(s, "outbox book", newBook(o)),
	}
	for range o.Workers {
		x.work = append(x.work, sched.NewChan[run](s, "outbox work", o.Batch))
	}
	s.Own("L11", x, x.checkInvariants)
	return x, nil
}

// Start runs the sender as tasks of scope, until it ends.
func (x *Sender) Start(scope *sched.Scope) {
	x.s.Go(scope, "outbox", func() { x.look(scope) })
	for i, work := range x.work {
		x.s.Go(scope, fmt.Sprintf("outbox worker %d", i), func() { x.serve(scope, work) })
	}
}

// Emitted tells that rows were committed. It never waits.
func (x *Sender) Emitted() {
	x.marks.TrySend(struct{}{}) // a mark that is there already brings the same look
}

// look is the one task that decides which instance is served.
func (x *Sender) look(scope *sched.Scope) {
	for scope.Err() == nil {
		now := x.s.Now()
		next := x.offer(scope, now)
		clock := sched.NewTimer(x.s, "outbox look", next.Sub(now))
		got := sched.Select4(x.results.OnReceive(), x.marks.OnReceive(), clock.Fired(), scope.Done())
		clock.Stop()
		if got.Index == 0 {
			x.settle(got.A)
		}
		x.settleRest()
	}
}

// offer reads pages of the outbox from where the last look ended, once round at most, and hands the rows of
// each instance that is free to a worker. It returns when to look again.
func (x *Sender) offer(scope *sched.Scope, now time.Time) time.Time {
	b := x.book.Edit()
	b.forgetIdle(now)
	wrapped := b.cursor == ""
	for page := 0; page < maxPages && b.mayServe(now); page++ {
		rows, ticket, err := x.source.Emissions(scope, store.Emission{Instance: b.cursor, Sequence: after(b.cursor)}, x.options.Batch)
		if err != nil {
			return now.Add(x.options.Backoff) // the rows stay, so nothing is lost by asking later
		}
		x.offerPage(b, rows, ticket, now)
		if len(rows) == x.options.Batch {
			b.cursor = rows[len(rows)-1].Instance
			continue
		}
		b.cursor = ""
		if wrapped {
			break
		}
		wrapped = true
	}
	return b.earliest(now, now.Add(x.options.Poll))
}

// maxPages bounds one look; the next one goes on where it ended.
const maxPages = 64

// after is the sequence that makes a listing go on with the next instance. The rest of an instance that a
// page has cut is served by a later round, from its first row: rows of one instance are never
// handed out from the middle.
func after(cursor store.InstanceID) uint64 {
	if cursor == "" {
		return 0
	}
	return math.MaxUint64
}

func (x *Sender) offerPage(b *book, rows []store.Emission, ticket store.Ticket, now time.Time) {
	for len(rows) > 0 {
		instance, n := rows[0].Instance, 1
		for n < len(rows) && rows[n].Instance == instance {
			n++
		}
		if b.mayOffer(instance, now) && x.workerOf(instance).TrySend(run{rows[:n:n], ticket}) {
			b.offered(instance)
			x.emit("Offer", instance, rows[0].Sequence, rows[n-1].Sequence)
		}
		rows = rows[n:]
	}
}

// workerOf spreads instances over the workers; any spread is right, because the book keeps an instance with one.
func (x *Sender) workerOf(instance store.InstanceID) *sched.Chan[run] {
	sum := uint32(0)
	for i := range len(instance) {
		sum = sum*31 + uint32(instance[i])
	}
	return x.work[sum%uint32(len(x.work))]
}

// serve sends runs, one after the other.
func (x *Sender) serve(scope *sched.Scope, work *sched.Chan[run]) {
	for {
		r, ok, err := work.ReceiveWithin(scope)
		if err != nil || !ok {
			return
		}
		sent, err := x.sendRun(scope, r)
		if len(sent) > 0 {
			// When the removal fails the rows are sent again, under the same ids: at least once.
			if _, gone := x.source.Delivered(scope, sent); err == nil {
				err = gone
			}
		}
		x.emit("Done", r.rows[0].Instance)
		x.results.Send(result{r.rows[0].Instance, err != nil}) // has room for all that can be offered
	}
}

// sendRun sends the rows in order up to the first that fails, and returns those that were acknowledged.
func (x *Sender) sendRun(scope *sched.Scope, r run) ([]store.Emission, error) {
	if err := x.source.WaitDurable(scope, r.ticket); err != nil {
		return nil, fmt.Errorf("send emissions of instance %s: %w", r.rows[0].Instance, err)
	}
	x.emit("Secure", r.rows[0].Instance)
	for i, row := range r.rows {
		x.emit("Leave", row.Instance, row.Sequence)
		if err := x.sendOne(scope, row); err != nil {
			x.emit("Fails", row.Instance)
			return r.rows[:i], fmt.Errorf("send emission %s/%d: %w", row.Instance, row.Sequence, err)
		}
		x.emit("Acked", row.Instance)
	}
	return r.rows, nil
}

func (x *Sender) sendOne(scope *sched.Scope, row store.Emission) error {
	attempt := scope.ChildTimeout("outbox attempt", x.options.Timeout)
	defer attempt.Close()
	return x.send(attempt, row)
}

func (x *Sender) settle(r result) {
	b := x.book.Edit()
	if r.failed {
		b.failed(r.instance, x.s.Now())
		return
	}
	b.done(r.instance)
}

// settleRest takes the results that are there without waiting. Their number is bounded by what was offered.
func (x *Sender) settleRest() {
	for {
		r, ok, ready := x.results.TryReceive()
		if !ready || !ok {
			return
		}
		x.settle(r)
	}
}

// emit reports an action of the specification: the instance that it is about, and sequence numbers.
func (x *Sender) emit(action string, instance store.InstanceID, sequences ...uint64) {
	if !x.s.Traced() {
		return
	}
	args := []any{instance}
	for _, n := range sequences {
		args = append(args, n)
	}
	x.s.Emit(x, action, args...)
}

func (x *Sender) checkInvariants() error { return x.book.Peek().check() }
