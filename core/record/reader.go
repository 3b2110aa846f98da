package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Line is one line of a stream.
type Line struct {
	// Number is the 1-based line number.
	Number int
	// Start and End are the offsets of the line's first byte and of the byte after its line end.
	Start, End int64
	// Text is the line without its line end, good until the next call of Next. When the line is
	// over the limit it is only the beginning.
	Text []byte
	// Terminated says that a line end was seen. Only the last line can lack it, and then a writer
	// may still be adding to it.
	Terminated bool
}

// Blank reports that the line has only white space and so is no record.
func (l Line) Blank() bool { return blank(l.Text) }

// LineReader cuts a stream into lines and never holds more than one line of the limit in memory.
type LineReader struct {
	reader  *bufio.Reader
	maxText int
	number  int
	offset  int64
}

// NewLineReader returns a reader of r that begins at line 1 and offset 0. maxLineBytes is the
// longest line in the range of Options.MaxLineBytes, 0 for its default.
func NewLineReader(r io.Reader, maxLineBytes int) (*LineReader, error) {
	options := Options{MaxLineBytes: maxLineBytes}
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("create line reader: %w", err)
	}
	limit := options.withDefaults().MaxLineBytes
	return &LineReader{reader: bufio.NewReaderSize(r, limit+1), maxText: limit}, nil
}

// Next returns the next line, and a rejection when the line is over the limit, in which case the
// rest of it has been passed over. The error is io.EOF at the end or the stream's own error.
func (l *LineReader) Next() (Line, *Rejection, error) {
	line := Line{Number: l.number + 1, Start: l.offset}
	text, err := l.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.tooLong(line, text)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
		return Line{}, nil, wrapStream(line.Number, err)
	}
	line.Terminated = err == nil
	l.number, l.offset = line.Number, l.offset+int64(len(text))
	line.End = l.offset
	line.Text = text
	if line.Terminated {
		line.Text = text[:len(text)-1]
	}
	return line, nil, nil
}

// tooLong passes over the rest of a line; what it keeps is copied because reading on reuses the
// buffer. The loop ends with the line or the stream.
func (l *LineReader) tooLong(line Line, head []byte) (Line, *Rejection, error) {
	line.Text = append([]byte(nil), head[:l.maxText]...)
	length := int64(len(head))
	for {
		more, err := l.reader.ReadSlice('\n')
		length += int64(len(more))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return Line{}, nil, wrapStream(line.Number, err)
		}
		line.Terminated = err == nil
		break
	}
	l.number, l.offset = line.Number, l.offset+length
	line.End = l.offset
	if line.Terminated {
		length--
	}
	return line, &Rejection{
		Line: line.Number, Reason: TooLong,
		Detail: fmt.Sprintf("%d bytes, the limit is %d", length, l.maxText),
	}, nil
}

func wrapStream(number int, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("read line %d: %w", number, err)
}
