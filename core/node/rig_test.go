package node

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/source/web"
	example "github.com/millrace-dev/millrace/examples/orders"
	"github.com/millrace-dev/millrace/sim"
)

// TestMain runs the package's tests, or, in a child process that a test of fences has started, the program that fences.
func TestMain(m *testing.M) {
	if dir := os.Getenv(fenceVar); dir != "" {
		os.Exit(fenceProgram(dir))
	}
	sim.Main(m)
}

// patience bounds every wait of a test for something that other tasks do.
const patience = 20 * time.Second

func ordersPackage(t *testing.T) *graph.Package {
	t.Helper()
	pkg, faults := graph.Load(example.FS)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return pkg
}

// packageOf loads a package of one YAML text and flow files by name.
func packageOf(t *testing.T, text string, flows ...string) *graph.Package {
	t.Helper()
	fs := fstest.MapFS{"millrace.yaml": {Data: []byte(text)}}
	for i := 0; i < len(flows); i += 2 {
		fs[flows[i]] = &fstest.MapFile{Data: []byte(flows[i+1])}
	}
	pkg, faults := graph.Load(fs)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return pkg
}

// rig is a node on a folder, and a client.
type rig struct {
	*Node
	t      *testing.T
	client *http.Client
}

func run(t *testing.T, pkg *graph.Package, dir string, change ...func(*Options)) *rig {
	t.Helper()
	o := Options{Package: pkg, Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&o)
	}
	n, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Node: n, t: t, client: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	t.Cleanup(r.stop)
	return r
}

// stop ends the node once.
func (r *rig) stop() {
	r.t.Helper()
	if r.client == nil {
		return
	}
	r.client.CloseIdleConnections()
	r.client = nil
	if err := r.Stop(); err != nil {
		r.t.Error(err)
	}
}

// answerOf is a response: its status, its text, and its JSON when it has some.
type answerOf struct {
	status int
	text   string
	body   map[string]any
}

func (r *rig) do(method, path, kind, id, body string) answerOf {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.Address()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	if id != "" {
		req.Header.Set(web.KeyHeader, id)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := joined(err, resp.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	a := answerOf{status: resp.StatusCode, text: string(text)}
	_ = json.Unmarshal(text, &a.body) // metrics are not JSON
	return a
}

func joined(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) get(path string) answerOf { r.t.Helper(); return r.do(http.MethodGet, path, "", "", "") }

func (r *rig) lines(path, id, body string) answerOf {
	r.t.Helper()
	return r.do(http.MethodPost, path, "application/x-ndjson", id, body)
}

func (r *rig) json(path, id, body string) answerOf {
	r.t.Helper()
	return r.do(http.MethodPost, path, "application/json", id, body)
}

// want checks a status and parts of the text.
func (a answerOf) want(t *testing.T, status int, parts ...string) answerOf {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.text)
	}
	for _, p := range parts {
		if !strings.Contains(a.text, p) {
			t.Fatalf("no %q in %s", p, a.text)
		}
	}
	return a
}

// eventually looks again until a condition holds, for a bounded time: what it waits for has no event that a client can see.
func (r *rig) eventually(what string, f func() bool) {
	r.t.Helper()
	for started := time.Now(); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Since(started) > patience {
			r.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// file returns the lines of an output.
func (r *rig) file(name string) []string {
	r.t.Helper()
	return linesOf(r.t, filepath.Join(r.opts.Data, name))
}

func linesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Errorf("%s does not end with a line end", path)
	}
	return slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			if !yield(strings.TrimSuffix(line, "\n")) {
				return
			}
		}
	})
}

// metric returns the value of a series as text.
func (r *rig) metric(series string) string {
	r.t.Helper()
	for line := range strings.Lines(r.get("/metrics").text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func order(id, amount string) string {
	return `{"order_id":"` + id + `","customer":"c","amount":` + amount + `,"placed_at":"2026-01-01T00:00:00Z"}` + "\n"
}
