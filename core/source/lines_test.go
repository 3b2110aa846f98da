package source_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
)

const letters = "dead.ndjson"

// plant is what a file source works with: it survives a node.
type plant struct {
	t        fail
	s        sched.Scheduler
	text     string
	keep     bool
	backoff  time.Duration
	decode   record.Options
	breaks   int // the offset at which a read fails with errBroken; 0: nowhere
	disk     vfs.Crashable
	store    store.Store
	engine   *memory.Engine
	reader   *reader
	rejected []int // lines
	read     int64 // offset at which the last life began
	open     int   // streams
	closing  error // of a stream
	pipe     io.Reader
	idle     bool // the commit point does not run
}

var errBroken = errors.New("stream is broken")

func newPlant(t fail, s sched.Scheduler, text string) *plant {
	p := &plant{t: t, s: s, text: text, keep: true, reader: &reader{}}
	p.store, p.engine = memory.Open(s, memory.Options{})
	return p
}

// stream is what a plant reads. It may end with an error of its own.
type stream struct {
	io.Reader
	plant *plant
}

func (x stream) Close() error {
	x.plant.open--
	if pipe, ok := x.Reader.(io.Closer); ok {
		return errors.Join(x.plant.closing, pipe.Close())
	}
	return x.plant.closing
}

// Mark implements source.Stream.
func (x stream) Mark(offset int64) ([]byte, error) {
	if int64(len(x.plant.text)) < offset {
		return nil, source.ErrReplaced
	}
	sum := sha256.Sum256([]byte(x.plant.text[:offset]))
	return sum[:], nil
}

// Size implements source.Stream.
func (x stream) Size() (int64, error) { return int64(len(x.plant.text)), nil }

// live reads what a plant's text is at the time.
type live struct {
	plant *plant
	at    int64
}

func (x *live) Read(to []byte) (int, error) {
	if x.at >= int64(len(x.plant.text)) {
		return 0, io.EOF
	}
	n := copy(to, x.plant.text[x.at:])
	x.at += int64(n)
	return n, nil
}

func (p *plant) stream(offset int64) (source.Stream, error) {
	p.read = offset
	p.open++
	if p.pipe != nil {
		return stream{p.pipe, p}, nil
	}
	if p.breaks == 0 {
		return stream{&live{p, offset}, p}, nil
	}
	return stream{io.MultiReader(strings.NewReader(p.text[offset:p.breaks]), iotest.ErrReader(errBroken)), p}, nil
}

// letter is a dead letter as a reader finds it in the file.
type letter struct {
	Source, Reason, Detail, Text string
	Line                         int
	Offset                       int64
	Bytes                        []byte
}

// letters returns the dead letters. Each says where its line is and what is there.
func (p *plant) letters() []letter {
	var all []letter
	for encoded := range bytes.Lines(p.disk.Content(letters)) {
		var x letter
		if err := json.Unmarshal(encoded, &x); err != nil {
			p.t.Fatalf("dead letter %q: %v", encoded, err)
		}
		if before := p.text[:x.Offset]; strings.Count(before, "\n") != x.Line-1 || before != "" && !strings.HasSuffix(before, "\n") ||
			!strings.HasPrefix(p.text[x.Offset:], x.Text+string(x.Bytes)) || x.Text == "" == (x.Bytes == nil) {
			p.t.Fatalf("dead letter %+v is not line %d", x, x.Line)
		}
		all = append(all, x)
	}
	return all
}

// buried returns the lines of the dead letters.
func (p *plant) buried() (lines []int) {
	for _, x := range p.letters() {
		lines = append(lines, x.Line)
	}
	return lines
}

// life reads the stream to its end once.
func (p *plant) life(batch int) error { return p.lifeWithin(p.s.NewScope("node"), batch) }

