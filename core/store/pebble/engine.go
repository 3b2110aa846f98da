package pebble

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// ErrLocked means that another process has the store open.
var ErrLocked = errors.New("store: directory is locked by another process")

// Engine is a step.Engine that keeps its rows in a directory.
//
//	Open ──▶ open ──Close──▶ closed
//	          └──log error──▶ halted (until the process exits)
//
// Invariants: P1 one transaction at a time is between its first read and its hand-over to the log. P2 positions rise in
// the order of the log. P3 a ticket covers every commit that its read could see: the position is counted before the
// commit becomes visible, and read after the view was taken. P4 after a halt no call succeeds. P5 in the
// section what is remembered of a row is what the database has. P6 a view shows of each commit what it wrote and what it holds, or
// neither; what is held ends with the process. P7 a key that a survey and the commits since it began did not meet is not in the
// database.
//
//	Orders         closing (shared) → section → the turn of what is held → the syncer's and the fence's own mutexes, under which nothing is
//	               called. A commit: position counted → rows followed → the library's hand-over → what it holds → the section is free
//	               → the syncer waits for the log. A view: snapshot and held rows in one turn → position read.
//	Linearization  Update at its hand-over, View at its turn, Glance in the section.
//	Waits          the section and the turn: for others' reads from memory and hand-overs, until scope or the engine ends. Update and
//	               WaitDurable: for a sync, until the engine halts; scope does not end the wait for one's own commit, because nobody
//	               could say what became of it. Close: for operations under way and for the syncer.
//	Hot path       An Update is one turn in the section, one allocation of a batch and one wait that a group of commits shares.
//
// Checks TestModelS1*, TestLinearS1* (P3: TestLinearS1TicketCoversWhatWasRead), TestHalt* (P4),
// TestModelS1RememberedRows (P5, P7), TestModelS1FailedSurvey* (P7), TestLinearS1ViewIsOfWholeCommits (P6) · Mutants S1.*
//
// Why one section and not a lock per key: the log is one sequence, so commits pass through one place anyway; a step
// touches keys that only its reads tell (aliases, indexes), which a lock per key would have to take in two
// phases; and one order is what makes a single position enough for durability. The section costs the reads of a
// step from memory, a few microseconds, and no sync. Reads by key are in it as well: they find what was read before, without a
// snapshot.
type Engine struct {
	db      *pebble.DB
	lock    *pebble.Lock
	options Options
	fence   *fence
	sync    *syncer
	section chan struct{} // holds one token while nobody is in the commit section
	rows    *rows         // guarded by section

	counted atomic.Uint64 // position of the newest commit, counted before it is visible

	background sync.WaitGroup
	ending     chan struct{} // closed for what goes on in the background

	closing sync.RWMutex // held for reading by operations, for writing by Close
	closed  bool

	amid func() // only in tests: called between a view's snapshot and its ticket
	torn func() // only in tests: called in a commit whose writes are visible, before what it holds is
}

var _ step.Engine = (*Engine)(nil)

// Open opens or creates the store in a directory, exclusively, frees every claim that it finds and removes the records
// of steps that nobody can be deciding any more. ErrLocked: another process has it; step.ErrFormat: another version
// wrote it. All that was found is durable when Open returns. scope bounds nothing but the result: the library cannot
// be interrupted.
func Open(scope *sched.Scope, options Options) (*step.Store, *Engine, error) {
	if err := options.Validate(); err != nil {
		return nil, nil, fmt.Errorf("open store: %w", err)
	}
	e, err := open(options.withDefaults())
	if err != nil {
		return nil, nil, fmt.Errorf("open store in %q: %w", options.Dir, err)
	}
	st, err := step.Reclaim(scope, e)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open store in %q: %w", options.Dir, err), e.Close())
	}
	return st, e, nil
}

