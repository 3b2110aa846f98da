package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// Verdict is what the other side said to rows that were sent to it.
type Verdict uint8

// The verdicts.
const (
	// Accepted: it has them.
	Accepted Verdict = iota
	// Again: it may take them later: no connection, no answer in time, overload, a fault of its own.
	Again
	// Never: it will not take them as they are, or from us. Which of several rows is to blame is not known.
	Never
)

var (
	// ErrExhausted fails a delivery that was sent as often as allowed.
	ErrExhausted = errors.New("sink: out of retries")
	// ErrNever fails a delivery with a row that the other side refuses for good, where there is no route to dead letters.
	ErrNever = errors.New("sink: refused for good")
)

// RemoteOptions say how a remote sink sends. See the ranges of Validate.
type RemoteOptions[P relay.Payload] struct {
	Name string
	From *relay.Consumer[P]
	// Send sends the given rows at once and returns what the other side said. It bounds its own time, and ends early with
	// scope. The error explains a verdict other than Accepted.
	Send func(scope *sched.Scope, rows P, ids relay.IDs, selected []int32) (Verdict, error)
	// Where returns the rows that belong to the sink. Rows that it cannot judge it keeps elsewhere, and an error says that it
	// could not: then the delivery fails. Nil: all.
	Where func(rows P) ([]int32, error)
	// Bury keeps a row that is refused for good, and returns when that is durable. Nil: there is no such route.
	Bury func(rows P, row int, why error) error
	// Retries is the number of attempts after the first one, 0 to MaxRetries. Attempts that end with Never, to find
	// out which row is to blame, do not count.
	Retries int
	// Backoff is the wait before the first retry, up to MaxBackoff; it doubles with each further one, up to MaxBackoff.
	Backoff time.Duration
	// Batch is the most rows sent at once, 1 to MaxRemoteBatch. 0: 1000.
	Batch int
}

// The ranges of RemoteOptions.
const (
	MaxRetries     = 100
	MaxBackoff     = 10 * time.Minute
	MaxRemoteBatch = 100_000
)

// Validate reports every field that is out of its range.
func (o RemoteOptions[P]) Validate() error {
	var faults []error
	if o.Retries < 0 || o.Retries > MaxRetries {
		faults = append(faults, fmt.Errorf("retries %d, want 0 to %d", o.Retries, MaxRetries))
	}
	if o.Backoff < 0 || o.Backoff > MaxBackoff {
		faults = append(faults, fmt.Errorf("backoff %v, want 0 to %v", o.Backoff, MaxBackoff))
	}
	if o.Batch < 0 || o.Batch > MaxRemoteBatch {
		faults = append(faults, fmt.Errorf("batch %d, want 0 to %d", o.Batch, MaxRemoteBatch))
	}
	return errors.Join(faults...)
}

// Remote sends the rows of a relay to the other side of a connection, one delivery after the other. A row is
// delivered when the other side said so; rows that it may take later are sent again, a bounded number of times; a
// row that it refuses for good goes to the dead letters, and without such a route fails its delivery. It is never
// acknowledged for being refused. The rows of a delivery are followed by a [Payload].
type Remote[P relay.Payload] struct {
	s    sched.Scheduler
	opts RemoteOptions[P]
}

// NewRemote returns a sink that has not begun, or every fault of the options.
func NewRemote[P relay.Payload](s sched.Scheduler, opts RemoteOptions[P]) (*Remote[P], error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("make sink %s: %w", opts.Name, err)
	}
	if opts.Batch == 0 {
		opts.Batch = 1000
	}
	return &Remote[P]{s: s, opts: opts}, nil
}

// Run sends until the consumer is removed and nothing is left, or scope ends: then what is not delivered fails, to
// be sent again. It returns nil, or the cause of scope's end.
func (r *Remote[P]) Run(scope *sched.Scope) error {
	for {
		d, err := r.opts.From.Receive(scope, nil)
		if errors.Is(err, relay.ErrClosed) {
			return nil
		}
		if err == nil {
			r.deliver(scope, d)
			err = scope.Err()
		}
		if err != nil {
			r.opts.From.Discard(err)
			return fmt.Errorf("run sink %s: %w", r.opts.Name, err)
		}
	}
}

