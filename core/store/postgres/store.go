package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Store implements [store.Store] in one schema of a database. Several may be open on one schema, in one process or many.
//
// Invariants: R1 a transaction is one statement, so no lock of the server is ever held while a client thinks. R2 an operation
// holds one connection at a time and waits for none while it holds one, so any number of connections suffices. R3 what a read
// returned with ticket 0 is durable. Mutants S2.*
type Store struct {
	options Options
	types   *argTypes
	commits *pgxpool.Pool // synchronous
	quick   *pgxpool.Pool // not: reads, and claims that are taken
	pipe    *pipeline
	hints   *hints

	closing sync.RWMutex // held for reading by operations, for writing by Close
	closed  bool
}

var (
	_ store.Store  = (*Store)(nil)
	_ store.Hinter = (*Store)(nil)
)

// The tickets: a claim that was taken may be lost with the server, everything else was flushed before anybody saw it.
const (
	durable  store.Ticket = 0
	unsynced store.Ticket = 1
)

// recordKeep is how long records are kept that nobody forgot, because their owner is gone. It is longer than any process is
// suspended and then goes on to decide a step.
const recordKeep = "24 hours"

// Open connects, brings the schema to this program's version, and returns the store. Claims that it finds are left alone: they
// may be other replicas'. step.ErrFormat: a later version wrote the schema.
func Open(scope *sched.Scope, options Options) (*Store, error) {
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("open shared store: %w", err)
	}
	s := &Store{options: options.withDefaults()}
	ctx, stop := context.WithTimeout(contextOf(scope), s.options.Timeout)
	defer stop()
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open shared store in schema %s: %w: %w", s.options.Schema, store.ErrUnavailable, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	var err error
	if s.types, err = migrate(ctx, s.options); err != nil {
		return err
	}
	readers := max(1, s.options.Connections/8)
	commits, err := s.options.pool(s.options.Connections - readers)
	if err != nil {
		return err
	}
	quick, err := s.options.pool(readers)
	if err != nil {
		return err
	}
	commits.AfterConnect = s.types.register
	quick.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	if s.commits, err = pgxpool.NewWithConfig(context.Background(), commits); err != nil {
		return err
	}
	if s.quick, err = pgxpool.NewWithConfig(context.Background(), quick); err != nil {
		return err
	}
	s.pipe = newPipeline(s.quick, readers, s.answer())
	s.startHints(rand.Text())
	_, err = s.commits.Exec(ctx, "delete from records where made < now() - interval '"+recordKeep+"'")
	return err
}

// answer bounds the wait for an answer: the server gives up first, so that most of what takes too long has a known outcome.
func (s *Store) answer() time.Duration { return s.options.Timeout + s.options.Timeout/5 }

func contextOf(scope *sched.Scope) context.Context {
	if scope == nil {
		return context.Background()
	}
	return scope.Context()
}

// enter begins an operation; leave ends it.
func (s *Store) enter(scope *sched.Scope) error {
	if err := scope.Err(); err != nil {
		return err
	}
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return store.ErrClosed
	}
	return nil
}

func (s *Store) leave() { s.closing.RUnlock() }

// read runs a statement through the pipeline and calls each for every row.
func (s *Store) read(scope *sched.Scope, sql string, each func(values) error, args ...any) error {
	return s.call(scope, &call{sql: sql, each: each, args: args})
}

func (s *Store) call(scope *sched.Scope, c *call) error {
	if err := s.enter(scope); err != nil {
		return err
	}
	defer s.leave()
	var ended <-chan struct{}
	if scope != nil {
		ended = scope.Context().Done()
	}
	if !s.pipe.do(ended, c) {
		return scope.Err()
	}
	if c.err != nil {
		return c.err
	}
	for _, r := range c.rows {
		if err := c.each(r); err != nil {
			return outcome(err, c.writes)
		}
	}
	return nil
}

// write runs a statement as a transaction of its own, which is durable when it returns. It returns how many rows it
// touched. Once sent it is waited for, whatever becomes of scope.
func (s *Store) write(scope *sched.Scope, sql string, args ...any) (int64, error) {
	if err := s.enter(scope); err != nil {
		return 0, err
	}
	defer s.leave()
	ctx, stop := context.WithTimeout(context.Background(), s.answer())
	defer stop()
	conn, err := s.acquire(ctx, scope)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	tag, err := conn.Exec(ctx, sql, args...)
	return tag.RowsAffected(), outcome(err, true)
}

// acquire waits for a connection, at most until scope ends.
func (s *Store) acquire(ctx context.Context, scope *sched.Scope) (*pgxpool.Conn, error) {
	if scope != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(scope.Context(), stop)()
	}
	conn, err := s.commits.Acquire(ctx)
	if err == nil {
		return conn, nil
	}
	if ended := scope.Err(); ended != nil {
		return nil, ended
	}
	return nil, outcome(unsent{err}, true)
}

// Incarnate implements [store.Store].
func (s *Store) Incarnate(scope *sched.Scope) (uint64, error) {
	n, err := s.incarnate(scope)
	if err != nil {
		return 0, fmt.Errorf("incarnate: %w", err)
	}
	return n, nil
}

// incarnate asks a connection that flushes: the number must not come back after a crash of the server.
func (s *Store) incarnate(scope *sched.Scope) (uint64, error) {
	if err := s.enter(scope); err != nil {
		return 0, err
	}
	defer s.leave()
	ctx, stop := context.WithTimeout(context.Background(), s.answer())
	defer stop()
	conn, err := s.acquire(ctx, scope)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	var n int64
	// A number that was drawn and whose answer is lost is never used, so the outcome is not unknown.
	err = outcome(conn.QueryRow(ctx, "select nextval('incarnations')").Scan(&n), false)
	return uint64(n), err
}

// WaitDurable implements [store.Store].
func (s *Store) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	if t == durable {
		if err := s.enter(scope); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		s.leave()
		return nil
	}
	// A message in the log is flushed with everything before it.
	if _, err := s.write(scope, "select pg_logical_emit_message(true, 'millrace', '')"); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// Visible implements [store.Store].
func (s *Store) Visible() store.Ticket { return unsynced }

// Close implements [store.Store]. It waits for operations under way.
func (s *Store) Close() error {
	if s.hints != nil {
		s.hints.close() // before the lock: telling is an operation, too
	}
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.pipe != nil {
		s.pipe.close()
	}
	for _, p := range []*pgxpool.Pool{s.commits, s.quick} {
		if p != nil {
			p.Close()
		}
	}
	return nil
}

// number keeps a counter within what the database holds. What lies above is nothing that a row ever says, and above
// all rows in an order.
func number(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// name turns text of any bytes into what the database keeps.
func name[T ~string](text T) []byte { return []byte(text) }

// raw never returns nil, which would be a null.
func raw(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// bytes returns nil for no bytes: the store does not tell an empty value from none.
func bytes(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// nanoseconds keeps a moment; 0 is none.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