func open(o Options) (*Engine, error) {
	e := &Engine{options: o, fence: newFence(o.OnHalt), section: make(chan struct{}, 1), ending: make(chan struct{})}
	if err := o.FS.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(o.Dir, o.FS)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	e.lock = lock
	if e.db, err = pebble.Open(o.Dir, e.library()); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	e.rows = newRows(e.db, e.options.RowBytes, e.options.FilterBytes)
	e.fence.armed.Store(true)
	e.sync = newSyncer(e.fence, func() { o.Failpoint(store.PointAfterSync) })
	e.section <- struct{}{}
	if err := e.openSurvey(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// library returns the options of the library.
func (e *Engine) library() *pebble.Options {
	o := &pebble.Options{
		FS:                 watched{FS: e.options.FS, f: e.fence},
		Lock:               e.lock,
		Logger:             e.fence,
		CacheSize:          e.options.CacheBytes,
		MemTableSize:       uint64(e.options.MemTableBytes),
		FormatMajorVersion: pebble.FormatNewest,
	}
	o.Levels[0].FilterPolicy = bloom.FilterPolicy(filterBits) // of the levels below too: most deliveries ask for what is not there
	o.EventListener = &pebble.EventListener{
		BackgroundError: e.fence.note,
		DataCorruption:  func(info pebble.DataCorruptionInfo) { e.fence.note(info.Details) },
	}
	return o
}

// filterBits is how many bits of a filter each key has: of a hundred keys that are not in a table one is looked for in it.
const filterBits = 10

// enter begins an operation; leave ends it.
func (e *Engine) enter(scope *sched.Scope) error {
	if err := scope.Err(); err != nil {
		return err
	}
	e.closing.RLock()
	err := e.refused()
	if err != nil {
		e.closing.RUnlock()
	}
	return err
}

func (e *Engine) leave() { e.closing.RUnlock() }

// refused reports why nothing is done any more. The caller holds closing.
func (e *Engine) refused() error {
	if e.closed {
		return store.ErrClosed
	}
	if halted, why := e.fence.isHalted(); halted {
		return fmt.Errorf("%w: %w", store.ErrHalted, why)
	}
	return nil
}

// View implements step.Engine.
func (e *Engine) View(scope *sched.Scope, name string, f func(step.View) error) (store.Ticket, error) {
	if err := e.enter(scope); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer e.leave()
	v, snapshot, err := e.look(scope)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if e.amid != nil {
		e.amid()
	}
	ticket := store.Ticket(e.counted.Load())
	err = f(v)
	return ticket, errors.Join(err, snapshot.Close())
}

// look takes a snapshot and the rows that are held beside it, as one.
func (e *Engine) look(scope *sched.Scope) (view, *pebble.Snapshot, error) {
	turn := e.rows.held.turn
	if err := e.take(scope, turn); err != nil {
		return view{}, nil, err
	}
	snapshot, held := e.db.NewSnapshot(), e.rows.held.within(nil, above)
	turn <- struct{}{}
	return view{snapshot, held}, snapshot, nil
}

// Glance implements step.Engine: f runs in the commit section, where the newest state is what it reads.
func (e *Engine) Glance(scope *sched.Scope, name string, f func(step.Reader) error) (store.Ticket, error) {
	if err := e.enter(scope); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer e.leave()
	if err := e.acquire(scope); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { e.section <- struct{}{} }()
	return store.Ticket(e.counted.Load()), f(e.rows)
}

// Update implements step.Engine.
func (e *Engine) Update(scope *sched.Scope, name string, durable bool, f func(step.Tx) error) (store.Ticket, error) {
	if err := e.enter(scope); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer e.leave()
	if err := e.acquire(scope); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	ticket, j, err := e.commit(durable, f)
	e.surveyAgain()
	e.section <- struct{}{}
	if err != nil || !durable {
		return ticket, err
	}
	if err := e.await(j); err != nil {
		return ticket, fmt.Errorf("%s: %w: %w", name, store.ErrUnknown, err)
	}
	return ticket, nil
}

// acquire enters the commit section. Nobody holds it for long, but for a goroutine that met a log error in it.
func (e *Engine) acquire(scope *sched.Scope) error {
	if err := e.take(scope, e.section); err != nil {
		return err
	}
	if err := e.refused(); err != nil {
		e.section <- struct{}{}
		return err
	}
	return nil
}

// take takes a token, unless the scope ends or the engine halts first.
func (e *Engine) take(scope *sched.Scope, token <-chan struct{}) error {
	select {
	case <-token:
		return nil
	default:
		return e.takeSlowly(scope, token)
	}
}

func (e *Engine) takeSlowly(scope *sched.Scope, token <-chan struct{}) error {
	var ended <-chan struct{}
	if scope != nil {
		ended = scope.Context().Done()
	}
	select {
	case <-token:
		return nil
	case <-e.fence.halted:
		return e.refused()
	case <-ended:
		return scope.Err()
	}
}

// commit runs f and hands its writes to the log. The caller holds the section. j is nil when nothing was written or
// nobody waits for it.
func (e *Engine) commit(durable bool, f func(step.Tx) error) (t store.Ticket, j *job, err error) {
	batch := e.db.NewBatch()
	tx := &transaction{rows: e.rows, batch: batch}
	if err := f(tx); err != nil {
		return store.Ticket(e.counted.Load()), nil, errors.Join(err, batch.Close())
	}
	if durable {
		e.options.Failpoint(store.PointBeforeApply)
	}
	return e.apply(batch, tx.held, durable)
}

// apply counts the position first: who sees the commit reads at least this position.
func (e *Engine) apply(batch *pebble.Batch, held []held, durable bool) (t store.Ticket, j *job, err error) {
	if batch.Empty() && durable { // what was read must be durable all the same
		_ = batch.LogData(nil, nil) // cannot fail: it appends to memory
	}
	if batch.Empty() && !durable {
		return store.Ticket(e.counted.Load()), nil, errors.Join(e.reveal(nil, held, false), batch.Close())
	}
	position := store.Ticket(e.counted.Add(1))
	if err = e.reveal(batch, held, durable); err != nil {
		e.fence.halt(err)
		return position, nil, fmt.Errorf("%w: %w: %w", store.ErrUnknown, store.ErrHalted, err)
	}
	if !durable {
		return position, nil, batch.Close()
	}
	e.options.Failpoint(store.PointAfterApply)
	return position, e.sync.add(position, batch), nil
}

// reveal makes a commit visible, what it writes and what it holds as one. batch is nil when it only holds.
func (e *Engine) reveal(batch *pebble.Batch, held []held, durable bool) (err error) {
	turn := e.rows.held.turn
	if err := e.take(nil, turn); err != nil {
		return err
	}
	defer func() { turn <- struct{}{} }()
	if batch != nil {
		if err := e.rows.follow(batch); err != nil {
			return err
		}
		if err := e.hand(batch, durable); err != nil {
			return err
		}
	}
	if e.torn != nil {
		e.torn()
	}
	e.rows.held.follow(held)
	return nil
}

// hand gives the batch to the library. It panics there when the log is broken: that is a halt, too.
func (e *Engine) hand(batch *pebble.Batch, durable bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("library panicked: %v", v)
		}
	}()
	if durable {
		return e.db.ApplyNoSyncWait(batch, pebble.Sync)
	}
	return e.db.Apply(batch, pebble.NoSync)
}

