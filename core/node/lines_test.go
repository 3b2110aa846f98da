package node

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/source"
)

const tail = `
name: tail
schemas: {item: {id: string, n: int64}}
sources:
  in: {file: {path: in.ndjson, dead_letter: bad.ndjson}, decode: {schema: item}, to: {relay: items}}
relays: {items: {schema: item}, unique: {schema: item}}
processors: {dedupe: {from: items, deduplicate: {on: row.id, keep: 1h}, to: unique}}
sinks:
  out: {from: unique, file: {path: out.ndjson}}
`

// A file source goes on behind its committed position after a restart, and each malformed line is in the dead-letter file once.
// Rows are acknowledged before their position is committed, so they may come again after a stop: the deduplicator knows them.
func TestFileSourceKeepsItsPosition(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.ndjson")
	write := func(text string) {
		f, err := os.OpenFile(in, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString(text)
		if err := joined(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"a","n":1}` + "\nnothing\n" + `{"id":"b","n":2}` + "\n")
	r := run(t, packageOf(t, tail), dir)
	r.eventually("two rows and a dead letter", func() bool {
		return len(r.file("out.ndjson")) == 2 && len(r.file("bad.ndjson")) == 1
	})
	r.stop()
	write(`{"id":"c","n":3}` + "\n" + `{"id":"d"}` + "\n")
	r = run(t, packageOf(t, tail), dir)
	r.eventually("three rows and two dead letters", func() bool {
		return len(r.file("out.ndjson")) == 3 && len(r.file("bad.ndjson")) == 2
	})
	bad := r.file("bad.ndjson")
	for i, want := range []string{`"line":2`, `"line":5`} {
		if !strings.Contains(bad[i], want) || !strings.Contains(bad[i], `"reason":"`) {
			t.Errorf("dead letter %d is %s", i, bad[i])
		}
	}
	if got := r.metric(`millrace_records_rejected_total{place="source in",reason="missing_field"}`); got != "1" {
		t.Errorf("rejected %q", got)
	}
	r.stop()
	r = run(t, packageOf(t, tail), dir)
	if got := r.file("out.ndjson"); len(got) != 3 || !strings.Contains(got[2], `"c"`) {
		t.Errorf("after a restart without new lines: %q", got)
	}
}

// unmarked is a stream that keeps no position.
type unmarked struct{ io.ReadCloser }

func (unmarked) Mark(int64) ([]byte, error) { return nil, nil }
func (unmarked) Size() (int64, error)       { return 0, nil }

// A stream is held back while the disk is below its mark, and read on when there is room.
func TestStreamWaitsForRoom(t *testing.T) {
	var free atomic.Uint64
	r := run(t, ordersPackage(t), t.TempDir(), func(o *Options) { o.diskFree = func(*Node) (uint64, error) { return free.Load(), nil } })
	inner := strings.NewReader("line\n")
	open := r.gated(func(int64) (source.Stream, error) { return unmarked{io.NopCloser(inner)}, nil })
	stream, err := open(0)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		text, err := io.ReadAll(stream)
		if err != nil {
			text = []byte(err.Error())
		}
		read <- string(text)
	}()
	free.Store(1 << 40)
	r.watchDisk()
	if got := <-read; got != "line\n" {
		t.Errorf("read %q", got)
	}
	free.Store(0)
	r.watchDisk()
	r.intake.Cancel(io.ErrClosedPipe)
	inner.Reset("more\n")
	if n, err := stream.Read(make([]byte, 8)); err == nil || n != 0 {
		t.Errorf("read %d bytes on a full disk: %v", n, err)
	}
}
