package file_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

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
	if _, err := open(9); err == nil {
		t.Fatal("a file that was cut was opened")
	}
	if _, err := file.Open(path + ".absent")(0); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("absent: %v", err)
	}
}

func TestStdinCanBeClosed(t *testing.T) {
	f, err := file.Stdin(0)
	if err != nil {
		t.Fatal(err)
	}
	if f == io.ReadCloser(os.Stdin) {
		return // the system has no other way to open it; closing it would take it from the test binary
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
