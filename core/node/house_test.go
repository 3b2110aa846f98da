package node

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
)

const fed = `
name: fed
schemas: {item: {id: string}, closed: {id: string}}
sources: {in: {file: {path: in.ndjson, dead_letter: bad.ndjson}, decode: {schema: item}, to: {relay: items}}}
relays: {items: {schema: item}}
sinks: {out: {from: items, file: {path: out.ndjson}}}
channels:
  items: {file: {folder: drop, poll: 10ms}, schema: item, flow: wait}
  closed: {http: {path: /closed}, schema: closed, correlate: message.id}
flows: [wait.bpmn]
`

// Nothing is taken while the disk is full, from no way in; the node notices by itself that there is room again, and that there is none.
func TestHousekeepingWatchesTheDisk(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"in.ndjson": `{"id":"a"}` + "\n", "drop/a.json": `{"id":"a"}`} { //order:each is a file
		path := filepath.Join(dir, name)
		if err := joined(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var free atomic.Uint64
	r := run(t, packageOf(t, fed, "wait.bpmn", waiting), dir, func(o *Options) { o.diskFree = func(*Node) (uint64, error) { return free.Load(), nil } })
	stop := r.s.NewScope("full")
	defer stop.Close()
	open := r.flows.open.Observe()
	once := stop.ChildTimeout("look", 5*open.byName["items"].Drop.Poll)
	open.byName["items"].watchFolder(once) // several looks, of which none takes anything
	once.Close()
	if got := len(r.file("out.ndjson")); got != 0 || r.count("started") != 0 {
		t.Fatalf("%d rows and %d instances came in on a full disk", got, r.count("started"))
	}
	free.Store(1 << 40)
	r.eventually("room", func() bool { return r.get("/readyz").status == http.StatusOK })
	r.eventually("what waited", func() bool { return len(r.file("out.ndjson")) == 1 && r.count("started") == 1 })
	free.Store(0)
	r.eventually("no room", func() bool { return r.get("/readyz").status == http.StatusServiceUnavailable })
}

// expiries is a store that notes what is to expire, and has always more of the first space.
type expiries struct {
	store.Store
	until map[string]time.Time
	calls int
}

// Expire implements store.Store.
func (x *expiries) Expire(_ *sched.Scope, space string, now time.Time, limit int) (int, store.Ticket, error) {
	x.until[space] = now
	if x.calls++; x.calls < 4 {
		return limit, 0, nil
	}
	return limit - 1, 0, nil
}

// What remembers that something has arrived stays for as long as it may come again; everything else goes when its time is over, all of
// it.
func TestExpiryKeepsWhatMayComeAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	known := now.Add(-time.Minute)
	n := &Node{}
	for space, want := range map[string]time.Time{emittedSpace: known, store.InboxSpace: known, mail.Space: now, "other": now} { //order:each is judged alone
		x := &expiries{until: map[string]time.Time{}}
		n.expireSpace(x, space, now, known)
		if !x.until[space].Equal(want) || x.calls != 4 {
			t.Errorf("%s: up to %v in %d commits, want %v in 4", space, x.until[space], x.calls, want)
		}
	}
	x := &expiries{until: map[string]time.Time{}}
	n.expireSpace(x, emittedSpace, now, time.Time{})
	if x.calls != 0 {
		t.Error("what is not known to be forgettable is removed")
	}
}

// Every space in which rows expire is looked at.
func TestExpiredRowsGo(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	for _, space := range []string{emittedSpace, mail.Space, engine.JournalSpace, branch.KeySpace("dedupe")} {
		if _, err := r.store.Write(r.root, []store.Row{{Space: space, Key: "old", Value: []byte{1}, Expires: time.Unix(1, 0)}}); err != nil {
			t.Fatal(err)
		}
		r.eventually(space+" to be empty", func() bool {
			r.expire()
			_, _, err := r.store.Row(r.root, space, "old")
			return err != nil
		})
	}
	r.json("/decisions", "d", `{"order_id":"x","approved":true}`).want(t, http.StatusNotFound)
	if got := strings.Join(r.flowExpiring, " "); !strings.Contains(got, store.InboxSpace) {
		t.Errorf("the inbox never forgets: %s", got)
	}
}

