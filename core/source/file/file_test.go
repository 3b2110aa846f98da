package file_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/core/source/file"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestOpenAtAnOffset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.ndjson")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := file.Open(path)
	f, err := open(4)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil || string(text) != "two\n" {
		t.Fatalf("%q, %v", text, err)
	}
	if _, err := open(9); !errors.Is(err, source.ErrReplaced) {
		t.Fatalf("a file that was cut was opened: %v", err)
	}
	if _, err := file.Open(path + ".absent")(0); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("absent: %v", err)
	}
}

// A pipe is refused before it is opened: that would wait for a writer, and a node that stops would wait for it.
func TestPipeIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, filepath.Dir(path)} {
		if f, err := file.Open(path)(0); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
}

func TestStdinCanBeClosed(t *testing.T) {
	f, err := file.Stdin(0)
	if err != nil {
		t.Fatal(err)
	}
	if f == file.Standard() {
		return // the system has no other way to open it; closing it would take it from the test binary
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file is known by what it holds: a copy is the same, and a change of anything in the first or the last 64 KiB that were read is noticed.
func TestMarkIsTheContent(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 20<<10) // 320 KiB
	mark := func(text []byte, offset int64) (string, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "in.ndjson")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := file.Open(path)(0)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Mark(offset)
		if closed := f.Close(); closed != nil {
			t.Fatal(closed)
		}
		return string(m), err
	}
	for _, offset := range []int64{0, 1, 64 << 10, 100 << 10, 128 << 10, 300 << 10} {
		want, err := mark(text, offset)
		if err != nil {
			t.Fatal(err)
		}
		if longer, err := mark(append(bytes.Clone(text), "more"...), offset); longer != want || err != nil {
			t.Errorf("offset %d: what was added behind it counts: %v", offset, err)
		}
		for _, at := range []int64{0, offset / 2, 64<<10 - 1, offset - 64<<10, offset - 1} {
			if at < 0 || at >= offset {
				continue
			}
			changed := bytes.Clone(text)
			changed[at] ^= 1
			seen := at < 64<<10 || at >= offset-64<<10
			if other, err := mark(changed, offset); err != nil || seen != (other != want) {
				t.Errorf("offset %d: a change at %d is noticed: %v, want %v (%v)", offset, at, other != want, seen, err)
			}
		}
		if _, err := mark(text[:max(0, offset-1)], offset); offset > 0 && !errors.Is(err, source.ErrReplaced) {
			t.Errorf("offset %d: a shorter file: %v", offset, err)
		}
	}
}