// lifeWithin is a life that ends with scope, too.
func (p *plant) lifeWithin(scope *sched.Scope, batch int) error {
	first := len(p.reader.batches)
	point := sink.NewPoint(p.s, p.store, &p.disk, sink.Options{Files: []string{letters}})
	if err := point.Open(scope); err != nil {
		return err
	}
	to := relay.New[*record.Batch](p.s, "orders")
	from := to.Attach("reader", 1)
	lines, err := source.NewLines(p.s, source.LinesOptions{
		Name: "file", Schema: orders(p.t), To: to, Open: p.stream, Keep: p.keep, Point: point, Store: p.store, Batch: batch,
		Backoff: p.backoff, Decode: p.decode, Rejected: func(r *record.Rejection) { p.rejected = append(p.rejected, r.Line) },
	})
	if err != nil {
		return err
	}
	p.s.Go(scope, "reader", func() { p.reader.run(scope, from) })
	var fenced error
	if !p.idle {
		p.s.Go(scope, "point", func() { fenced = point.Run(scope) })
	}
	err = lines.Run(scope)
	from.Remove()
	point.Close()
	scope.Join()
	if p.idle {
		fenced = point.Run(scope)
	}
	if held := p.reader.held(first); held > 0 {
		p.t.Fatalf("%d batches are held", held)
	}
	return errors.Join(err, fenced)
}

func order(id string) string { return fmt.Sprintf("{\"id\":%q,\"amount\":1}\n", id) }

func TestLinesReadsToTheEndAndBuriesWhatIsMalformed(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, order("a")+"oops\n\n"+order("b")+"{\"id\":\"\xff\"}\n"+strings.TrimSpace(order("c")))
	if err := p.life(2); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.reader.orders, " "); got != "a b c" {
		t.Fatalf("orders %s", got)
	}
	if got := strings.Join(p.reader.ids, " "); got != "file/1 file/4 file/6" {
		t.Fatalf("ids %s", got)
	}
	dead := string(p.disk.Content(letters))
	for _, want := range []string{`"line":2,"offset":22,"reason":"syntax"`, `"text":"oops"`, `"line":5`, `"reason":"invalid_utf8"`, `"bytes":`} {
		if !strings.Contains(dead, want) {
			t.Fatalf("dead letters lack %s:\n%s", want, dead)
		}
	}
	// What was added since is read, and nothing twice.
	p.text += "\n" + order("d")
	if err := p.life(0); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.reader.orders, " "); got != "a b c d" || p.read == 0 || string(p.disk.Content(letters)) != dead {
		t.Fatalf("orders %s, read from %d", got, p.read)
	}
}

func TestLinesOfAStreamWithoutPosition(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, order("a")+"x\n")
	p.keep = false
	for range 2 {
		if err := p.life(0); err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(p.disk.Content(letters), []byte("\n")); len(p.reader.orders) != 2 || n != 2 {
		t.Fatalf("orders %v, %d dead letters", p.reader.orders, n)
	}
}

func TestLinesOptionsHaveRanges(t *testing.T) {
	for _, o := range []source.LinesOptions{{Batch: -1}, {Batch: sink.MaxUnitRows + 1}, {Backoff: -1}, {Decode: badOptions()}} {
		o.Schema = orders(t)
		if _, err := source.NewLines(sched.Scheduler{}, o); err == nil {
			t.Errorf("options %+v were accepted", o)
		}
	}
}

// A position that a version without marks has left is gone on from; what is no position is said.
func TestPositionOfAnEarlierVersion(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, order("a")+order("b"))
	write := func(value []byte) {
		t.Helper()
		if _, err := p.store.Write(nil, []store.Row{{Space: source.PositionSpace, Key: "file", Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	old := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(len(order("a")))), 1)
	write(old)
	if err := p.life(0); err != nil || strings.Join(p.reader.ids, " ") != "file/2" {
		t.Fatalf("ids %v, %v", p.reader.ids, err)
	}
	p.text = order("c") + order("b")
	if err := p.life(0); !errors.Is(err, source.ErrReplaced) {
		t.Fatalf("the mark is not kept from here on: %v", err)
	}
	for _, broken := range [][]byte{nil, old[:15], append(old, 0)} {
		write(broken)
		if err := p.life(0); err == nil || !strings.Contains(err.Error(), "read position of source file") {
			t.Errorf("a position of %d bytes: %v", len(broken), err)
		}
		if err := source.BeginAnew(nil, p.store, "file"); err == nil {
			t.Errorf("a position of %d bytes is begun anew", len(broken))
		}
	}
}
