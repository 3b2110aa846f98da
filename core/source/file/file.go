// Package file is the edge of package source to files and standard input.
package file

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/millrace-dev/millrace/core/source"
)

// stream is a file, known by a hash of what is at its beginning and what is right before an offset. Neither its name nor its number
// counts: a copy that was put back is the same stream, and an editor that writes a longer one under the same name may have continued it.
type stream struct{ *os.File }

// markWindow is how much is hashed at the beginning, and before the offset: all of what was read when that is at most twice as much.
const markWindow = 64 << 10

// Mark implements source.Stream.
func (f stream) Mark(offset int64) ([]byte, error) {
	h := sha256.New()
	head := min(offset, markWindow)
	tail := max(head, offset-markWindow)
	for _, part := range [...][2]int64{{0, head}, {tail, offset}} {
		size := part[1] - part[0]
		n, err := io.Copy(h, io.NewSectionReader(f.File, part[0], size))
		if err != nil {
			return nil, fmt.Errorf("read again what was read: %w", err)
		}
		if n < size {
			return nil, fmt.Errorf("%w: it has not even %d bytes", source.ErrReplaced, offset)
		}
	}
	return h.Sum(nil), nil
}

// Size implements source.Stream.
func (f stream) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("read size: %w", err)
	}
	return info.Size(), nil
}

// errIrregular refuses what cannot be read again from an offset. To open a pipe would also wait for a writer, whatever the node does.
var errIrregular = errors.New("it is no regular file: what a pipe says is for a source of standard input")

// Open returns a function that opens the file at path from an offset, for source.LinesOptions.
func Open(path string) func(offset int64) (source.Stream, error) {
	return func(offset int64) (source.Stream, error) {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("open %s: %w", path, errIrregular)
		}
		if err != nil {
			return nil, fmt.Errorf("open source file: %w", err)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("open source file: %w", err)
		}
		size, err := f.Seek(0, io.SeekEnd)
		if err == nil && size < offset {
			err = fmt.Errorf("%w: it has %d bytes, and %d were read before", source.ErrReplaced, size, offset)
		}
		if err == nil {
			_, err = f.Seek(offset, io.SeekStart)
		}
		if err != nil {
			return nil, fmt.Errorf("open source file %s: %w", path, closed(f, err))
		}
		return stream{f}, nil
	}
}

func closed(f *os.File, err error) error {
	if closeErr := f.Close(); closeErr != nil {
		return fmt.Errorf("%w; %w", err, closeErr)
	}
	return err
}

// Stdin returns standard input. It is opened again where the system allows that, because only then does closing it
// end a read that waits. It keeps no position, so nobody asks for its marks.
func Stdin(int64) (source.Stream, error) {
	f, err := os.Open("/dev/stdin")
	if err != nil {
		return stream{os.Stdin}, nil //nolint:nilerr // the fallback is the answer
	}
	return stream{f}, nil
}
