package sink

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// commit makes the group durable: data written → files synced → one synced commit. An error that does not wrap
// ErrFenced says that nothing of the group happened.
func (p *Point) commit(scope *sched.Scope, group []*Unit) error {
	p.failpoint(PointBeforeWrite)
	rows := p.assemble(group)
	if err := p.write(); err != nil {
		p.emit("WriteFails")
		return p.undo(err)
	}
	p.emit("Write")
	p.failpoint(PointAfterWrite)
	if err := p.sync(); err != nil {
		p.emit("SyncFails")
		return fmt.Errorf("%w: %w", ErrFenced, err)
	}
	p.emit("Sync")
	p.failpoint(PointAfterSync)
	if err := p.record(scope, rows); err != nil {
		return err
	}
	p.failpoint(PointAfterCommit)
	p.advance()
	return nil
}

func (p *Point) failpoint(name string) {
	if p.opts.Failpoint != nil {
		p.opts.Failpoint(name)
	}
}

// assemble gathers the data of the group by file and returns its rows, those of the new lengths included.
func (p *Point) assemble(group []*Unit) []store.Row {
	for i := range p.files {
		p.files[i].buffer = p.files[i].buffer[:0]
	}
	var rows []store.Row
	for _, u := range group {
		rows = append(rows, u.rows...)
		u.pieces(func(x *piece) {
			f := &p.files[x.file]
			f.buffer = append(f.buffer, x.data...)
		})
	}
	for i := range p.files {
		if f := &p.files[i]; len(f.buffer) > 0 {
			rows = append(rows, f.row(f.committed+int64(len(f.buffer))))
		}
	}
	return rows
}

// write appends the buffers behind the committed lengths. A file that has become shorter than its own is left as it is.
func (p *Point) write() error {
	for i := range p.files {
		f := &p.files[i]
		if len(f.buffer) == 0 {
			continue
		}
		var err error
		p.s.External("write file", func() {
			if err = f.whole(); err == nil {
				_, err = f.file.WriteAt(f.buffer, f.committed)
			}
		})
		if err != nil {
			return fmt.Errorf("write sink file %s: %w", f.name, err)
		}
	}
	return nil
}

// whole reports ErrShort when somebody has cut the file: what was acknowledged is not there any more.
func (f *pointFile) whole() error {
	size, err := f.file.Size()
	if err == nil && size < f.committed {
		err = fmt.Errorf("%d bytes of %d: %w", size, f.committed, ErrShort)
	}
	return err
}

// present reports ErrGone when somebody has taken the file away: what is written to it nobody finds.
func (f *pointFile) present() error {
	there, err := f.file.Present()
	if err == nil && !there {
		err = fmt.Errorf("%w: %d bytes of it were acknowledged", ErrGone, f.committed)
	}
	return err
}

// sync makes the data durable, in files that can be found. After an error the system may have dropped it and report success the next time, so
// there is no second attempt.
func (p *Point) sync() error {
	for i := range p.files {
		f := &p.files[i]
		if len(f.buffer) == 0 {
			continue
		}
		var err error
		p.s.External("sync file", func() {
			if err = f.file.Sync(); err == nil {
				err = f.present()
			}
		})
		if err != nil {
			return fmt.Errorf("sync sink file %s: %w", f.name, err)
		}
	}
	return nil
}

// record is the one commit. A refusal that is definite is undone; anything else fences.
func (p *Point) record(scope *sched.Scope, rows []store.Row) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := p.store.Write(scope, rows)
	switch {
	case err == nil:
		p.emit("Recorded")
		return nil
	case store.Definite(err) && !errors.Is(err, store.ErrHalted):
		p.emit("Refused")
		return p.undo(fmt.Errorf("commit unit: %w", err))
	default:
		p.emit("Unknown")
		return fmt.Errorf("%w: commit unit: %w", ErrFenced, err)
	}
}

// undo cuts back what the group wrote and returns cause. When that fails too the file holds what nobody acknowledged,
// which only a restart removes.
func (p *Point) undo(cause error) error {
	if errors.Is(cause, ErrShort) { // cutting the file to its length would fill it with zeros
		p.emit("CutFails")
		return fmt.Errorf("%w: %w", ErrFenced, cause)
	}
	for i := range p.files {
		f := &p.files[i]
		if len(f.buffer) == 0 {
			continue
		}
		if err := p.cut(f); err != nil {
			p.emit("CutFails")
			return fmt.Errorf("%w: %w; after: %w", ErrFenced, err, cause)
		}
	}
	p.emit("CutBack")
	return cause
}

// advance is the end of a group that is durable.
func (p *Point) advance() {
	for i := range p.files {
		f := &p.files[i]
		f.committed += int64(len(f.buffer))
	}
}

// Close lets Run settle what is queued and return. Any task may call it, also twice.
func (p *Point) Close() { p.queue.Close() }

// Fenced waits until the point is fenced and returns why, or returns the cause of scope's end: how a node learns
// that it must stop.
func (p *Point) Fenced(scope *sched.Scope) error {
	err, ended := p.fenced.Wait(scope)
	if ended != nil {
		return ended
	}
	return err
}

// File returns the number by which sinks stage data for the named file.
func (p *Point) File(name string) (int, bool) {
	for i := range p.opts.Files {
		if p.opts.Files[i] == name {
			return i, true
		}
	}
	return 0, false
}

// closeFiles ends the point's hold of its files. Everything that counts is synced, so an error changes nothing that
// was acknowledged.
func (p *Point) closeFiles() {
	p.s.External("close files", func() {
		for i := range p.files {
			if f := p.files[i].file; f != nil {
				_ = f.Close() // see above
			}
		}
	})
}
