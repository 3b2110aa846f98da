package source

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/scan"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
)

// LinesOptions say what a stream of lines is and where it goes.
type LinesOptions struct {
	Name string
	// IDs is what the ids of rows begin with. Empty: the name. Streams of one name that are read at several places need others.
	IDs    string
	Schema *record.Schema
	Decode record.Options
	To     *relay.Relay[*record.Batch]
	// Open returns the stream from an offset. It is called once. Closing the stream ends a read that waits.
	Open func(offset int64) (Stream, error)
	// Keep says that the stream can be read from an offset again, so that its position is committed. The position of
	// standard input means nothing to the next process.
	Keep bool
	// Point commits positions together with the dead letters, for which DeadLetter is the number of its file.
	Point      *sink.Point
	DeadLetter int
	// Store is where the position is read from.
	Store sink.Store
	// Batch is the most records of one attempt, 1 to sink.MaxUnitRows. 0: 1024.
	Batch int
	// Backoff is the wait before an attempt that failed is repeated; it doubles up to 64 times itself. 0: 100 ms.
	Backoff time.Duration
	// Rejected is told of every malformed line. It may be nil.
	Rejected func(*record.Rejection)
}

const (
	defaultBatch   = 1024
	defaultBackoff = 100 * time.Millisecond
	backoffSteps   = 6 // doublings
)

// Lines reads a stream to its end. Its attempts follow each other: one batch is acknowledged, then its dead letters and the
// position behind it are committed in one step, then the next one is read. After a crash the stream goes on behind the last
// committed position, and rows have the ids that they had before; a stream that does not begin with what was read of it any more is
// ErrReplaced, until BeginAnew.
type Lines struct {
	s       sched.Scheduler
	opts    LinesOptions
	decoder *record.Decoder

	stream Stream
	seen   sight

	// The position of the batch that is gathered.
	start, next Position
	letters     []byte
	lines       []int32
}

// NewLines returns a source that has not begun.
func NewLines(s sched.Scheduler, opts LinesOptions) (*Lines, error) {
	if opts.Batch == 0 {
		opts.Batch = defaultBatch
	}
	if most := opts.Decode.MaxRecords; most > 0 {
		opts.Batch = min(opts.Batch, most)
	}
	if opts.Backoff == 0 {
		opts.Backoff = defaultBackoff
	}
	if opts.Batch < 1 || opts.Batch > sink.MaxUnitRows || opts.Backoff < 0 {
		return nil, fmt.Errorf("make source %s: batch %d, want 1 to %d; backoff %v, want none below 0",
			opts.Name, opts.Batch, sink.MaxUnitRows, opts.Backoff)
	}
	decoder, err := record.NewDecoder(opts.Schema, memory.DefaultAllocator, opts.Decode)
	if err != nil {
		return nil, fmt.Errorf("make source %s: %w", opts.Name, err)
	}
	return &Lines{s: s, opts: opts, decoder: decoder}, nil
}

// Run reads the stream to its end and returns nil, the cause of scope's end, or why it cannot go on: the stream's own error,
// when every line before it is delivered, ErrReplaced, when a batch that was gathered is dropped, or that of a fenced or stopped commit point. Malformed lines and attempts that fail do
// not end it.
func (l *Lines) Run(scope *sched.Scope) error {
	defer l.decoder.Release()
	err := l.run(scope)
	if err != nil {
		return fmt.Errorf("run source %s: %w", l.opts.Name, err)
	}
	return nil
}

func (l *Lines) run(scope *sched.Scope) (err error) {
	if l.start, err = l.resume(scope); err != nil {
		return err
	}
	l.next = l.start
	if l.stream, err = l.opts.Open(l.start.Offset); err != nil {
		return err
	}
	reading := scope.Child("read " + l.opts.Name)
	defer reading.Close()
	defer func() { err = errors.Join(err, l.stream.Close()) }() // which ends a read that waits
	reader, err := record.NewLineReader(l.stream, l.opts.Decode.MaxLineBytes)
	if err == nil {
		err = l.look()
	}
	if err != nil {
		return err
	}
	items := sched.NewChan[item](l.s, l.opts.Name+" lines", l.opts.Batch)
	l.s.Go(reading, "read "+l.opts.Name, func() { l.read(reading, reader, items) })
	base := l.start
	for ended := false; !ended && err == nil; {
		ended, err = l.gather(scope, items, base)
		err = errors.Join(l.deliver(scope), err) // what came before a stream failed may not come again
	}
	if err != nil {
		return err
	}
	return l.unchanged() // what is rewritten while it is read may end early
}

// item is a line with text of its own, or why there are no more.
type item struct {
	line      record.Line
	rejection *record.Rejection
	err       error
}

// read is a task of its own, so that a batch need not wait for lines that have not been written yet.
func (l *Lines) read(scope *sched.Scope, reader *record.LineReader, items *sched.Chan[item]) {
	for {
		var x item
		l.s.External("read line", func() { x.line, x.rejection, x.err = reader.Next() })
		x.line.Text = bytes.Clone(x.line.Text)
		if err := items.SendWithin(scope, x); err != nil || x.err != nil {
			return
		}
	}
}

