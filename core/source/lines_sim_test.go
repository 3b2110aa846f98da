package source_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/sim"
)

// An attempt fails a few times, and then the commit of its position. Each is repeated with growing waits, up to 64 times the
// first; the attempt with the same ids, and not again for the commit. Nothing behind it overtakes it.
func TestSimLinesRepeatsWhatFailed(t *testing.T) {
	sim.Check(t, "source/lines-repeat-what-failed", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), "bad\n"+order("a")+order("b"))
		p.backoff = time.Second
		attempts := [...]int{0, 1, 3, 9}[w.Choose("failed attempts", 4)]
		commits := [...]int{0, 2, 8}[w.Choose("failed commits", 3)]
		want := waits(attempts) + waits(commits)
		apart := append(slices.Repeat([]string{"file/2"}, attempts+1), "file/3")
		together := slices.Repeat([]string{"file/2", "file/3"}, attempts+1)
		p.reader.judge = func(_ *record.Batch, share *ack.Share) {
			if attempts > 0 {
				attempts--
				share.Fail(errSink)
				return
			}
			share.Ack()
		}
		p.disk.Fail = func(op, _ string) bool {
			fails := op == "write" && commits > 0
			if fails {
				commits--
			}
			return fails
		}
		began := p.s.Now()
		w.NoError(p.life(2))
		took := p.s.Now().Sub(began)
		w.Require(took == want && (slices.Equal(p.reader.ids, apart) || slices.Equal(p.reader.ids, together)), "source.repeat",
			"ids %v after %v, want %v or %v after %v", p.reader.ids, took, apart, together, want)
		w.Require(slices.Equal(p.buried(), []int{1}) && slices.Equal(p.rejected, []int{1}), "source.dead",
			"dead letters %v, told of %v", p.buried(), p.rejected)
	})
}

// waits is how long failures of one thing hold it up, with a first wait of a second.
func waits(failures int) (sum time.Duration) {
	for i := range failures {
		sum += time.Second << min(i, 6)
	}
	return sum
}

// Lines that are records, malformed, blank and too long, several for each buffer of the reader.
var mixed = order("1") + "bad\n" + order("3") + " \n" + strings.Repeat("x", 100) + "\n" + order("6") + "\xff\n" + order("8")

// The node crashes anywhere and starts again. Every line comes at least once with its one id, every malformed line is
// a dead letter exactly once, and a line behind a committed position never comes again.
func TestSimLinesCrashAnywhere(t *testing.T) {
	sim.Check(t, "source/lines-crash-anywhere", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), mixed)
		p.decode.MaxLineBytes = record.MinMaxLineBytes
		n := w.Node("node")
		n.Go("life", func() { w.NoError(p.life(2)) })
		for range w.Choose("steps before the crash", 120) {
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
		for _, id := range []string{"1", "3", "6", "8"} {
			w.Require(slices.Contains(p.reader.orders, id), "source.once", "line %s is missing in %v", id, p.reader.orders)
		}
		for i, id := range p.reader.ids {
			w.Require(id == "file/"+p.reader.orders[i], "source.id", "line %s came as %s", p.reader.orders[i], id)
		}
		w.Require(slices.Equal(p.buried(), []int{2, 5, 7}), "source.dead", "dead letters %+v", p.letters())
		for _, line := range p.rejected {
			w.Require(slices.Contains([]int{2, 5, 7}, line), "source.dead", "told of %v", p.rejected)
		}
	}, sim.Runs(200))
}

// A stream fails anywhere. The source ends with the stream's error, after every line that came whole was delivered and
// committed: a stream without a position cannot be asked for it again. With a position the next life reads the rest.
func TestSimLinesOfABrokenStream(t *testing.T) {
	sim.Check(t, "source/lines-of-a-broken-stream", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), order("1")+"bad\n"+order("3")+order("4"))
		p.keep = w.Choose("keep", 2) == 1
		p.breaks = 1 + w.Choose("where", len(p.text))
		batch := 1 + w.Choose("batch", 4)
		err := p.life(batch)
		w.Require(errors.Is(err, errBroken), "source.stream", "ended with %v", err)
		whole := strings.Count(p.text[:p.breaks], "\n")
		came := slices.DeleteFunc([]string{"1", "2", "3", "4"}[:whole], func(id string) bool { return id == "2" })
		w.Require(slices.Equal(p.reader.orders, came) && len(p.letters()) == min(1, whole/2), "source.broken",
			"%d lines came, delivered %v, dead letters %+v", whole, p.reader.orders, p.letters())
		if p.keep {
			p.breaks = 0
			w.NoError(p.life(batch))
			w.Require(slices.Equal(p.reader.orders, []string{"1", "3", "4"}) && len(p.letters()) == 1, "source.broken",
				"in all delivered %v, dead letters %+v", p.reader.orders, p.letters())
		}
		w.Require(p.open == 0, "source.stream", "%d streams are open", p.open)
	})
}

// Somebody rewrites the stream while it is read, or between two lives. The source ends with that, in this life or at the begin of the
// next one, and goes on only when somebody says that it begins anew: then every line of what is there comes, under ids of its own.
func TestSimLinesOfARewrittenStream(t *testing.T) {
	sim.Check(t, "source/lines-of-a-rewritten-stream", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), order("1")+order("2")+order("3"))
		other := order("4") + order("5") + order("6") + order("7")
		w.Go("life", func() {
			err := p.life(1 + w.Choose("batch", 3))
			w.Require(err == nil || errors.Is(err, source.ErrReplaced), "source.rewritten", "the first life ended with %v", err)
		})
		w.Go("rewrite", func() {
			for range w.Choose("steps before", 60) {
				w.Scheduler().Yield()
			}
			p.text = other
		})
		w.Join()
		before := len(p.reader.orders)
		if at, err := source.ReadPosition(nil, p.store, "file"); err != nil || at.Offset == 0 || p.reader.orders[0] == "4" {
			w.NoError(err)
			return // it was rewritten before anything of it was done
		}
		err := p.life(1)
		w.Require(errors.Is(err, source.ErrReplaced) && len(p.reader.orders) == before, "source.rewritten",
			"the second life ended with %v and delivered %v", err, p.reader.orders[before:])
		w.NoError(source.BeginAnew(nil, p.store, "file"))
		w.NoError(p.life(1))
		w.NoError(p.life(1))
		w.Require(slices.Equal(p.reader.orders[before:], []string{"4", "5", "6", "7"}), "source.anew", "anew came %v", p.reader.orders[before:])
		w.Require(slices.Equal(p.reader.ids[before:], []string{"file~1/1", "file~1/2", "file~1/3", "file~1/4"}), "source.anew", "under the ids %v",
			p.reader.ids[before:])
	})
}
