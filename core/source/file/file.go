// Package file is the edge of package source to files and standard input.
package file

import (
	"fmt"
	"io"
	"os"
)

// Open returns a function that opens the file at path from an offset, for source.LinesOptions.
func Open(path string) func(offset int64) (io.ReadCloser, error) {
	return func(offset int64) (io.ReadCloser, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("open source file: %w", err)
		}
		size, err := f.Seek(0, io.SeekEnd)
		if err == nil && size < offset {
			err = fmt.Errorf("%d bytes, but %d were read before: it was cut or replaced", size, offset)
		}
		if err == nil {
			_, err = f.Seek(offset, io.SeekStart)
		}
		if err != nil {
			return nil, fmt.Errorf("open source file %s: %w", path, closed(f, err))
		}
		return f, nil
	}
}

func closed(f *os.File, err error) error {
	if closeErr := f.Close(); closeErr != nil {
		return fmt.Errorf("%w; %w", err, closeErr)
	}
	return err
}

// Stdin returns standard input. It is opened again where the system allows that, because only then does closing it
// end a read that waits.
func Stdin(int64) (io.ReadCloser, error) {
	f, err := os.Open("/dev/stdin")
	if err != nil {
		return os.Stdin, nil //nolint:nilerr // the fallback is the answer
	}
	return f, nil
}