// deliver follows the rows of one delivery to the end.
func (r *Remote[P]) deliver(scope *sched.Scope, d relay.Delivery[P]) {
	defer d.Rows.Release()
	selected, err := r.selected(d.Rows)
	if err != nil {
		d.Share.Fail(fmt.Errorf("sink %s: %w", r.opts.Name, err))
		return
	}
	p := NewPayload(r.s, len(selected), d.Share)
	x := &passage[P]{remote: r, delivery: d, payload: p, selected: selected}
	if err := x.run(scope); err != nil {
		p.Teardown(fmt.Errorf("sink %s: %w", r.opts.Name, err))
	}
}

func (r *Remote[P]) selected(rows P) ([]int32, error) {
	if r.opts.Where != nil {
		return r.opts.Where(rows)
	}
	all := make([]int32, rows.Rows())
	for i := range all {
		all[i] = int32(i)
	}
	return all, nil
}

// passage is one delivery on its way. A payload's row is an index into selected.
type passage[P relay.Payload] struct {
	remote   *Remote[P]
	delivery relay.Delivery[P]
	payload  *Payload
	selected []int32
}

// run sends what is pending until nothing is, or an error ends it.
func (x *passage[P]) run(scope *sched.Scope) error {
	retries := 0
	for {
		rows := x.payload.Take(nil, x.remote.opts.Batch)
		if len(rows) == 0 {
			return nil
		}
		again, err := x.send(scope, rows)
		if err != nil {
			return err
		}
		if again == nil {
			continue
		}
		if retries == x.remote.opts.Retries {
			return fmt.Errorf("%w after %d attempts: %w", ErrExhausted, retries+1, again)
		}
		if err := x.remote.s.Sleep(scope, x.remote.opts.Name+" backoff", x.remote.backoff(retries)); err != nil {
			return err
		}
		retries++
	}
}

func (r *Remote[P]) backoff(retries int) time.Duration {
	wait := r.opts.Backoff
	for range retries {
		if wait = 2 * wait; wait >= MaxBackoff {
			return MaxBackoff
		}
	}
	return wait
}

// send sends rows, halves of them where one of several is refused for good, until each is delivered, buried or
// pending again. again is why some are pending. The halving is bounded by the number of rows.
func (x *passage[P]) send(scope *sched.Scope, rows []Row) (again, err error) {
	for todo := [][]Row{rows}; len(todo) > 0; {
		part := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		verdict, why := x.remote.opts.Send(scope, x.delivery.Rows, x.delivery.IDs, x.original(part))
		switch {
		case verdict == Accepted:
			x.each(part, x.payload.Deliver)
		case verdict == Again:
			again = why
			x.each(part, x.payload.Reject)
			for _, rest := range todo {
				x.each(rest, x.payload.Reject)
			}
			return again, nil
		case len(part) > 1:
			todo = append(todo, part[len(part)/2:], part[:len(part)/2])
		default:
			if err := x.bury(part[0], why); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

func (x *passage[P]) each(rows []Row, f func(Row) bool) {
	for _, row := range rows {
		f(row) // nobody else answers for these rows
	}
}

// original returns the rows as the delivery numbers them.
func (x *passage[P]) original(rows []Row) []int32 {
	out := make([]int32, len(rows))
	for i, row := range rows {
		out[i] = x.selected[row.Index]
	}
	return out
}

func (x *passage[P]) bury(row Row, why error) error {
	if x.remote.opts.Bury == nil {
		return fmt.Errorf("%w: %w", ErrNever, why)
	}
	if err := x.remote.opts.Bury(x.delivery.Rows, int(x.selected[row.Index]), why); err != nil {
		return fmt.Errorf("bury a row: %w; after: %w", err, why)
	}
	x.payload.Bury(row)
	return nil
}
