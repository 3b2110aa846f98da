package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/node"
)

const fileSource = `name: tail
schemas: {item: {id: string}}
sources: {in: {file: {path: in.ndjson, dead_letter: bad.ndjson}, decode: {schema: item}, to: {relay: items}}}
relays: {items: {schema: item}}
sinks: {out: {from: items, file: {path: out.ndjson}}}
`

// An operator sees that a source has failed and why, puts its file there, and has it read.
func TestSourcesAreListedAndReread(t *testing.T) {
	dir := t.TempDir()
	pkg, faults := graph.Load(os.DirFS(folder(t, fileSource)))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	n, err := node.Start(node.Options{Package: pkg, Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	}()
	eventually := func(want string, args ...string) {
		t.Helper()
		last := ""
		for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(2 * time.Millisecond) {
			_, out, errs := call(t, append(args, "--node", n.Address())...)
			if last = out + errs; strings.Contains(last, want) {
				return
			}
		}
		t.Fatalf("%q never says %q but\n%s", args, want, last)
	}
	eventually("in                   file   failed   since", "sources")
	eventually("no such file", "sources")
	if err := os.WriteFile(filepath.Join(dir, "in.ndjson"), []byte("{\"id\":\"a\"}\n{\"id\":\"b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		status, out, errs := call(t, "reread", "--node", n.Address(), "in")
		if status == statusOK && out == "running\n" {
			break
		}
		if status != statusFailed || !strings.Contains(errs, "is being read") || time.Since(began) > 20*time.Second {
			t.Fatalf("status %d: %s%s", status, out, errs)
		}
	}
	eventually("2 lines, 22 bytes", "sources")
}
