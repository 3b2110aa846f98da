package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/source/web"
	"github.com/millrace-dev/millrace/core/store"
	example "github.com/millrace-dev/millrace/examples/orders"
)

// fenceVar is the folder of the program that a child process runs instead of the tests. Goroutines of the store's
// library are parked for good after a fence, so the process has to end.
const fenceVar = "MILLRACE_TEST_FENCE"

// fenceReport is what the child saw of its node.
type fenceReport struct {
	Before, During, After int // status of a body each; 0: no answer
	Halted                bool
	Ready, Live           int
	Why                   string
}

// fencedWait checks that the node has ended by a fence, for which the command's exit status is 4.
func fencedWait(t *testing.T, r *rig) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := r.Wait(ctx); !errors.Is(err, sink.ErrFenced) && !errors.Is(err, store.ErrHalted) {
		t.Fatalf("node waits with %v", err)
	}
	r.get("/readyz").want(t, http.StatusServiceUnavailable)
	r.get("/livez").want(t, http.StatusServiceUnavailable, "ended")
}

// A failed sync of the store's log: the body under way is not acknowledged, nothing is after it, and the next process finds
// exactly what was acknowledged or sent.
func TestFailedLogSyncFencesAndARestartRecovers(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	child := exec.CommandContext(ctx, os.Args[0])
	child.Env = append(os.Environ(), fenceVar+"="+dir)
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &errs
	if err := child.Run(); err != nil {
		t.Fatalf("child: %v\n%s", err, errs.String())
	}
	var x fenceReport
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatalf("child said %q: %v", out.String(), err)
	}
	if x.Before != http.StatusOK || x.During == http.StatusOK || x.After == http.StatusOK || !x.Halted ||
		x.Ready != http.StatusServiceUnavailable || x.Live != http.StatusServiceUnavailable {
		t.Fatalf("%+v", x)
	}
	r := run(t, ordersPackage(t), dir)
	r.lines("/orders", "b1", order("a", "1")).want(t, http.StatusOK, `"duplicates":1`)
	r.lines("/orders", "b2", order("b", "2")).want(t, http.StatusOK)
	r.lines("/orders", "b3", order("c", "3")).want(t, http.StatusOK, `"accepted":1`)
	if got := r.file("ledger.ndjson"); len(got) != 3 {
		t.Errorf("ledger has %q", got)
	}
}

// fenceProgram runs a node whose log cannot be synced from some moment on, and reports.
func fenceProgram(dir string) int {
	var failing atomic.Bool
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
		if failing.Load() && sync && strings.HasSuffix(path.Base(op.Path), ".log") {
			return syscall.EIO
		}
		return nil
	}))
	pkg, faults := graph.Load(example.FS)
	if len(faults) > 0 {
		return complain(faults[0])
	}
	n, err := Start(Options{Package: pkg, Data: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), storeFS: fs})
	if err != nil {
		return complain(err)
	}
	x := fenceReport{Before: try(n, http.MethodPost, "/orders", "b1", order("a", "1"))}
	failing.Store(true)
	x.During = try(n, http.MethodPost, "/orders", "b2", order("b", "2"))
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	why := n.Wait(ctx)
	x.Halted, x.Why = errors.Is(why, store.ErrHalted) || errors.Is(why, sink.ErrFenced), fmt.Sprint(why)
	x.After = try(n, http.MethodPost, "/orders", "b3", order("c", "3"))
	x.Ready, x.Live = try(n, http.MethodGet, "/readyz", "", ""), try(n, http.MethodGet, "/livez", "", "")
	if err := json.NewEncoder(os.Stdout).Encode(x); err != nil {
		return complain(err)
	}
	return 0
}

// try returns the status of a request, 0 without an answer.
func try(n *Node, method, at, id, body string) int {
	req, err := http.NewRequest(method, "http://"+n.Address()+at, strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set(web.KeyHeader, id)
	resp, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if joined(err, resp.Body.Close()) != nil {
		return 0
	}
	return resp.StatusCode
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