// An emission that is sent again, as after a crash, arrives once: it is remembered for longer than it may come again.
func TestEmissionArrivesOnce(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	e := store.Emission{Instance: "i", Sequence: 3, Target: "approved", Payload: []byte(strings.TrimSpace(order("a", "5")))}
	for range 2 {
		if err := r.send(r.flowing, e); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.file("approved.ndjson"); len(got) != 1 {
		t.Errorf("approved %q", got)
	}
	mark, _, err := r.store.Row(r.root, emittedSpace, "i/3")
	if err != nil || mark.Expires.Before(time.Now().Add(engine.RememberSent-time.Minute)) {
		t.Errorf("remembered until %v, %v", mark.Expires, err)
	}
	e.Sequence++
	if err := r.send(r.flowing, e); err != nil || len(r.file("approved.ndjson")) != 2 {
		t.Errorf("another emission: %v, %q", err, r.file("approved.ndjson"))
	}
}

// A dead letter is durable when it was taken, and one that nobody was told of is in nobody's way.
func TestDeadLettersAreDurable(t *testing.T) {
	disk := &vfs.Crashable{}
	d := newDeadLetters(disk)
	letters := []letter{{Reason: "one", Detail: "d", Row: []byte(`{}`)}, {Reason: "two", Detail: "d", Row: []byte(`{}`)}}
	if err := d.Append("a/b", letters); err != nil {
		t.Fatal(err)
	}
	disk.Crash(func(string, int) int { return 0 })
	if err := newDeadLetters(disk).Append("a/b", letters[:1]); err != nil {
		t.Fatal(err)
	}
	const one, two = `{"reason":"one","detail":"d","row":{}}` + "\n", `{"reason":"two","detail":"d","row":{}}` + "\n"
	if got := string(disk.Content("dead-letters/a_b.ndjson")); got != one+two+one {
		t.Errorf("after a crash:\n%s", got)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "dead-letters", "a.ndjson")
	if err := joined(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(one+`{"rea`), 0o644)); err != nil {
		t.Fatal(err)
	}
	d = newDeadLetters(files{dir})
	if err := joined(d.Append("a", letters[:1]), d.Append("a", letters[1:]), d.Close()); err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, path); len(got) != 4 || got[0]+"\n" != one || got[2]+"\n" != one || got[3]+"\n" != two {
		t.Errorf("behind a torn line: %q", got)
	}
}

