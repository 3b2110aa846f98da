package sink

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
)

var (
	// ErrFenced is relay.ErrFenced: the point writes and acknowledges nothing more.
	ErrFenced = relay.ErrFenced
	// ErrStopped means that the point was closed before the unit reached it. Nothing of it happened.
	ErrStopped = errors.New("sink: commit point stopped")
	// ErrShort means that a file holds less than was committed: it was cut or replaced from outside.
	ErrShort = errors.New("sink: file is shorter than its committed length")
	// ErrGone means that a file was removed or replaced while the point had it open. The point is fenced by it.
	ErrGone = errors.New("sink: file was removed or replaced from outside")
)

// Store is the part of a store that a commit point needs. Every store.Store has it.
type Store interface {
	Write(scope *sched.Scope, rows []store.Row) (store.Ticket, error)
	Row(scope *sched.Scope, space, key string) (store.Row, store.Ticket, error)
	WaitDurable(scope *sched.Scope, t store.Ticket) error
}

// LengthSpace is the space of committed file lengths, by file name.
const LengthSpace = "sink/length"

// The bounds of a group: what one sync and one commit cover.
const (
	MaxFiles      = 64
	maxGroupUnits = 256
	maxGroupBytes = 8 << 20
)

// The points at which the crash command stops the process. PointBeforeWrite is after the units were taken.
const (
	PointBeforeWrite = "sink/before-write"
	PointAfterWrite  = "sink/after-write"
	PointAfterSync   = "sink/after-sync"
	PointAfterCommit = "sink/after-commit"
	PointAfterSettle = "sink/after-settle"
)

// Options of a commit point.
type Options struct {
	// Files are the names of the files that sinks append to, at most MaxFiles, each at most store.MaxName bytes.
	Files []string
	// Failpoint, if not nil, is called at the points above.
	Failpoint func(point string)
	// Short is asked about a file that is shorter than its committed length, before anything is written: true goes on at its end, false
	// or nil is ErrShort.
	Short func(name string, size, committed int64) bool
}

// Validate reports every fault of the options.
func (o Options) Validate() error {
	var faults []error
	if len(o.Files) > MaxFiles {
		faults = append(faults, fmt.Errorf("%d files, at most %d", len(o.Files), MaxFiles))
	}
	seen := map[string]bool{}
	for _, name := range o.Files {
		if err := store.ValidateName("file", name); err != nil {
			faults = append(faults, err)
		}
		if seen[name] {
			faults = append(faults, fmt.Errorf("file %s is given twice", name))
		}
		seen[name] = true
	}
	return errors.Join(faults...)
}

// Point is the commit point that files and deduplicators share. One task runs it. It owns the files and what of
// them is committed, and it alone decides when a unit is durable:
//
//	units ──▶ data written ──▶ files synced ──▶ one synced commit of {rows, file lengths} ──▶ units settled
//	                │ error          │ error              │ definite error     │ unknown
//	                ▼                ▼                    ▼                    ▼
//	        cut back, refused     fenced          cut back, refused          fenced
//
// At start every file is cut to its committed length, so what a crash left behind it is gone before its rows are
// sent again; a shorter one is refused, or adopted as it is when Options.Short says so. A file that turns out shorter later fences. Units that wait together share one sync and one commit.
//
// Invariants (of its checks, which see them from outside)
//
//	I4  an acknowledged row is in the durable file, within the committed length, exactly once.
//	I5  a unit that was refused left nothing in a file and no row in the store; its rows may be sent again.
//	I6  a fenced point settles nothing positively any more.
//	I7  every unit is settled once, every delivery of a file sink is ended once, and rows are released after their last use.
//	I8  nothing that is for a file is acknowledged after somebody has removed, replaced or cut the file: the point is fenced.
//
//	Orders        data written → files synced → commit durable → units settled.
//	Waits         the point's task for units, then for its files and the store, none of which waits for it.
//
// Spec tla/dedupe/Dedupe.tla, traced by E2 · Model models/ledger.go · Checks TestSimG6Crash*, TestSimG6Point*,
// TestSimG6FileSinks*, TestSimG6WhatIsTakenAway*, TestExhaustG6*, TestModelG6Point,
// TestModelG6Groups* · Mutants G6.acknowledge-before-commit, G6.skip-truncate, G6.skip-fsync,
// G6.commit-before-write, G6.adopt-after-write, G6.adopt-nothing, G6.unknown-is-failure, G6.keep-refused-data,
// G6.undo-first-file, G6.sync-first-file, G6.sync-error-undone, G6.open-not-cut, G6.lengths-not-advanced-on-empty-rows,
// G6.pieces-newest-first, G6.stage-load-store, G6.group-drops-last, G6.group-rows-bound, G6.gone-is-not-looked-for,
// G6.cut-is-not-looked-for, G6.looked-for-before-the-sync, G6.remote-halves-overlap, G6.file-scope-end-leaves-queue, G6.file-encode-error-keeps
type Point struct {
	s      sched.Scheduler
	store  Store
	fs     vfs.FS
	opts   Options
	queue  *relay.Queue[*Unit]
	fenced sched.WriteOnce[error]

	// The point's task only.
	files []pointFile
}

type pointFile struct {
	name      string
	file      vfs.File
	committed int64
	buffer    []byte // of the group
}

