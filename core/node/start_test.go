package node

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/source/web"
)

// A start that fails behind the point where the port is taken gives the port back: the next one on the same port succeeds.
func TestFailedStartGivesThePortBack(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, dir := free.Addr().String(), t.TempDir()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	obstacle := filepath.Join(dir, "store") // a file where the store has its folder
	if err := os.WriteFile(obstacle, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(o *Options) { o.Listen = address }
	n, err := Start(Options{Package: ordersPackage(t), Data: dir, Listen: address, Log: slog.New(slog.DiscardHandler)})
	if err == nil || strings.Count(err.Error(), "open store") != 1 {
		t.Fatalf("a start without a store: %v, %v", n, err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if got := run(t, ordersPackage(t), dir, at).Address(); got != address {
		t.Errorf("the second start listens on %s, want %s", got, address)
	}
}

// A start on a port that somebody has does nothing at all: it must not leave a data folder behind that looks like a node's.
func TestStartOnATakenPortLeavesNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // it served nobody
	dir := filepath.Join(t.TempDir(), "data")
	n, err := Start(Options{Package: ordersPackage(t), Data: dir, Listen: taken.Addr().String(), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("a start on a taken port: %v, %v", n, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left its folder: %v", err)
	}
}

// What a sink cannot write rows to at an offset is a fault of the start, and not of the first row.
func TestSinkIntoAPipeDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "ledger.ndjson"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Start(Options{Package: ordersPackage(t), Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, vfs.ErrIrregular) || !strings.Contains(err.Error(), "ledger.ndjson") {
		t.Errorf("a start with a pipe for a sink: %v, %v", n, err)
	}
}

// An id that is there twice, or empty, is refused by sources and channels alike, before anything is done under one of them.
func TestAmbiguousDeliveryIDIsRefused(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	for path, body := range map[string]string{"/orders": order("a", "1"), "/decisions": `{"order_id":"a","approved":true}`} {
		for _, x := range []struct {
			keys []string
			want string
		}{{[]string{"k", "k"}, "given 2 times"}, {[]string{""}, "is empty"}} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Content-Type"], req.Header[web.KeyHeader] = []string{"application/json"}, x.keys
			resp, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), x.want) {
				t.Errorf("%s under %q: %d %s, %v", path, x.keys, resp.StatusCode, text, err)
			}
		}
	}
}