// A dead letter that cannot be written ends the node, wherever it comes from.
func TestUnwrittenLettersFence(t *testing.T) {
	block := func(t *testing.T, dir, place string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "dead-letters", place+".ndjson"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("emission", func(t *testing.T) {
		dir := t.TempDir()
		r := run(t, ordersPackage(t), dir)
		block(t, dir, "emit approved")
		if err := r.send(r.flowing, store.Emission{Instance: "i", Sequence: 1, Target: "approved", Payload: []byte(`{"order_id":7}`)}); err == nil {
			t.Error("an emission that is nowhere counts as sent")
		}
		fencedWait(t, r)
	})
	t.Run("row that a peer refuses", func(t *testing.T) {
		p := newPeer(t, func(int, string) int { return http.StatusUnprocessableEntity })
		r := forwarding(t, p)
		block(t, r.opts.Data, "sink out")
		if a := r.lines("/items", "", `{"id":"a","n":1}`+"\n"); a.status < 500 {
			t.Errorf("status %d: %s", a.status, a.text)
		}
		fencedWait(t, r)
	})
}

// Malformed lines of a stream go where the package says, or to a file of the source's name.
func TestDeadLetterFileOfASource(t *testing.T) {
	for want, s := range map[string]*graph.Source{
		"a": {Name: "x", File: &graph.FileSource{DeadLetter: "a"}}, "b": {Name: "x", Stdin: &graph.StdinSource{DeadLetter: "b"}},
		"dead-letters/source-x.ndjson": {Name: "x", Stdin: &graph.StdinSource{}},
	} {
		if got := deadLetterFile(s); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A replica keeps its name with its data folder: what it named its records by must be the same after a restart.
func TestIdentityStaysWithTheData(t *testing.T) {
	dir := t.TempDir()
	r := run(t, ordersPackage(t), dir)
	first, err := r.identity()
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	r.stop()
	r = run(t, ordersPackage(t), dir)
	if again, err := r.identity(); err != nil || again != first {
		t.Errorf("named %q, then %q, %v", first, again, err)
	}
}

// A request that is under way when the node is told to stop is answered; the one after it learns that the node stops.
func TestStopLetsRequestsEnd(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	p := newPeer(t, func(int, string) int {
		close(arrived)
		<-release
		return http.StatusOK
	})
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let) // or else the peer's end waits for its answer
	r := forwarding(t, p, func(o *Options) { o.grace = patience })
	answered := r.sent("/items", "", `{"id":"a","n":1}`+"\n")
	<-arrived
	stopped := make(chan error, 1)
	go func() { stopped <- r.Stop() }()
	r.eventually("the node stops", func() bool { return r.get("/readyz").status == http.StatusServiceUnavailable })
	r.lines("/items", "", `{"id":"b","n":1}`+"\n").want(t, http.StatusServiceUnavailable, "not ready")
	let()
	(<-answered).want(t, http.StatusOK, `"accepted":1`)
	r.client.CloseIdleConnections()
	r.client = nil
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Rows that reach a flow without a deduplicator: a body that comes again is counted as such, and one whose flow does not end in time is not
// acknowledged.
func TestRelayChannelSharesItsAnswer(t *testing.T) {
	text := `
name: streamed
schemas: {item: {id: string}, closed: {id: string}}
sources:
  in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}
relays: {items: {schema: item}}
channels:
  begun: {from: {relay: items}, flow: wait%s}
  closed: {http: {path: /closed}, schema: closed, correlate: message.id}
flows: [wait.bpmn]
`
	r := run(t, packageOf(t, fmt.Sprintf(text, ""), "wait.bpmn", waiting), t.TempDir())
	r.lines("/items", "b1", `{"id":"a"}`+"\n").want(t, http.StatusOK, `"accepted":1`)
	r.lines("/items", "b1", `{"id":"a"}`+"\n").want(t, http.StatusOK, `"accepted":0`, `"duplicates":1`)
	r = run(t, packageOf(t, fmt.Sprintf(text, ", ack: on-complete, timeout: 1s"), "wait.bpmn", waiting), t.TempDir())
	if a := r.lines("/items", "b1", `{"id":"a"}`+"\n"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a flow that goes on is acknowledged: %d %s", a.status, a.text)
	}
}

// A node that has ended takes nothing more: who waits is told, who comes is refused, and nothing that is under way is acknowledged.
func TestEndedNodeAcknowledgesNothing(t *testing.T) {
	r := run(t, waitPackage(t, "channels:\n  items: {http: {path: /items}, schema: item, flow: wait, ack: on-complete}\n"+
		"  closed: {http: {path: /closed}, schema: closed, correlate: message.id}\n"), t.TempDir())
	answered := r.sent("/items", "", `{"id":"a"}`)
	r.eventually("an instance", func() bool { return r.count("started") == 1 })
	r.end(sched.ErrCanceled)
	select {
	case a := <-answered:
		if a.status < http.StatusInternalServerError || !strings.Contains(a.text, "scope canceled") { // as far as it had come
			t.Errorf("status %d: %s", a.status, a.text)
		}
	case <-time.After(patience / 2):
		t.Error("who waits for an instance of a node that has ended is told nothing")
	}
	r.json("/items", "", `{"id":"b"}`).want(t, http.StatusServiceUnavailable, "not ready")

	r = run(t, ordersPackage(t), t.TempDir())
	r.end(sched.ErrCanceled)
	bounded := r.flowing.ChildTimeout("emission", patience)
	defer bounded.Close()
	if err := r.send(bounded, store.Emission{Instance: "i", Sequence: 1, Target: "approved", Payload: []byte(strings.TrimSpace(order("a", "5")))}); err == nil || errors.Is(err, sched.ErrTimeout) {
		t.Errorf("an emission of a node that has ended: %v", err)
	}
}
