package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Effect is a record that the flow emitted.
type Effect struct {
	Key     string `json:"key"`
	ID      string `json:"id"`
	Number  int    `json:"number"`
	Version int    `json:"version"`
}

// hook is the peer of the replicas' HTTP sinks.
type hook struct {
	listener net.Listener
	server   *http.Server
	served   chan error

	mu     sync.Mutex // guards the rest
	bodies map[string]string
	posts  int
	faults []string
}

func newHook() (*hook, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start web hook: %w", err)
	}
	h := &hook{listener: l, served: make(chan error, 1), bodies: map[string]string{}}
	h.server = &http.Server{Handler: http.HandlerFunc(h.take)}
	go func() { h.served <- h.server.Serve(l) }()
	return h, nil
}

func (h *hook) url() string { return "http://" + h.listener.Addr().String() + "/" }

func (h *hook) close() error {
	err := h.server.Close()
	if served := <-h.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// take keeps a body by its Idempotency-Key. Of one key every body must be the same: whoever deduplicates by it keeps one of them.
func (h *hook) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the replica died in the middle
	}
	key := r.Header.Get("Idempotency-Key")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts++
	if was, again := h.bodies[key]; again && was != string(body) {
		h.faults = append(h.faults, fmt.Sprintf("web hook: two bodies under the key %s: %s and %s", key, was, body))
	}
	h.bodies[key] = string(body)
	w.WriteHeader(http.StatusNoContent)
}

// effects are what arrived, once for each Idempotency-Key, and how many posts brought it.
func (h *hook) effects() (effects []Effect, posts int, faults []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, body := range h.bodies {
		var some []Effect
		if some, err = readEffects([]byte(body)); err != nil {
			return nil, 0, nil, err
		}
		effects = append(effects, some...)
	}
	return effects, h.posts, h.faults, nil
}

// readEffects reads lines of JSON.
func readEffects(text []byte) (effects []Effect, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var e Effect
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("read effect %q: %w", lines.Text(), err)
		}
		effects = append(effects, e)
	}
	return effects, lines.Err()
}
