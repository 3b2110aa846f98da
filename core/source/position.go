package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
)

// Stream is what a [Lines] reads, from an offset on.
type Stream interface {
	io.ReadCloser
	// Mark returns what the bytes before an offset are known by. The same bytes always give the same mark; others give another one, or an
	// error that wraps ErrReplaced when there are fewer. It reads them anew. It and Size are called only for streams that keep their position.
	Mark(offset int64) ([]byte, error)
	// Size is how many bytes there are now.
	Size() (int64, error)
}

// PositionSpace is the space of source positions, by source name.
const PositionSpace = "source/position"

// ErrReplaced means that a stream does not begin with the bytes that were read of it: it was cut, replaced or rewritten. Where to go on
// in it is not for the source to guess: from its position on lines would be lost, from its start on they might be repeated.
var ErrReplaced = errors.New("source: what was read before is not there any more")

// Position is how far a stream was read.
type Position struct {
	Offset int64 // bytes that were read
	Line   int64 // lines in them
	// Reading counts how often somebody has said that the source begins anew. Rows of different readings have different ids: line 1 of
	// another file is another row.
	Reading uint64
	// mark is what the bytes before the offset are known by; empty when nobody knows.
	mark []byte
}

// The lengths of a position as the store keeps it. Positions of a version that kept no mark have the shorter one.
const (
	unmarkedBytes = 16
	markedBytes   = 24
)

// ReadPosition returns the committed position of a source, when that is known to be durable. A source that has read nothing is at its start.
func ReadPosition(scope *sched.Scope, st sink.Store, name string) (Position, error) {
	row, ticket, err := st.Row(scope, PositionSpace, name)
	if errors.Is(err, store.ErrNotFound) {
		return Position{}, nil
	}
	if err == nil {
		err = st.WaitDurable(scope, ticket)
	}
	var p Position
	if err == nil {
		p, err = readPosition(row.Value)
	}
	if err != nil {
		return Position{}, fmt.Errorf("read position of source %s: %w", name, err)
	}
	return p, nil
}

func readPosition(value []byte) (p Position, err error) {
	if len(value) != unmarkedBytes && len(value) < markedBytes {
		return p, fmt.Errorf("a value of %d bytes", len(value))
	}
	p.Offset, p.Line = int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint64(value[8:]))
	if len(value) >= markedBytes {
		p.Reading, p.mark = binary.BigEndian.Uint64(value[16:]), bytes.Clone(value[markedBytes:])
	}
	return p, nil
}

func (p Position) row(name string) store.Row {
	value := binary.BigEndian.AppendUint64(make([]byte, 0, markedBytes+len(p.mark)), uint64(p.Offset))
	value = binary.BigEndian.AppendUint64(value, uint64(p.Line))
	value = binary.BigEndian.AppendUint64(value, p.Reading)
	return store.Row{Space: PositionSpace, Key: name, Value: append(value, p.mark...)}
}

// ids is what the ids of rows of this reading begin with. No name of a source has the sign.
func (p Position) ids(prefix string) string {
	if p.Reading == 0 {
		return prefix
	}
	return fmt.Sprintf("%s~%d", prefix, p.Reading)
}

// BeginAnew forgets how far a source has read, durably: its next run reads its stream from the start, and the rows are new ones. The
// source must not run.
func BeginAnew(scope *sched.Scope, st sink.Store, name string) error {
	p, err := ReadPosition(scope, st, name)
	if err == nil {
		_, err = st.Write(scope, []store.Row{Position{Reading: p.Reading + 1}.row(name)})
	}
	if err != nil {
		return fmt.Errorf("begin source %s anew: %w", name, err)
	}
	return nil
}

// sight is what a stream was seen to hold: the bytes before an offset are known by a mark.
type sight struct {
	offset int64
	mark   []byte
}

// look notes what the stream holds before anything is read of it, and whether that begins with what was read before.
func (l *Lines) look() error {
	if !l.opts.Keep {
		return nil
	}
	size, err := l.stream.Size()
	if err != nil {
		return err
	}
	if l.seen, err = l.sight(size); err != nil || len(l.start.mark) == 0 {
		return err
	}
	return l.still(sight{l.start.Offset, l.start.mark})
}

// mark notes what the bytes before the next position are known by. They are what was read, unless the stream has changed since it was seen
// last: then what came of it is not to be delivered.
func (l *Lines) mark() error {
	if !l.opts.Keep {
		return nil
	}
	next, err := l.sight(l.next.Offset)
	if err == nil {
		err = l.unchanged()
	}
	if err != nil {
		return err
	}
	if l.next.mark = next.mark; next.offset > l.seen.offset {
		l.seen = next
	}
	return nil
}

// unchanged reports ErrReplaced when the stream does not hold any more what was seen of it.
func (l *Lines) unchanged() error {
	if !l.opts.Keep {
		return nil
	}
	return l.still(l.seen)
}

func (l *Lines) still(x sight) error {
	now, err := l.sight(x.offset)
	if err == nil && !bytes.Equal(now.mark, x.mark) {
		err = fmt.Errorf("%w: %d bytes are others", ErrReplaced, x.offset)
	}
	return err
}

func (l *Lines) sight(offset int64) (x sight, err error) {
	x.offset = offset
	l.s.External("mark stream", func() { x.mark, err = l.stream.Mark(offset) })
	return x, err
}
