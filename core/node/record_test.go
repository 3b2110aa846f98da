package node

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/source/web"
)

func TestMalformedRecordIsRefusedAlone(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	a := r.lines("/orders", "b1", order("a", "1")+"{\"order_id\":\n"+order("b", `"much"`)+order("c", "2"))
	a.want(t, http.StatusMultiStatus, `"received":4`, `"accepted":2`, `"line":2`, `"reason":"syntax"`, `"line":3`, `"reason":"wrong_type"`, `"at":"/amount"`)
	if got := r.file("ledger.ndjson"); len(got) != 2 {
		t.Errorf("ledger has %q", got)
	}
	r.json("/orders", "", `{"order_id":7}`).want(t, http.StatusBadRequest, `"line":1`, `"reason":"wrong_type"`)
	r.do(http.MethodPost, "/orders", "text/csv", "", "a,b").want(t, http.StatusUnsupportedMediaType, "application/x-ndjson")
	r.lines("/orders", strings.Repeat("x", 300), order("d", "1")).want(t, http.StatusBadRequest)
	for series, want := range map[string]string{
		`millrace_records_rejected_total{place="source intake",reason="syntax"}`:     "1",
		`millrace_records_rejected_total{place="source intake",reason="wrong_type"}`: "2",
		`millrace_records_accepted_total{source="intake"}`:                           "2",
		`millrace_rows_staged_total{sink="ledger"}`:                                  "2",
	} {
		if got := r.metric(series); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	r.json("/orders", "", strings.TrimSpace(order("e", "5"))).want(t, http.StatusOK, `"accepted":1`)
}

func TestDuplicatesAreAcknowledgedOnceWritten(t *testing.T) {
	dir := t.TempDir()
	r := run(t, ordersPackage(t), dir)
	r.lines("/orders", "b1", order("a", "1")+order("a", "1")+order("b", "2")).want(t, http.StatusOK, `"accepted":2`, `"duplicates":1`)
	r.lines("/orders", "b1", order("a", "1")).want(t, http.StatusOK, `"accepted":0`, `"duplicates":1`)
	r.stop()
	r = run(t, ordersPackage(t), dir)
	r.lines("/orders", "b2", order("b", "2")+order("c", "3")).want(t, http.StatusOK, `"accepted":1`, `"duplicates":1`)
	if got := r.file("ledger.ndjson"); len(got) != 3 {
		t.Errorf("ledger has %q", got)
	}
}

const ratios = `
name: ratios
schemas:
  pair: {id: string, a: int64, b: int64}
  ratio: {id: string, value: int64}
sources:
  in: {http: {path: /pairs}, decode: {schema: pair}, to: {relay: pairs}}
relays:
  pairs: {schema: pair}
  ratios: {schema: ratio}
processors:
  divide: {from: pairs, where: row.a != 13, map: {value: row.a / row.b}, to: ratios}
sinks:
  out: {from: ratios, where: 100 / row.value > 0, file: {path: out/ratios.ndjson}}
`

// Rows that an expression cannot be evaluated for are dead letters, and the rest of their batch goes on.
func TestFailedExpressionIsADeadLetter(t *testing.T) {
	r := run(t, packageOf(t, ratios), t.TempDir())
	body := `{"id":"x","a":6,"b":3}` + "\n" + `{"id":"y","a":6,"b":0}` + "\n" + `{"id":"v","a":7,"b":0}` + "\n" + `{"id":"z","a":13,"b":1}` + "\n" + `{"id":"w","a":0,"b":2}` + "\n"
	r.lines("/pairs", "", body).want(t, http.StatusOK, `"accepted":5`)
	if got := r.file("out/ratios.ndjson"); len(got) != 1 || got[0] != `{"id":"x","value":2}` {
		t.Errorf("out has %q", got)
	}
	for place, want := range map[string][]string{"divide": {`{"id":"y","a":6,"b":0}`, `{"id":"v","a":7,"b":0}`}, "out": {`{"id":"w","value":0}`}} { //order:each is judged alone
		got := r.file("dead-letters/" + place + ".ndjson")
		if len(got) != len(want) {
			t.Fatalf("dead letters of %s: %q", place, got)
		}
		for i, row := range want {
			if !strings.Contains(got[i], `"row":`+row) || !strings.Contains(got[i], `"reason":"evaluation"`) {
				t.Errorf("dead letter of %s: %q", place, got[i])
			}
		}
		if n := r.metric(`millrace_records_rejected_total{place="` + place + `",reason="evaluation"}`); n != strconv.Itoa(len(want)) {
			t.Errorf("%s rejected %q", place, n)
		}
	}
}

// A dead letter that cannot be written ends the node, and its row is not acknowledged.
func TestUnwrittenDeadLetterFences(t *testing.T) {
	dir := t.TempDir()
	r := run(t, packageOf(t, ratios), dir)
	if err := os.MkdirAll(filepath.Join(dir, "dead-letters", "divide.ndjson"), 0o755); err != nil {
		t.Fatal(err)
	}
	if a := r.lines("/pairs", "", `{"id":"y","a":6,"b":0}`+"\n"); a.status < 500 {
		t.Errorf("status %d: %s", a.status, a.text)
	}
	fencedWait(t, r)
	r.get("/livez").want(t, http.StatusServiceUnavailable, "dead letters of divide")
}

func TestLowWaterMarkRefusesInput(t *testing.T) {
	var free atomic.Uint64
	free.Store(1 << 40)
	pkg := ordersPackage(t)
	r := run(t, pkg, t.TempDir(), func(o *Options) { o.diskFree = func(*Node) (uint64, error) { return free.Load(), nil } })
	r.get("/readyz").want(t, http.StatusOK, "ready")
	r.lines("/orders", "", order("a", "1")).want(t, http.StatusOK)
	free.Store(uint64(pkg.Node.LowWater) - 1)
	r.watchDisk()
	r.get("/readyz").want(t, http.StatusServiceUnavailable, "low-water mark")
	r.get("/livez").want(t, http.StatusOK)
	r.lines("/orders", "", order("b", "1")).want(t, http.StatusInsufficientStorage, "low-water mark")
	r.json("/decisions", "", `{"order_id":"a","approved":true}`).want(t, http.StatusInsufficientStorage)
	free.Store(uint64(pkg.Node.LowWater))
	r.watchDisk()
	r.get("/readyz").want(t, http.StatusOK)
	r.lines("/orders", "", order("b", "1")).want(t, http.StatusOK)
}

// A node that starts on a full disk refuses from its first request on.
func TestLowWaterMarkHoldsFromTheStart(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir(), func(o *Options) { o.diskFree = func(*Node) (uint64, error) { return 0, nil } })
	r.lines("/orders", "", order("a", "1")).want(t, http.StatusInsufficientStorage)
}

