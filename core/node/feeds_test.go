package node

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inputs writes what the source of the package tail reads, and returns how to write it anew.
func inputs(t *testing.T, text string) (dir string, write func(string)) {
	t.Helper()
	dir = t.TempDir()
	write = func(text string) {
		t.Helper()
		next := filepath.Join(dir, "next") // as editors and rotating writers do: another file under the same name
		if err := joined(os.WriteFile(next, []byte(text), 0o644), os.Rename(next, filepath.Join(dir, "in.ndjson"))); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	return dir, write
}

const (
	itemA = `{"id":"a","n":1}` + "\n"
	itemB = `{"id":"b","n":2}` + "\n"
	itemC = `{"id":"c","n":3}` + "\n"
)

func (r *rig) state(name string) bool {
	r.t.Helper()
	return r.metric(`millrace_source_state{source="in",state="`+name+`"}`) == "1"
}

// A source that cannot be read is a state of it that everybody sees who looks, and the rest of the node goes on.
func TestFailedSourceShows(t *testing.T) {
	r := run(t, packageOf(t, tail), t.TempDir())
	r.eventually("the source fails", func() bool { return r.state("failed") })
	if r.state("running") || r.state("ended") {
		t.Error("the source is in two states")
	}
	r.get("/readyz").want(t, http.StatusOK, `"status":"ready"`, "source in has failed", "no such file")
	r.get("/api/sources").want(t, http.StatusOK, `"source":"in"`, `"kind":"file"`, `"state":"failed"`, "no such file")
	r.full.Store(true)
	r.get("/readyz").want(t, http.StatusServiceUnavailable, "low-water", "source in has failed")
	r.full.Store(false)
}

// A file that another one has replaced is not read: neither from where the old one was, which would lose lines, nor from its start, which
// might repeat some. Somebody says that it begins anew; then all of it comes, and its lines are not taken for those of the old file.
func TestReplacedFileIsNotReadUntilSomebodySaysSo(t *testing.T) {
	dir, write := inputs(t, itemA+itemB)
	pkg := packageOf(t, tail)
	r := run(t, pkg, dir)
	r.eventually("the end", func() bool { return r.state("ended") && len(r.file("out.ndjson")) == 2 })
	r.get("/readyz").want(t, http.StatusOK)
	if strings.Contains(r.get("/readyz").text, "degraded") {
		t.Error("a source at its end is no fault")
	}
	r.get("/api/sources").want(t, http.StatusOK, `"state":"ended"`, `"lines":2`)
	r.stop()
	write(itemC + itemB + itemA)
	r = run(t, pkg, dir)
	r.eventually("the source fails", func() bool { return r.state("failed") })
	r.get("/readyz").want(t, http.StatusOK, "millrace reread in", "not there any more")
	if got := r.file("out.ndjson"); len(got) != 2 {
		t.Errorf("lines of another file came in: %q", got)
	}
	r.eventually("its task ends", func() bool { return r.json("/api/sources/in/reread", "", "").status == http.StatusOK })
	r.eventually("the other file", func() bool { return r.state("ended") && len(r.file("out.ndjson")) == 3 }) // a and b are known to the deduplicator
	r.get("/api/sources").want(t, http.StatusOK, `"lines":3`)
	r.stop()
	r = run(t, pkg, dir)
	r.eventually("the end", func() bool { return r.state("ended") })
	if got := r.file("out.ndjson"); len(got) != 3 || !strings.Contains(got[2], `"c"`) {
		t.Errorf("after a restart: %q", got)
	}
}

// What is put back is gone on from, and only a source that is a file, is there and is not being read begins anew.
func TestRereadIsRefused(t *testing.T) {
	dir, write := inputs(t, itemA)
	r := run(t, packageOf(t, tail), dir)
	r.eventually("the end", func() bool { return r.state("ended") })
	r.stop()
	write(itemB)
	r = run(t, packageOf(t, tail), dir)
	r.eventually("the source fails", func() bool { return r.state("failed") })
	r.stop()
	write(itemA + itemC)
	r = run(t, packageOf(t, tail), dir)
	r.eventually("the end", func() bool { return r.state("ended") && len(r.file("out.ndjson")) == 2 })
	r.json("/api/sources/none/reread", "", "").want(t, http.StatusNotFound, "no source none")
	r.eventually("its task ends", func() bool { return r.feeds[0].turn.TryAcquire(1) })
	r.json("/api/sources/in/reread", "", "").want(t, http.StatusConflict, "is being read")
	r.feeds[0].turn.Release(1)
	web := run(t, ordersPackage(t), t.TempDir())
	web.json("/api/sources/intake/reread", "", "").want(t, http.StatusBadRequest, "is no file")
	web.get("/api/sources").want(t, http.StatusOK, `"source":"intake"`, `"kind":"http"`, `"state":"running"`)
}

// Whatever is too large is told by how much, and an array of records how they are sent.
func TestBodiesThatCannotBeTaken(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	large := `{"a":"` + strings.Repeat("x", maxMessageBytes) + `"}`
	for _, path := range []string{"/decisions", "/api/instances/i/cancel", "/api/tasks/fetch", "/api/tasks/i/1/complete"} {
		r.json(path, "", large).want(t, http.StatusRequestEntityTooLarge, "body has more than 1048576 bytes")
	}
	r.json("/orders", "", "["+strings.TrimSpace(order("a", "1"))+"]").want(t, http.StatusBadRequest, "not_object", "application/x-ndjson")
}
