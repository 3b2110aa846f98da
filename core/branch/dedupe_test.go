package branch_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
)

var (
	errNoKey  = errors.New("no key")
	errNoRoom = errors.New("no room for a refused row")
)

const output = "unique.ndjson"

// outside is what survives a node.
type outside struct {
	s       sched.Scheduler
	disk    vfs.Crashable
	store   store.Store
	engine  *memory.Engine
	keep    time.Duration
	maxKeys int
	split   func(*batch) ([]branch.Part, error)
	keys    branch.KeyStore // what keys are read from; nil: the store
	outputs []string        // the files of the commit point; a file sink writes the first
}

func newOutside(s sched.Scheduler, faults memory.Options) *outside {
	o := &outside{s: s, keep: time.Hour, outputs: []string{output}}
	o.store, o.engine = memory.Open(s, faults)
	return o
}

// times returns how often the key is in the file.
func (o *outside) times(key string) int { return bytes.Count(o.disk.Content(output), []byte(key+"\n")) }

// node is one life of a node: intake → deduplicator → file sink, and whatever else reads the output.
type node struct {
	o       *outside
	scope   *sched.Scope
	in, out *relay.Relay[*batch]
	point   *sink.Point
	dedupe  *branch.Deduplicator[*batch]
	intake  *relay.Consumer[*batch]
	held    atomic.Int64
	refused []string
	ids     []string
	extra   []*relay.Consumer[*batch]
	failed  error
	written error
	fenced  error
}

// boot builds the node; start runs it. In between a check may attach more consumers.
func (o *outside) boot() (*node, error) {
	n := &node{o: o, scope: o.s.NewScope("node")}
	n.in, n.out = relay.New[*batch](o.s, "in"), relay.New[*batch](o.s, "out")
	n.point = sink.NewPoint(o.s, o.store, &o.disk, sink.Options{Files: o.outputs})
	if err := n.point.Open(n.scope); err != nil {
		return nil, err
	}
	n.intake = n.in.Attach("dedupe", 2)
	keys := o.keys
	if keys == nil {
		keys = o.store
	}
	n.dedupe = branch.NewDeduplicator(o.s, branch.DedupeOptions[*batch]{
		Name: "dedupe", Keep: o.keep, MaxKeys: o.maxKeys, From: n.intake, To: n.out, Point: n.point, Store: keys,
		Key: func(b *batch, row int) (string, error) {
			if strings.HasPrefix(b.rows()[row], "bad") {
				return "", errNoKey
			}
			return b.rows()[row], nil
		},
		Refuse: func(b *batch, row int, _ error) error {
			if b.rows()[row] == "bad for good" {
				return errNoRoom
			}
			n.refused = append(n.refused, b.rows()[row])
			return nil
		},
		Select:   pickRecords,
		Split:    o.split,
		Branches: branch.Options{Max: 2, Queue: 8, TTL: time.Minute},
	})
	return n, nil
}

// start runs the node with a file sink. When the intake was removed and everything admitted has ended, the rest ends too.
func (n *node) start() {
	file := &sink.FileSink[*batch]{From: n.out.Attach("file", 2), Point: n.point, Encode: encode}
	n.extra = append(n.extra, file.From)
	n.o.s.Go(n.scope, "file", func() { n.written = file.Run(n.scope) })
	n.startWithoutFile()
}

// startWithoutFile runs everything but the file sink.
func (n *node) startWithoutFile() {
	n.o.s.Go(n.scope, "dispatch", func() {
		n.failed = n.dedupe.Dispatch(n.scope)
		for _, c := range n.extra {
			c.Remove()
		}
		n.point.Close()
	})
	n.o.s.Go(n.scope, "lane", func() { n.dedupe.Work(n.scope) })
	n.o.s.Go(n.scope, "point", func() { n.fenced = n.point.Run(n.scope) })
}

func encode(b *batch) ([]byte, error) {
	var out []byte
	for _, key := range b.rows() {
		out = append(append(out, key...), '\n')
	}
	return out, nil
}

// send is one attempt of a source; it returns when the attempt has ended.
func (n *node) send(keys records) (ack.Outcome, error) {
	reply := ack.NewReply(n.o.s)
	root := ack.New(n.o.s, reply)
	lines := make([]int32, len(keys))
	rows := newBatch(&n.held, keys)
	err := n.in.Publish(n.scope, root, relay.Batch[*batch]{Rows: rows, IDs: relay.LineIDs("source", lines)})
	rows.Release()
	if err != nil {
		root.Fail(err)
	} else {
		root.Ack()
	}
	return reply.Wait(nil)
}

// stop lets what was admitted end, and then every task.
func (n *node) stop() error {
	n.intake.Remove()
	n.scope.Join()
	return errors.Join(n.failed, n.written, n.fenced, heldError(&n.held))
}