// NewPoint returns a point that has not opened its files. Options that do not validate are a programming fault.
func NewPoint(s sched.Scheduler, st Store, fs vfs.FS, opts Options) *Point {
	if err := opts.Validate(); err != nil {
		panic(fmt.Sprintf("sink: commit point: %v", err))
	}
	p := &Point{
		s: s, store: st, fs: fs, opts: opts,
		queue:  relay.NewQueue[*Unit](s, "commit point", 1),
		fenced: sched.NewWriteOnce[error](s, "commit point fenced"),
		files:  make([]pointFile, len(opts.Files)),
	}
	for i, name := range opts.Files {
		p.files[i].name = name
	}
	s.Own("G6", p, nil)
	return p
}

// Open opens the files and cuts each to its committed length. A file that the store does not know is adopted with
// what it holds: that is committed before anything is written to it. The error wraps ErrShort, or what the store or
// the file system said.
func (p *Point) Open(scope *sched.Scope) error {
	for i := range p.files {
		if err := p.open(scope, &p.files[i]); err != nil {
			return fmt.Errorf("open sink file %s: %w", p.files[i].name, err)
		}
	}
	p.emit("Open")
	return nil
}

func (p *Point) open(scope *sched.Scope, f *pointFile) error {
	committed, known, err := p.committed(scope, f.name)
	if err != nil {
		return err
	}
	var size int64
	p.s.External("open file", func() {
		if f.file, err = p.fs.Open(f.name); err == nil {
			size, err = f.file.Size()
		}
	})
	switch {
	case err != nil:
		return err
	case !known:
		return p.adopt(scope, f, size)
	case size < committed && p.opts.Short != nil && p.opts.Short(f.name, size, committed):
		return p.adopt(scope, f, size)
	case size < committed:
		return fmt.Errorf("%d bytes of %d: %w", size, committed, ErrShort)
	}
	f.committed = committed
	if size > committed {
		return p.cut(f)
	}
	return nil
}

// committed reads the committed length and waits until that is durable.
func (p *Point) committed(scope *sched.Scope, name string) (length int64, known bool, err error) {
	row, ticket, err := p.store.Row(scope, LengthSpace, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, false, fmt.Errorf("read committed length: %w", err)
	}
	known = err == nil
	if err := p.store.WaitDurable(scope, ticket); err != nil {
		return 0, false, fmt.Errorf("read committed length: %w", err)
	}
	if !known {
		return 0, false, nil
	}
	if len(row.Value) != 8 {
		return 0, false, fmt.Errorf("read committed length: a value of %d bytes", len(row.Value))
	}
	return int64(binary.BigEndian.Uint64(row.Value)), true, nil
}

func (p *Point) adopt(scope *sched.Scope, f *pointFile, size int64) error {
	f.committed = size
	if _, err := p.store.Write(scope, []store.Row{f.row(size)}); err != nil {
		return fmt.Errorf("adopt %d bytes: %w", size, err)
	}
	return nil
}

func (f *pointFile) row(length int64) store.Row {
	return store.Row{Space: LengthSpace, Key: f.name, Value: binary.BigEndian.AppendUint64(nil, uint64(length))}
}

// cut removes what is in the file behind its committed length.
func (p *Point) cut(f *pointFile) (err error) {
	p.s.External("truncate file", func() {
		if err = f.file.Truncate(f.committed); err == nil {
			err = f.file.Sync()
		}
	})
	if err != nil {
		return fmt.Errorf("cut to committed length %d: %w", f.committed, err)
	}
	return nil
}

// Run commits units until the point is closed and all are settled, or it is fenced, and closes the files. It
// returns nil, or the error that fenced it. The end of scope is a close too: what is queued then is refused.
func (p *Point) Run(scope *sched.Scope) error {
	defer p.closeFiles()
	for {
		first, err := p.queue.Receive(scope, nil)
		if err != nil {
			p.refuse()
			return nil
		}
		group := p.gather(first)
		err = p.commit(scope, group)
		if errors.Is(err, ErrFenced) {
			p.fenced.Set(err)
		}
		for _, u := range group {
			p.emit("Settled", u)
			u.settler.Settled(err)
		}
		if errors.Is(err, ErrFenced) {
			p.refuse()
			return err
		}
		p.failpoint(PointAfterSettle)
	}
}

// gather takes what waits behind first, within the bounds of a group.
func (p *Point) gather(first *Unit) []*Unit {
	group, rows, bytes := []*Unit{first}, len(first.rows), first.bytes()
	for len(group) < maxGroupUnits && rows <= MaxUnitRows && bytes < maxGroupBytes {
		u, ok := p.queue.Take()
		if !ok {
			break
		}
		group, rows, bytes = append(group, u), rows+len(u.rows), bytes+u.bytes()
	}
	p.emit("Take", group...)
	return group
}

// refuse settles everything that is queued, and makes Submit settle what comes later.
func (p *Point) refuse() {
	p.queue.Close()
	for {
		u, err := p.queue.Receive(nil, nil)
		if err != nil {
			return
		}
		p.late(u)
	}
}

// late settles a unit that came too late.
func (p *Point) late(u *Unit) {
	err := p.refusal()
	if p.s.Traced() {
		p.s.Emit(p, "Late", []Settler{u.settler}, errors.Is(err, ErrFenced))
	}
	u.settler.Settled(err)
}

// emit reports an action of the specification, with the units that it is about.
func (p *Point) emit(action string, units ...*Unit) {
	if !p.s.Traced() {
		return
	}
	settlers := make([]Settler, len(units))
	for i, u := range units {
		settlers[i] = u.settler
	}
	p.s.Emit(p, action, settlers)
}

func (p *Point) refusal() error {
	if err, fenced := p.fenced.Get(); fenced {
		return err
	}
	return ErrStopped
}
