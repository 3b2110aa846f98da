package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pipeline carries small statements that never wait for a lock: reads, and claims that are taken. Whatever waits when a
// connection is free goes in one round trip and one transaction, so under load a statement costs its execution and little else.
//
// Invariants: a call is answered once, and only after the transaction it travelled in has ended. A call that the server
// refuses fails alone: the others of its transaction are sent again, each by itself, which is safe because the refusal
// rolled all of them back. Each row of a shared statement goes to the call whose number it carries. What locks rows goes last in its transaction: nothing waits for a lock behind it, so no commit that
// waits for those rows can be waited for.
type pipeline struct {
	pool    *pgxpool.Pool
	timeout time.Duration
	calls   chan *call
	workers sync.WaitGroup
}

// call is one question. Shared ones travel in one statement.
type call struct {
	sql    string
	args   []any
	writes bool
	locks  bool               // it locks rows that commits write
	shared bool               // its statement answers many such calls, see statement
	each   func(values) error // for each row, in the task of who calls
	rows   []values           // set before done is closed, like err
	err    error
	done   chan struct{}
}

// maxBatch bounds the calls of one round trip.
const maxBatch = 128

// newPipeline starts workers, each with at most one round trip under way.
func newPipeline(pool *pgxpool.Pool, workers int, timeout time.Duration) *pipeline {
	p := &pipeline{pool: pool, timeout: timeout, calls: make(chan *call)}
	for range workers {
		p.workers.Go(p.run)
	}
	return p
}

// close ends the workers. No call is under way any more.
func (p *pipeline) close() {
	close(p.calls)
	p.workers.Wait()
}

// do runs a call. Once it was handed over it is waited for: the timeout bounds it.
func (p *pipeline) do(ended <-chan struct{}, c *call) (handed bool) {
	c.done = make(chan struct{})
	select {
	case p.calls <- c:
	case <-ended:
		return false
	}
	<-c.done
	return true
}

func (p *pipeline) run() {
	for c := range p.calls {
		batch := []*call{c}
		for more := true; more && len(batch) < maxBatch; {
			select {
			case c, ok := <-p.calls:
				if more = ok; ok {
					batch = append(batch, c)
				}
			default:
				more = false
			}
		}
		p.answer(batch)
	}
}

func (p *pipeline) answer(batch []*call) {
	err := p.send(batch)
	if err != nil && len(batch) > 1 && definite(err) {
		for _, c := range batch {
			c.rows = nil
			p.answer([]*call{c})
		}
		return
	}
	for _, c := range batch {
		c.err = outcome(err, c.writes)
		close(c.done)
	}
}

// send is one round trip. Its error is that of the first call that failed, or of the connection.
func (p *pipeline) send(batch []*call) error {
	ctx, stop := context.WithTimeout(context.Background(), p.timeout)
	defer stop()
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return unsent{err}
	}
	defer conn.Release()
	slices.SortStableFunc(batch, func(a, b *call) int { return order(a) - order(b) })
	statements := share(batch)
	b := &pgx.Batch{}
	for _, st := range statements {
		b.Queue(st[0].sql, st.args()...)
	}
	results := conn.SendBatch(ctx, b)
	for _, st := range statements {
		if err = st.read(results); err != nil {
			break
		}
	}
	// Closing reads the rest of the answers, the end of the transaction among them.
	if ended := results.Close(); err == nil {
		err = ended
	}
	return err
}

// order is a call's place in its transaction.
func order(c *call) int {
	if c.locks {
		return 1
	}
	return 0
}

// unsent is an error from before anything was sent.
type unsent struct{ error }

// SafeToRetry tells package pgconn so.
func (unsent) SafeToRetry() bool { return true }

// Unwrap returns the reason.
func (u unsent) Unwrap() error { return u.error }