func TestDeduplicatorLetsTheFirstOfEachKeyPass(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	flow := n.out.Attach("flow", 8)
	n.start()
	o.s.Go(n.scope, "flow", func() {
		for {
			d, err := flow.Receive(n.scope, nil)
			if err != nil {
				return
			}
			for row := range d.Rows.Rows() {
				n.ids = append(n.ids, d.IDs.At(row))
			}
			d.Rows.Release()
			d.Share.Ack()
		}
	})
	long := strings.Repeat("x", 1000)
	for _, sent := range []struct {
		keys       records
		duplicates int64
	}{
		{records{"a", "b", "a"}, 1},
		{records{"b", "c", "bad1"}, 1},
		{records{"a", "b", "c"}, 3},
		{records{"bad2"}, 0},
		{records{long, long}, 1},
		{records{}, 0},
	} {
		o, err := n.send(sent.keys)
		if err != nil || o.Err != nil || o.Duplicates != sent.duplicates {
			t.Fatalf("sent %v: %+v, %v", sent.keys, o, err)
		}
	}
	if got, want := n.dedupe.Counts(), (branch.Counts{Passed: 4, Duplicates: 6, Refused: 2}); got != want {
		t.Fatalf("counts %+v, want %+v", got, want)
	}
	flow.Remove()
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	if got, want := string(o.disk.Content(output)), "a\nb\nc\n"+long+"\n"; got != want {
		t.Fatalf("file %q", got)
	}
	if !slices.Equal(n.refused, []string{"bad1", "bad2"}) {
		t.Fatalf("refused %v", n.refused)
	}
	if !slices.Equal(n.ids[:3], []string{"dedupe/-/=a", "dedupe/-/=b", "dedupe/-/=c"}) || len(n.ids[3]) > 128 {
		t.Fatalf("ids %v", n.ids)
	}

	// The next life knows the keys from the store.
	n, err = o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	if o, err := n.send(records{"c", long, "d"}); err != nil || o.Err != nil || o.Duplicates != 2 {
		t.Fatalf("sent again: %+v, %v", o, err)
	}
	if err := n.stop(); err != nil || o.times("d") != 1 {
		t.Fatalf("%v, d is there %d times", err, o.times("d"))
	}
}

func TestBranchesHaveKeysOfTheirOwn(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	o.split = splitBy(func(key string) string {
		name, _, _ := strings.Cut(key, ":")
		return name
	})
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	// Three branches and room for two: those evicted find their keys again.
	for _, keys := range []records{{"x:1", "y:1", "x:1"}, {"z:1"}, {"x:1", "y:1"}, {"z:1", "z:2"}} {
		if o, err := n.send(keys); err != nil || o.Err != nil {
			t.Fatalf("sent %v: %v, %v", keys, o.Err, err)
		}
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"x:1", "y:1", "z:1", "z:2"} {
		if o.times(key) != 1 {
			t.Fatalf("%s is there %d times in %q", key, o.times(key), o.disk.Content(output))
		}
	}
}

func TestLargeBatchesAreCutIntoUnits(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	keys := make(records, 2*sink.MaxUnitRows+1)
	for i := range keys {
		keys[i] = "k" + strconv.Itoa(i)
	}
	if o, err := n.send(keys); err != nil || o.Err != nil || o.Duplicates != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(o.disk.Content(output), []byte("\n")); n != len(keys) {
		t.Fatalf("%d rows in the file, sent %d", n, len(keys))
	}
}

func TestFullBranchRefusesNewKeysAndKnowsItsOwn(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	o.maxKeys = 2
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	for _, sent := range []struct {
		keys records
		want error
	}{{records{"a", "b"}, nil}, {records{"a", "c"}, branch.ErrKeys}, {records{"c"}, branch.ErrKeys}, {records{"b", "a"}, nil}} {
		if o, err := n.send(sent.keys); err != nil || !errors.Is(o.Err, sent.want) {
			t.Fatalf("sent %v: %v, %v, want %v", sent.keys, o.Err, err, sent.want)
		}
	}
	if err := n.stop(); err != nil || o.times("c") != 0 {
		t.Fatalf("%v; c is in the file %d times", err, o.times("c"))
	}
}

// A row that is refused and cannot be kept fails its delivery: acknowledging it would lose the row. Nothing of the delivery
// stays reserved.
func TestRefusalThatIsNotKeptFailsTheDelivery(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	for _, sent := range []struct {
		keys records
		want error
	}{{records{"a", "bad for good", "b"}, errNoRoom}, {records{"a", "b"}, nil}} {
		if o, err := n.send(sent.keys); err != nil || !errors.Is(o.Err, sent.want) || o.Duplicates != 0 {
			t.Fatalf("sent %v: %+v, %v, want %v", sent.keys, o, err, sent.want)
		}
	}
	if err := n.stop(); err != nil || o.times("a") != 1 || o.times("b") != 1 {
		t.Fatalf("%v; file %q", err, o.disk.Content(output))
	}
}

// The same for rows that belong to no branch.
func TestSplitThatFailsFailsTheDelivery(t *testing.T) {
	o := newOutside(sched.Scheduler{}, memory.Options{})
	o.split = func(*batch) ([]branch.Part, error) { return nil, errNoRoom }
	n, err := o.boot()
	if err != nil {
		t.Fatal(err)
	}
	n.start()
	if o, err := n.send(records{"a"}); err != nil || !errors.Is(o.Err, errNoRoom) {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := n.stop(); err != nil {
		t.Fatal(err)
	}
}
