package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
