package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
)

// limitVar is how many bytes a file of a child process may have.
const limitVar = "MILLRACE_TEST_FILE_BYTES"

// limitFiles bounds the files of this process; empty is no bound.
func limitFiles(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", limitVar, err)
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
}

// waiting parks one instance for each message, so that nothing grows but the store's log.
const waiting = `name: waiting
schemas:
  order: {order_id: string, customer: string, amount: int64, placed_at: timestamp}
  decision: {order_id: string, approved: bool}
relays: {approved: {schema: order}}
sinks: {approved: {from: approved, file: {path: approved.ndjson}}}
channels:
  start: {http: {path: /start}, schema: order, flow: approve}
  decisions: {http: {path: /decisions}, schema: decision, correlate: message.order_id}
emits: {approved: {relay: approved}}
flows: [approve.bpmn]
`

// start asks for the instance of an order, and returns the status; an error when nobody answers.
func start(n *orders.Node, id string) (status int, body string, err error) {
	order := fmt.Sprintf(`{"order_id":%q,"customer":"c","amount":5000,"placed_at":"2026-01-01T00:00:00Z"}`, id)
	req, err := http.NewRequest(http.MethodPost, "http://"+n.Address+"/start", strings.NewReader(order))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", id)
	resp, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), errors.Join(err, resp.Body.Close())
}

// The store's log cannot grow any more: its write fails with EFBIG. What is under way is not acknowledged, the process ends with the
// documented status, and the next one has everything that was acknowledged.
func TestFailedWriteOfTheLogEndsTheNodeAndARestartRecovers(t *testing.T) {
	pkg := folder(t, waiting)
	text, err := os.ReadFile(filepath.Join(ordersFolder, "approve.bpmn"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(pkg, "approve.bpmn"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(limitVar, "131072")
	n := child(t, pkg)
	const most = 10_000
	acknowledged := 0
	for ; acknowledged < most; acknowledged++ {
		if status, _, err := start(n, fmt.Sprint(acknowledged)); err != nil || status != http.StatusOK {
			break
		}
	}
	if acknowledged == 0 || acknowledged == most {
		t.Fatalf("%d messages were acknowledged", acknowledged)
	}
	select {
	case <-n.Gone():
	case <-time.After(20 * time.Second):
		t.Fatal("the node goes on")
	}
	if n.Status() != statusFenced {
		log, err := os.ReadFile(filepath.Join(n.Data, "node.log"))
		t.Fatalf("status %d: %s, %v", n.Status(), log, err)
	}
	t.Setenv(limitVar, "")
	if err := n.Kill(); err != nil { // it has ended: this closes its log
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range acknowledged {
		if status, body, err := start(n, fmt.Sprint(i)); err != nil || status != http.StatusOK || !strings.Contains(body, `"duplicate":true`) {
			t.Fatalf("message %d of %d that were acknowledged: status %d, %s, %v", i, acknowledged, status, body, err)
		}
	}
	if status, body, err := start(n, fmt.Sprint(acknowledged)); err != nil || status != http.StatusOK {
		t.Errorf("the message that was not acknowledged: status %d, %s, %v", status, body, err)
	}
}