// await waits for the sync of a commit.
func (e *Engine) await(j *job) error {
	select {
	case <-j.done:
		return nil
	case <-e.fence.halted:
		return e.refused()
	}
}

// WaitDurable implements step.Engine. It joins a sync under way that covers t, or asks for one.
func (e *Engine) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	if err := e.enter(scope); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	defer e.leave()
	if e.sync.covers(t) {
		return nil
	}
	j := e.sync.covering(t)
	if j == nil {
		var err error
		if j, err = e.flush(scope); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	return e.await(j)
}

// flush commits nothing, durably: its sync begins after every commit so far.
func (e *Engine) flush(scope *sched.Scope) (*job, error) {
	if err := e.acquire(scope); err != nil {
		return nil, err
	}
	defer func() { e.section <- struct{}{} }()
	_, j, err := e.apply(e.db.NewBatch(), nil, true)
	return j, err
}

// Visible implements step.Engine.
func (e *Engine) Visible() store.Ticket { return store.Ticket(e.counted.Load()) }

// Now implements step.Engine.
func (e *Engine) Now() time.Time { return time.Now() }

// Halted returns nil, or why the engine halted.
func (e *Engine) Halted() error {
	_, why := e.fence.isHalted()
	return why
}

// BackgroundErrors returns how many flushes, compactions and clean-ups failed, and the last error. The library retries
// them; the log keeps what they were to write.
func (e *Engine) BackgroundErrors() (int64, error) {
	e.fence.mu.Lock()
	defer e.fence.mu.Unlock()
	return e.fence.background.Load(), e.fence.lastError
}

// Close waits for operations under way, syncs and ends the engine. A halted engine stays as it is, locked, until the
// process exits: goroutines of the library may still be in it.
func (e *Engine) Close() error {
	if halted, why := e.fence.isHalted(); halted {
		return fmt.Errorf("close store: %w: %w", store.ErrHalted, why)
	}
	e.closing.Lock()
	defer e.closing.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	close(e.ending)
	e.background.Wait()
	e.sync.close()
	return errors.Join(e.db.Close(), e.lock.Close())
}
