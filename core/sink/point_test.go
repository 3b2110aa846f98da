package sink_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store/memory"
)

// text is a payload of one line.
type text string

func (text) Rows() int { return 1 }
func (text) Retain()   {}
func (text) Release()  {}

// node is a commit point on real files, with a relay and a file sink in front of it.
type node struct {
	t     *testing.T
	scope *sched.Scope
	dir   string
	point *sink.Point
	relay *relay.Relay[text]
	sink  *sink.FileSink[text]
}

func startNode(t *testing.T, dir string, st sink.Store, failpoint func(string)) *node {
	t.Helper()
	s := sched.Scheduler{}
	n := &node{t: t, scope: s.NewScope("node"), dir: dir}
	n.point = sink.NewPoint(s, st, vfs.OS{Dir: dir}, sink.Options{Files: []string{"other", ledger}, Failpoint: failpoint})
	if err := n.point.Open(n.scope); err != nil {
		t.Fatal(err)
	}
	n.relay = relay.New[text](s, "orders")
	file, ok := n.point.File(ledger)
	if !ok {
		t.Fatal("the point does not know its file")
	}
	n.sink = &sink.FileSink[text]{
		From: n.relay.Attach("ledger", 4), Point: n.point, File: file,
		Encode: func(rows text) ([]byte, error) {
			if rows == "bad" {
				return nil, errStop
			}
			return []byte(strings.TrimPrefix(string(rows), "skip")), nil
		},
	}
	s.Go(n.scope, "sink", func() {
		if err := n.sink.Run(n.scope); err != nil {
			t.Error(err)
		}
	})
	s.Go(n.scope, "point", func() {
		if err := n.point.Run(n.scope); err != nil {
			t.Error(err)
		}
	})
	return n
}

func (n *node) send(rows text) error {
	n.t.Helper()
	reply := ack.NewReply(sched.Scheduler{})
	root := ack.New(sched.Scheduler{}, reply)
	if err := n.relay.Publish(n.scope, root, relay.Batch[text]{Rows: rows}); err != nil {
		n.t.Fatal(err)
	}
	root.Ack()
	o, err := reply.Wait(n.scope)
	if err != nil {
		n.t.Fatal(err)
	}
	return o.Err
}

func (n *node) stop() string {
	n.t.Helper()
	n.sink.From.Remove()
	n.point.Close()
	n.scope.Join()
	content, err := os.ReadFile(filepath.Join(n.dir, ledger))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(content)
}

func TestFileSinkWritesWhatItAcknowledges(t *testing.T) {
	st, _ := memory.Open(sched.Scheduler{}, memory.Options{})
	dir := t.TempDir()
	var points []string
	n := startNode(t, dir, st, func(p string) { points = append(points, p) })
	if err := n.send("one\n"); err != nil {
		t.Fatal(err)
	}
	if err := n.send("bad"); !errors.Is(err, errStop) {
		t.Fatalf("a row that cannot be encoded: %v", err)
	}
	if err := n.send("skip"); err != nil {
		t.Fatal(err)
	}
	if content := n.stop(); content != "one\n" {
		t.Fatalf("file: %q", content)
	}
	want := []string{sink.PointBeforeWrite, sink.PointAfterWrite, sink.PointAfterSync, sink.PointAfterCommit, sink.PointAfterSettle}
	if strings.Join(points, " ") != strings.Join(want, " ") {
		t.Fatalf("passed %v", points)
	}

	// What stands behind the committed length is nobody's.
	if err := os.WriteFile(filepath.Join(dir, ledger), []byte("one\ntorn"), 0o600); err != nil {
		t.Fatal(err)
	}
	n = startNode(t, dir, st, nil)
	if err := n.send("two\n"); err != nil {
		t.Fatal(err)
	}
	if content := n.stop(); content != "one\ntwo\n" {
		t.Fatalf("file: %q", content)
	}
}

