package node

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err == nil || !strings.Contains(err.Error(), "open store") {
		t.Fatalf("a start without a store: %v, %v", n, err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if got := run(t, ordersPackage(t), dir, at).Address(); got != address {
		t.Errorf("the second start listens on %s, want %s", got, address)
	}
}
