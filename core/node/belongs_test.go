package node

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/sink"
)

// Data belongs to the package that made it. A new version of it has its name; another package is refused, before anything is touched,
// unless it is to take the data over.
func TestDataOfAnotherPackageIsRefused(t *testing.T) {
	dir, _ := inputs(t, itemA)
	r := run(t, packageOf(t, tail), dir)
	r.eventually("the end", func() bool { return r.state("ended") })
	r.stop()
	other := packageOf(t, strings.Replace(tail, "name: tail", "name: head", 1))
	_, err := Start(Options{Package: other, Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, ErrOtherPackage) || !strings.Contains(err.Error(), "belongs to package tail, not to head") {
		t.Fatalf("a start with another package: %v", err)
	}
	version := packageOf(t, tail+"# another version\n")
	run(t, version, dir).stop()
	run(t, other, dir, func(o *Options) { o.TakeOver = true }).stop()
	run(t, other, dir).stop()
	if _, err := Start(Options{Package: version, Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrOtherPackage) {
		t.Fatalf("a start with the package before: %v", err)
	}
}

// An output that was taken away is refused at the start, until somebody says that it was meant; what was acknowledged since stays guarded.
func TestOutputThatWasTakenAway(t *testing.T) {
	dir, write := inputs(t, itemA)
	r := run(t, packageOf(t, tail), dir)
	r.eventually("the end", func() bool { return r.state("ended") })
	out := filepath.Join(dir, "out.ndjson")
	if err := os.Rename(out, out+".1"); err != nil {
		t.Fatal(err)
	}
	r.stop()
	start := func(accept ...string) error {
		n, err := Start(Options{Package: packageOf(t, tail), Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), AcceptShort: accept})
		if err == nil {
			err = n.Stop()
		}
		return err
	}
	if err := start(); !errors.Is(err, sink.ErrShort) {
		t.Fatalf("a start without its output: %v", err)
	}
	if err := start("none.ndjson"); err == nil || !strings.Contains(err.Error(), "writes no file none.ndjson; it writes out.ndjson, bad.ndjson") {
		t.Fatalf("a file that the package does not have: %v", err)
	}
	if err := start("out.ndjson"); err != nil {
		t.Fatal(err)
	}
	write(itemA + itemB)
	r = run(t, packageOf(t, tail), dir)
	r.eventually("another row", func() bool { return len(r.file("out.ndjson")) == 1 })
	if got := r.file("out.ndjson"); !strings.Contains(got[0], `"b"`) {
		t.Errorf("the new file has %q", got)
	}
}
