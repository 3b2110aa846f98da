// Command ceiling is the single-purpose program that the node is measured beside: HTTP → filter → deduplicate → file, with the
// same promise (a body is answered when its rows are synced) and nothing else. No package, no flows, no store: its keys are in
// memory and are read back from the file at start.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
)

type order struct {
	ID       string `json:"order_id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"`
	PlacedAt string `json:"placed_at"`
}

// ledger appends rows; waiting bodies share one write and one sync.
type ledger struct {
	mu      sync.Mutex
	seen    map[string]struct{}
	file    *os.File
	pending []byte
	waiting []chan error
	wake    chan struct{}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ceiling:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: ceiling ADDRESS FILE")
	}
	l, err := open(args[1])
	if err != nil {
		return err
	}
	go l.writer()
	http.HandleFunc("POST /orders", l.serve)
	http.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprintf(w, "go_memstats_mallocs_total %d\n", m.Mallocs)
	})
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	return http.Serve(listener, nil)
}

func open(path string) (*ledger, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &ledger{file: file, seen: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	for s := bufio.NewScanner(file); s.Scan(); {
		var o order
		if json.Unmarshal(s.Bytes(), &o) == nil {
			l.seen[o.ID] = struct{}{}
		}
	}
	return l, nil
}

func (l *ledger) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	accepted, rejected, duplicates := 0, 0, 0
	done := make(chan error, 1)
	l.mu.Lock()
	for line := range bytes.Lines(body) {
		var o order
		if json.Unmarshal(line, &o) != nil || o.ID == "" {
			rejected++
			continue
		}
		if _, known := l.seen[o.ID]; known {
			duplicates++
			continue
		}
		l.seen[o.ID] = struct{}{}
		accepted++
		if o.Amount < 1000 {
			l.pending = append(l.pending, bytes.TrimRight(line, "\n")...)
			l.pending = append(l.pending, '\n')
		}
	}
	l.waiting = append(l.waiting, done)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	if err := <-done; err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintf(w, `{"accepted":%d,"duplicates":%d,"rejected":%d}`, accepted, duplicates, rejected)
}

func (l *ledger) writer() {
	for range l.wake {
		l.mu.Lock()
		data, waiting := l.pending, l.waiting
		l.pending, l.waiting = nil, nil
		l.mu.Unlock()
		_, err := l.file.Write(data)
		if err == nil && len(data) > 0 {
			err = l.file.Sync()
		}
		for _, done := range waiting {
			done <- err
		}
	}
}
