package orders

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestGenerateRepeatsItself(t *testing.T) {
	a, b := Generate(3, 2000, 250), Generate(3, 2000, 250)
	if !reflect.DeepEqual(a, b) {
		t.Error("one seed, two inputs")
	}
	if reflect.DeepEqual(a.Unique, Generate(4, 2000, 250).Unique) {
		t.Error("two seeds, one input")
	}
	lines := 0
	for _, body := range a.Bodies {
		lines += len(body)
		if len(body) > 250 || strings.Count(Text(body), "\n") != len(body) {
			t.Errorf("body of %d lines", len(body))
		}
	}
	if lines != 2000 || len(a.Unique)+a.Copies+a.Bad != 2000 {
		t.Errorf("%d lines, %d different, %d copies, %d bad", lines, len(a.Unique), a.Copies, a.Bad)
	}
}

// stub is a node that fails every first attempt and drops some answers.
type stub struct {
	mu    sync.Mutex
	tried map[string]int
	large map[string]bool // decisions that arrived
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get("Idempotency-Key")
	s.tried[id]++
	if s.tried[id] == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.URL.Path == "/decisions" {
		var d struct {
			ID string `json:"order_id"`
		}
		if json.Unmarshal(body, &d) == nil {
			s.large[d.ID] = true
		}
		return
	}
	n := strings.Count(string(body), "\n")
	_ = json.NewEncoder(w).Encode(Answer{Accepted: n}) // a test's server
}

func TestClientSendsAgainAndLogsBeforeItBelieves(t *testing.T) {
	s := &stub{tried: map[string]int{}, large: map[string]bool{}}
	server := httptest.NewServer(s)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "client.log")
	log, err := NewLog(path)
	if err != nil {
		t.Fatal(err)
	}
	in := Generate(5, 400, 50)
	c := &Client{Base: server.URL, Input: in, Log: log, Workers: 3}
	c.Answered = func(n int) {
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), "\n") < n {
			t.Errorf("%d bodies answered, but the log does not have them: %v", n, err)
		}
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := ReadLog(path)
	if err != nil || len(entries) != len(in.Bodies) || c.Lines.Load() != 400 || c.Retries.Load() < int64(len(in.Bodies)) {
		t.Errorf("%d entries, %d lines, %d retries, %v", len(entries), c.Lines.Load(), c.Retries.Load(), err)
	}
}

func TestClientWithoutProgressEnds(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer server.Close()
	log, err := NewLog(filepath.Join(t.TempDir(), "client.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // nothing was written
	c := &Client{Base: server.URL, Input: Generate(1, 100, 10), Log: log, Workers: 2, Answered: func(int) {}, Stall: 50 * time.Millisecond}
	if err := c.Run(t.Context()); !errors.Is(err, ErrStalled) {
		t.Errorf("got %v", err)
	}
}

func TestClientEndsWithItsContext(t *testing.T) {
	log, err := NewLog(filepath.Join(t.TempDir(), "client.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // nothing was written
	cause := errors.New("node ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	c := &Client{Base: "http://127.0.0.1:1", Input: Generate(1, 100, 10), Log: log, Workers: 2, Answered: func(int) {}}
	if err := c.Run(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestNodeThatDoesNotStartSaysWhereItsLogIs(t *testing.T) {
	address, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{Binary: "false", Package: "p", Data: t.TempDir(), Address: address}
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "node.log") {
		t.Errorf("got %v", err)
	}
	<-n.Gone()
	if n.Status() <= 0 {
		t.Errorf("status %d", n.Status())
	}
	if err := n.Kill(); err != nil {
		t.Errorf("kill what has ended: %v", err)
	}
}