func TestUnknownFileIsAdoptedAndAShortOneRefused(t *testing.T) {
	s := sched.Scheduler{}
	st, _ := memory.Open(s, memory.Options{})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ledger), []byte("of old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := startNode(t, dir, st, nil)
	if err := n.send("new\n"); err != nil {
		t.Fatal(err)
	}
	if content := n.stop(); content != "of old\nnew\n" {
		t.Fatalf("file: %q", content)
	}
	if err := os.WriteFile(filepath.Join(dir, ledger), []byte("of"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sink.NewPoint(s, st, vfs.OS{Dir: dir}, sink.Options{Files: []string{ledger}})
	if err := p.Open(nil); !errors.Is(err, sink.ErrShort) {
		t.Fatalf("opened a short file: %v", err)
	}
}

func TestStoppedPointRefuses(t *testing.T) {
	s := sched.Scheduler{}
	st, _ := memory.Open(s, memory.Options{})
	p := sink.NewPoint(s, st, &vfs.Crashable{}, sink.Options{Files: []string{ledger}})
	early, late := newSettled(s), newSettled(s)
	p.NewUnit(nil, early).Submit()
	scope := s.NewScope("node")
	if err := p.Open(scope); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Close()
	if err := p.Run(scope); err != nil {
		t.Fatal(err)
	}
	p.NewUnit(nil, late).Submit()
	if err, _ := early.outcome.Get(); err != nil {
		t.Fatalf("queued before the close: %v", err)
	}
	if err, _ := late.outcome.Get(); !errors.Is(err, sink.ErrStopped) {
		t.Fatalf("submitted after the close: %v", err)
	}
}

func TestFailedTreeSettlesItsUnitWithoutWriting(t *testing.T) {
	s := sched.Scheduler{}
	st, _ := memory.Open(s, memory.Options{})
	disk := &vfs.Crashable{}
	p := sink.NewPoint(s, st, disk, sink.Options{Files: []string{ledger}})
	reply := newSettled(s)
	u := p.NewUnit(nil, reply)
	u.Stage(0, []byte("never"))
	ack.New(s, u).Fail(errStop)
	if err, ok := reply.outcome.Get(); !ok || !errors.Is(err, errStop) {
		t.Fatalf("settled %t with %v", ok, err)
	}
	if _, ok := p.File("absent"); ok {
		t.Fatal("the point knows a file that it does not have")
	}
}

func TestSyncFailureFences(t *testing.T) {
	s := sched.Scheduler{}
	st, _ := memory.Open(s, memory.Options{})
	disk := &vfs.Crashable{Fail: func(op, _ string) bool { return op == "sync" }}
	p := sink.NewPoint(s, st, disk, sink.Options{Files: []string{ledger}})
	scope := s.NewScope("node")
	if err := p.Open(scope); err != nil {
		t.Fatal(err)
	}
	first, second := newSettled(s), newSettled(s)
	u := p.NewUnit(nil, first)
	u.Stage(0, []byte("x"))
	u.Submit()
	if err := p.Run(scope); !errors.Is(err, sink.ErrFenced) || !errors.Is(p.Fenced(scope), sink.ErrFenced) {
		t.Fatalf("run: %v", err)
	}
	p.NewUnit(nil, second).Submit()
	for i, r := range []*settled{first, second} {
		if err, _ := r.outcome.Get(); !errors.Is(err, sink.ErrFenced) {
			t.Fatalf("unit %d settled with %v", i, err)
		}
	}
}

func TestPointOptionsListEveryFault(t *testing.T) {
	err := sink.Options{Files: []string{"", "a", "a"}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "twice") || !strings.Contains(err.Error(), "empty") {
		t.Fatalf("faults: %v", err)
	}
	if err := (sink.Options{Files: make([]string, sink.MaxFiles+1)}).Validate(); err == nil {
		t.Fatal("too many files were accepted")
	}
}

// A file that somebody moves away or replaces while the point has it open, as a rotation of logs does.
func TestFileThatIsReplacedFences(t *testing.T) {
	for name, take := range map[string]func(path string) error{ //order:each has a folder of its own
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".1") },
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("one\n"), 0o600))
		},
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		s := sched.Scheduler{}
		st, _ := memory.Open(s, memory.Options{})
		dir := t.TempDir()
		p := sink.NewPoint(s, st, vfs.OS{Dir: dir}, sink.Options{Files: []string{ledger}})
		scope := s.NewScope("node")
		if err := p.Open(scope); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		s.Go(scope, "point", func() { ended <- p.Run(scope) })
		send := func(text string) error {
			reply := newSettled(s)
			u := p.NewUnit(nil, reply)
			u.Stage(0, []byte(text))
			u.Submit()
			err, _ := reply.outcome.Wait(scope)
			return err
		}
		if err := send("one\n"); err != nil {
			t.Fatal(err)
		}
		if err := take(filepath.Join(dir, ledger)); err != nil {
			t.Fatal(err)
		}
		if err := send("two\n"); !errors.Is(err, sink.ErrFenced) || !errors.Is(err, sink.ErrGone) && !errors.Is(err, sink.ErrShort) {
			t.Errorf("%s: the next row is settled with %v", name, err)
		}
		if err := <-ended; !errors.Is(err, sink.ErrFenced) {
			t.Errorf("%s: the point ended with %v", name, err)
		}
		scope.Join()
	}
}
