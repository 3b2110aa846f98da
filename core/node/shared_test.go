package node

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// sharing makes a node a replica on the database.
func sharing(url string) func(*Options) {
	return func(o *Options) { o.Shared = Shared{URL: url, ClaimTimeout: 3 * time.Second} }
}

// database starts a private server for one test.
func database(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

const held = `
name: held
schemas:
  order: {order_id: string, customer: string, amount: int64, placed_at: timestamp}
  decision: {order_id: string, approved: bool}
relays: {approved: {schema: order}}
sinks: {approved: {from: approved, file: {path: approved.ndjson}}}
channels:
  start: {http: {path: /start}, schema: order, flow: approve, ack: on-complete}
  decisions: {http: {path: /decisions}, schema: decision, correlate: message.order_id}
emits: {approved: {relay: approved}}
flows: [approve.bpmn]
`

// Two nodes on one database are one engine: what one of them started the other one knows, resumes, lists and answers; a delivery
// takes effect once, wherever it comes; an emission reaches the file of one of them; and when one stops, the other goes on.
func TestTwoNodesOnOneDatabase(t *testing.T) {
	server := database(t)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	load := func() *rig {
		return run(t, packageOf(t, held, "approve.bpmn", flowText(t)), t.TempDir(), sharing(server.URL()))
	}
	a, b := load(), load()
	answered := a.sent("/start", "s1", order("big", "5000"))
	b.eventually("the instance that the other node started", func() bool { return b.count("running") == 1 })
	again := b.sent("/start", "s1", order("big", "5000"))
	b.json("/decisions", "d1", `{"order_id":"big","approved":true}`).want(t, http.StatusOK, "accepted")
	a.json("/decisions", "d1", `{"order_id":"big","approved":true}`).want(t, http.StatusOK, `"duplicate":true`)
	(<-answered).want(t, http.StatusOK, "completed")
	(<-again).want(t, http.StatusOK, "completed")
	a.eventually("the emission", func() bool { return a.count("emissions") == 0 })
	if n := len(a.file("approved.ndjson")) + len(b.file("approved.ndjson")); n != 1 {
		t.Errorf("one emission is in the files of both nodes %d times", n)
	}
	for _, r := range []*rig{a, b} {
		r.get("/api/instances?status=completed").want(t, http.StatusOK, `"status":"completed"`)
		if n := r.count("started"); n != 1 {
			t.Errorf("%d instances", n)
		}
	}

	a.stop()
	second := b.sent("/start", "s2", order("next", "5000"))
	b.eventually("the second instance", func() bool { return b.count("running") == 1 })
	b.json("/decisions", "d2", `{"order_id":"next","approved":true}`).want(t, http.StatusOK, "accepted")
	(<-second).want(t, http.StatusOK, "completed")
	b.eventually("the emission of the second", func() bool { return b.count("emissions") == 0 })
}

const filed = `
name: filed
schemas:
  order: {order_id: string, customer: string, amount: int64, placed_at: timestamp}
  decision: {order_id: string, approved: bool}
sources: {in: {file: {path: in.ndjson, dead_letter: bad.ndjson}, decode: {schema: order}, to: {relay: orders}}}
relays: {orders: {schema: order}, approved: {schema: order}}
sinks: {approved: {from: approved, file: {path: approved.ndjson}}}
channels:
  start: {from: {relay: orders}, flow: approve, ack: on-persist}
  decisions: {http: {path: /decisions}, schema: decision, correlate: message.order_id}
emits: {approved: {relay: approved}}
flows: [approve.bpmn]
`

// Replicas read files of their own under one source's name: the first line of each is a message of its own, and none counts as sent again.
func TestReplicasReadFilesOfTheirOwn(t *testing.T) {
	server := database(t)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	load := func(id string) *rig {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "in.ndjson"), []byte(order(id, "5000")), 0o644); err != nil {
			t.Fatal(err)
		}
		return run(t, packageOf(t, filed, "approve.bpmn", flowText(t)), dir, sharing(server.URL()))
	}
	a := load("first")
	a.eventually("the instance of its own line", func() bool { return a.count("running") == 1 })
	b := load("second")
	b.eventually("an instance for each line", func() bool { return b.count("running") == 2 })
}

// journalOf is a log that any task may write to while the test reads it.
type journalOf struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journalOf) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journalOf) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// lines counts those that contain a text.
func (j *journalOf) lines(with string) (n int) {
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}

// The database goes away under a running node: it is not ready and says why, requests are answered "send again", it stops in a
// bounded time, and nowhere does the password show.
func TestLostDatabase(t *testing.T) {
	const secret = "grue5ome"
	server := database(t)
	log := &journalOf{}
	r := run(t, packageOf(t, parked, "approve.bpmn", flowText(t)), t.TempDir(), sharing(server.URL()+" password="+secret), func(o *Options) {
		o.silence = 300 * time.Millisecond
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	r.get("/readyz").want(t, http.StatusOK)
	r.json("/start", "s1", order("big", "5000")).want(t, http.StatusOK, "accepted")
	heard := r.heard.Load()
	r.eventually("that it is heard again", func() bool { return r.heard.Load() > heard })
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	r.eventually("that it is not ready", func() bool { return r.get("/readyz").status == http.StatusServiceUnavailable })
	said := r.get("/readyz").want(t, http.StatusServiceUnavailable, "shared store has not answered").text
	refused := r.json("/start", "s2", order("big", "5000")).want(t, http.StatusServiceUnavailable, "unanswered")
	r.get("/livez").want(t, http.StatusOK)
	r.stop()
	for what, text := range map[string]string{"the probe": said, "the answer": refused.text, "the log": log.String()} { //order:each is judged alone
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the password: %s", what, text)
		}
	}
}

// A database that cannot be reached or is not named rightly refuses the start, without its password.
func TestBadDatabase(t *testing.T) {
	const secret = "grue5ome"
	pkg := packageOf(t, parked, "approve.bpmn", flowText(t))
	_, err := Start(Options{
		Package: pkg, Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Shared: Shared{URL: "postgres://millrace:" + secret + "@127.0.0.1:1/none"},
	})
	if !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), secret) {
		t.Errorf("a server that is not there: %v", err)
	}
	for _, url := range []string{
		"postgres://millrace:" + secret + "@127.0.0.1:no/none", "postgres://millrace:" + secret + "@%zz/none", "password=" + secret + " port=x",
		"postgres://millrace:a:" + secret + "@@127.0.0.1:5432:1/none",
	} {
		err := Options{Package: pkg, Data: "data", Shared: Shared{URL: url}}.Validate()
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "postgres://user@host") {
			t.Errorf("%s: %v", url, err)
		}
	}
	err = Options{Package: pkg, Data: "data", Shared: Shared{Schema: "s"}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "without a database") {
		t.Errorf("a schema of no database: %v", err)
	}
	err = Options{Package: pkg, Data: "data", Replica: strings.Repeat("x", 101), Shared: Shared{URL: "host=a", ClaimTimeout: 1}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "claim timeout") || !strings.Contains(err.Error(), "replica") {
		t.Errorf("out of range: %v", err)
	}
}