// peer is an HTTP service that answers as it is told.
type peer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	keys   []string
	answer func(n int, body string) int
}

func newPeer(t *testing.T, answer func(n int, body string) int) *peer {
	p := &peer{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bodies, p.keys = append(p.bodies, string(body)), append(p.keys, r.Header.Get(web.KeyHeader))
		w.WriteHeader(p.answer(len(p.bodies), string(body)))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *peer) got() (bodies, keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.bodies...), append([]string(nil), p.keys...)
}

func forwarding(t *testing.T, p *peer, change ...func(*Options)) *rig {
	return run(t, packageOf(t, `
name: forward
schemas: {item: {id: string, n: int64}}
sources:
  in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}
relays: {items: {schema: item}}
sinks:
  out: {from: items, where: row.n < 100, http: {url: "`+p.URL+`", retries: 3, timeout: 5s, backoff: 1ms}}
`), t.TempDir(), change...)
}

func TestHTTPSinkTriesAgainUnderTheSameKey(t *testing.T) {
	p := newPeer(t, func(n int, _ string) int {
		if n < 3 {
			return http.StatusServiceUnavailable
		}
		return http.StatusNoContent
	})
	r := forwarding(t, p)
	r.lines("/items", "", `{"id":"a","n":1}`+"\n"+`{"id":"b","n":100}`+"\n"+`{"id":"c","n":2}`+"\n").want(t, http.StatusOK, `"accepted":3`)
	bodies, keys := p.got()
	if len(bodies) != 3 || bodies[2] != "{\"id\":\"a\",\"n\":1}\n{\"id\":\"c\",\"n\":2}\n" || keys[0] != keys[2] || keys[0] == "" {
		t.Errorf("peer got %q with keys %q", bodies, keys)
	}
}

