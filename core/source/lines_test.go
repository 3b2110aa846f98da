package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

const letters = "dead.ndjson"

// plant is what a file source works with: it survives a node.
type plant struct {
	t       fail
	s       sched.Scheduler
	text    string
	keep    bool
	backoff time.Duration
	disk    vfs.Crashable
	store   store.Store
	engine  *memory.Engine
	reader  *reader
	read    int64 // offset at which the last life began
}

func newPlant(t fail, s sched.Scheduler, text string) *plant {
	p := &plant{t: t, s: s, text: text, keep: true, reader: &reader{}}
	p.store, p.engine = memory.Open(s, memory.Options{})
	return p
}

func (p *plant) open(offset int64) (io.ReadCloser, error) {
	p.read = offset
	return io.NopCloser(strings.NewReader(p.text[offset:])), nil
}

// life reads the stream to its end once.
func (p *plant) life(batch int) error {
	scope := p.s.NewScope("node")
	point := sink.NewPoint(p.s, p.store, &p.disk, sink.Options{Files: []string{letters}})
	if err := point.Open(scope); err != nil {
		return err
	}
	to := relay.New[*record.Batch](p.s, "orders")
	from := to.Attach("reader", 1)
	lines, err := source.NewLines(p.s, source.LinesOptions{
		Name: "file", Schema: orders(p.t), To: to, Open: p.open, Keep: p.keep, Point: point, Store: p.store, Batch: batch,
		Backoff: p.backoff,
	})
	if err != nil {
		return err
	}
	p.s.Go(scope, "reader", func() { p.reader.run(scope, from) })
	var fenced error
	p.s.Go(scope, "point", func() { fenced = point.Run(scope) })
	err = lines.Run(scope)
	from.Remove()
	point.Close()
	scope.Join()
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

// An attempt fails a few times. It is repeated with growing waits and the same ids, and nothing behind it overtakes it.
func TestSimLinesRepeatsWhatFailed(t *testing.T) {
	sim.Check(t, "source/lines-repeat-what-failed", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), order("a")+order("b"))
		p.backoff = time.Second
		failures := w.Choose("failures", 4)
		want := time.Duration(1<<failures-1) * time.Second
		p.reader.judge = func(_ *record.Batch, share *ack.Share) {
			if failures > 0 {
				failures--
				share.Fail(errSink)
				return
			}
			share.Ack()
		}
		began := p.s.Now()
		w.NoError(p.life(1))
		ids := strings.Join(p.reader.ids, " ")
		w.Require(p.s.Now().Sub(began) == want && strings.HasSuffix(ids, "file/1 file/2") && !strings.Contains(ids, "file/2 file/1"),
			"source.repeat", "ids %s after %v, want %v", ids, p.s.Now().Sub(began), want)
	})
}

// The node crashes anywhere and starts again. Every line comes at least once with its one id, every malformed line is
// a dead letter exactly once, and a line behind a committed position never comes again.
func TestSimLinesCrashAnywhere(t *testing.T) {
	sim.Check(t, "source/lines-crash-anywhere", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), order("1")+"bad\n"+order("3")+"bad\n"+order("5"))
		n := w.Node("node")
		n.Go("life", func() { w.NoError(p.life(2)) })
		for range w.Choose("steps before the crash", 80) {
			w.Scheduler().Yield()
		}
		n.Crash()
		p.engine.Crash()
		p.disk.Crash(w.Choose)
		w.Node("node").Go("life", func() {
			w.NoError(p.life(2))
			before := len(p.reader.orders)
			w.NoError(p.life(2))
			w.Require(len(p.reader.orders) == before, "source.position", "lines came again: %v", p.reader.orders)
		})
		w.Join()
		for _, id := range []string{"1", "3", "5"} {
			w.Require(strings.Contains(strings.Join(p.reader.orders, " "), id), "source.once", "line %s is missing in %v", id, p.reader.orders)
		}
		for i, id := range p.reader.ids {
			w.Require(id == "file/"+p.reader.orders[i], "source.id", "line %s came as %s", p.reader.orders[i], id)
		}
		dead := p.disk.Content(letters)
		w.Require(bytes.Count(dead, []byte("\n")) == 2 && bytes.Count(dead, []byte(`"line":2,`)) == 1,
			"source.dead", "dead letters %s", dead)
	}, sim.Runs(200))
}