// resume reads the committed position, and returns when it is known to be durable.
func (l *Lines) resume(scope *sched.Scope) (Position, error) {
	if !l.opts.Keep {
		return Position{}, nil
	}
	return ReadPosition(scope, l.opts.Store, l.opts.Name)
}

// gather waits for a line and takes what else is there, up to a batch. base is where the reader began. What it took before an
// error is to be delivered.
func (l *Lines) gather(scope *sched.Scope, items *sched.Chan[item], base Position) (ended bool, err error) {
	l.letters, l.lines = nil, l.lines[:0]
	l.start = l.next
	x, _, err := items.ReceiveWithin(scope)
	if err != nil {
		return false, err
	}
	for read, ready := 1, true; ready; read++ {
		if errors.Is(x.err, io.EOF) {
			return true, nil
		}
		if x.err != nil {
			return false, x.err
		}
		l.take(x, base)
		if read == l.opts.Batch {
			break
		}
		x, _, ready = items.TryReceive()
	}
	return false, nil
}

// take decodes one line. The last line of a stream counts also without its end.
func (l *Lines) take(x item, base Position) {
	number := base.Line + int64(x.line.Number)
	rejection := x.rejection
	if rejection == nil && !x.line.Blank() {
		if rejection = l.decoder.Append(x.line.Text, int(number)); rejection == nil {
			l.lines = append(l.lines, int32(number))
		}
	}
	if rejection != nil {
		rejection.Line = int(number)
		l.bury(rejection, base.Offset+x.line.Start, x.line.Text)
	}
	l.next = Position{Offset: base.Offset + x.line.End, Line: number, Reading: base.Reading}
}

// letter is a line of a dead-letter file.
type letter struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
	// Text is the line when it is UTF-8, else Bytes is. A line over the limit is cut.
	Text  string `json:"text,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// maxLetterText bounds how much of a malformed line is kept.
const maxLetterText = 64 << 10

func (l *Lines) bury(r *record.Rejection, offset int64, text []byte) {
	if l.opts.Rejected != nil {
		l.opts.Rejected(r)
	}
	x := letter{Source: l.opts.Name, Line: r.Line, Offset: offset, Reason: r.Reason.String(), Detail: r.Error()}
	if utf8.Valid(text) {
		x.Text = scan.Cut(string(text), maxLetterText)
	} else {
		x.Bytes = text[:min(len(text), maxLetterText)]
	}
	encoded, err := json.Marshal(x)
	if err != nil {
		panic("source: a dead letter cannot be encoded: " + err.Error()) // strings, numbers and bytes always can
	}
	l.letters = append(append(l.letters, encoded...), '\n')
}

// deliver publishes what was gathered until it is acknowledged, and then commits the position.
func (l *Lines) deliver(scope *sched.Scope) error {
	if l.next.Offset == l.start.Offset {
		return nil
	}
	rows := l.decoder.Flush()
	defer rows.Release()
	if err := l.mark(); err != nil {
		return err
	}
	b := relay.Batch[*record.Batch]{Rows: rows, IDs: relay.LineIDs(l.start.ids(cmp.Or(l.opts.IDs, l.opts.Name)), l.lines)}
	if rows.Rows() > 0 {
		if err := l.repeat(scope, func() error { return l.attempt(scope, b) }); err != nil {
			return err
		}
	}
	return l.repeat(scope, func() error { return l.commit(scope) })
}

// repeat calls f until it succeeds, with growing waits, and ends with scope or a fenced point.
func (l *Lines) repeat(scope *sched.Scope, f func() error) error {
	for failures := 0; ; failures++ {
		err := f()
		if err == nil || errors.Is(err, sink.ErrFenced) || errors.Is(err, sink.ErrStopped) {
			return err
		}
		if ended := scope.Err(); ended != nil {
			return ended
		}
		wait := l.opts.Backoff << min(failures, backoffSteps)
		if err := l.s.Sleep(scope, l.opts.Name+" backoff", wait); err != nil {
			return err
		}
	}
}

func (l *Lines) attempt(scope *sched.Scope, b relay.Batch[*record.Batch]) error {
	reply := ack.NewReply(l.s)
	publish(scope, l.opts.To, ack.New(l.s, reply), b)
	outcome, err := reply.Wait(scope)
	if err != nil {
		return err
	}
	return outcome.Err
}

// commit makes dead letters and position durable in one step: a malformed line is in the file once.
func (l *Lines) commit(scope *sched.Scope) error {
	if !l.opts.Keep && len(l.letters) == 0 {
		return nil
	}
	var rows []store.Row
	if l.opts.Keep {
		rows = []store.Row{l.next.row(l.opts.Name)}
	}
	done := unitReply{sched.NewWriteOnce[error](l.s, "position")}
	u := l.opts.Point.NewUnit(rows, &done)
	if len(l.letters) > 0 {
		u.Stage(l.opts.DeadLetter, l.letters)
	}
	u.Submit()
	err, ended := done.settled.Wait(scope)
	if ended != nil {
		return ended
	}
	return err
}

// unitReply is a settler that one task waits on.
type unitReply struct{ settled sched.WriteOnce[error] }

func (r *unitReply) Settled(err error) { r.settled.Set(err) }