func TestHTTPSinkBuriesWhatIsRefusedForGood(t *testing.T) {
	p := newPeer(t, func(_ int, body string) int {
		if strings.Contains(body, `"bad"`) {
			return http.StatusUnprocessableEntity
		}
		return http.StatusOK
	})
	r := forwarding(t, p)
	r.lines("/items", "", `{"id":"a","n":1}`+"\n"+`{"id":"bad","n":2}`+"\n"+`{"id":"c","n":3}`+"\n").want(t, http.StatusOK, `"accepted":3`)
	got := r.file("dead-letters/sink out.ndjson")
	if len(got) != 1 || !strings.Contains(got[0], `"row":{"id":"bad","n":2}`) || !strings.Contains(got[0], "422") {
		t.Errorf("dead letters %q", got)
	}
	bodies, _ := p.got()
	for _, id := range []string{`"a"`, `"c"`} {
		if !strings.Contains(strings.Join(bodies, ""), id) {
			t.Errorf("row %s was not sent: %q", id, bodies)
		}
	}
}

func TestHTTPSinkOutOfRetriesIsNotAcknowledged(t *testing.T) {
	p := newPeer(t, func(int, string) int { return http.StatusBadGateway })
	r := forwarding(t, p)
	r.lines("/items", "", `{"id":"a","n":1}`+"\n").want(t, http.StatusServiceUnavailable, "out of retries")
	if bodies, _ := p.got(); len(bodies) != 4 {
		t.Errorf("%d attempts, want 4", len(bodies))
	}
}

// What is not acknowledged is in the log, and not only in the answer: the client may be a program that nobody reads.
func TestUnacknowledgedRequestIsLogged(t *testing.T) {
	p := newPeer(t, func(int, string) int { return http.StatusBadGateway })
	var log journalOf
	r := forwarding(t, p, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 2 {
		r.lines("/items", "", `{"id":"a","n":1}`+"\n").want(t, http.StatusServiceUnavailable)
	}
	if n := log.lines("out of retries"); n != 1 || log.lines("request is not acknowledged") != 1 {
		t.Errorf("two requests that failed are logged %d times:\n%s", n, log.String())
	}
}

func TestCompressedBodyIsRefused(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	for _, path := range []string{"/orders", "/decisions"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-Encoding", "gzip")
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s: status %d, %v", path, resp.StatusCode, err)
		}
	}
}

// A body that does not end is given up, whatever is read from it, and the node takes others meanwhile and after it. A body that has ended
// leaves no bound behind: a long poll outlasts it.
func TestSlowBodyIsGivenUp(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir(), func(o *Options) { o.slowest = 100 * time.Millisecond })
	for _, path := range []string{"/orders", "/decisions", "/api/tasks/fetch"} {
		body, write := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		go func() { _, _ = write.Write([]byte("{")) }() // and never more
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(resp.Body.Close(), write.Close()); err != nil || resp.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: status %d, %v", path, resp.StatusCode, err)
		}
	}
	r.json("/api/tasks/fetch", "", `{"worker":"w","types":["charge"],"wait":"300ms"}`).want(t, http.StatusOK, `{"tasks":[]}`)
}

func TestOutputsMayHaveAbsolutePaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "elsewhere", "out.ndjson")
	r := run(t, packageOf(t, strings.Replace(ratios, "out/ratios.ndjson", path, 1)), t.TempDir())
	r.lines("/pairs", "", `{"id":"x","a":6,"b":3}`+"\n").want(t, http.StatusOK)
	if got := linesOf(t, path); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
