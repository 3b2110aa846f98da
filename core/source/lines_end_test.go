package source_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/sim"
)

// Nobody settles the attempt, or its commit, or the point is fenced. The source ends with the cause, in the moment in which it is
// there, and has committed nothing behind it: the next life delivers every line that was not acknowledged.
func TestSimLinesEndWithTheirCause(t *testing.T) {
	sim.Check(t, "source/lines-end-with-their-cause", func(w *sim.World) {
		p := newPlant(w, w.Scheduler(), order("a")+"bad\n"+order("c"))
		var kept []*ack.Share
		want, took, rest := sched.ErrTimeout, time.Hour, []string{"a", "c"}
		switch w.Choose("cause", 3) {
		case 0:
			p.reader.judge = func(_ *record.Batch, share *ack.Share) { kept = append(kept, share) }
		case 1:
			p.idle = true
		default: // the write fails, and so does taking it back
			want, took = sink.ErrFenced, 0
			p.disk.Fail = func(op, _ string) bool { return op != "open" }
		}
		began := p.s.Now()
		err := p.lifeWithin(p.s.NewScope("node").ChildTimeout("life", time.Hour), 3)
		w.Require(errors.Is(err, want) && p.s.Now().Sub(began) == took, "source.cause", "ended with %v after %v, want %v after %v",
			err, p.s.Now().Sub(began), want, took)
		for _, share := range kept {
			share.Fail(errSink)
		}
		p.reader.judge, p.idle, p.disk.Fail, p.reader.orders = nil, false, nil, nil
		w.NoError(p.life(3))
		if took == 0 && p.read > 0 { // the first line came alone: its position needs no file
			rest = rest[1:]
		}
		w.Require(slices.Equal(p.reader.orders, rest) && slices.Equal(p.buried(), []int{2}), "source.position",
			"the next life delivered %v, dead letters %v", p.reader.orders, p.buried())
	})
}

// A read of a pipe may wait for ever. Closing the stream ends it, so the end of the scope ends the source.
func TestLinesEndWhileAReadWaits(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, "")
	read, write := io.Pipe()
	defer write.Close() //nolint:errcheck // a pipe
	p.pipe, p.keep = read, false
	scope, ended := p.s.NewScope("node"), make(chan error)
	go func() { ended <- p.lifeWithin(scope, 1) }()
	if _, err := write.Write([]byte(order("a"))); err != nil {
		t.Fatal(err)
	}
	scope.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, sched.ErrCanceled) || p.open != 0 {
			t.Errorf("ended with %v, %d streams are open", err, p.open)
		}
	case <-time.After(time.Minute):
		t.Fatal("the source did not end with its scope")
	}
}

func TestLinesTellsOfAStreamThatIsNotClosed(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, order("a"))
	p.closing = errors.New("close failed")
	if err := p.life(1); !errors.Is(err, p.closing) {
		t.Errorf("got %v", err)
	}
}

// Lines without a record are passed like others: the next life does not read them again.
func TestLinesPassesWhatIsBlank(t *testing.T) {
	p := newPlant(t, sched.Scheduler{}, "\n \n\t\n\n")
	for range 2 {
		if err := p.life(2); err != nil {
			t.Fatal(err)
		}
	}
	if p.read != int64(len(p.text)) || len(p.reader.batches) > 0 || len(p.letters()) > 0 {
		t.Errorf("the second life began at %d of %d; batches %d, dead letters %v", p.read, len(p.text), len(p.reader.batches), p.letters())
	}
}

// A batch is never larger than what the decoder takes at once, whatever was asked for.
func TestLinesBatchFitsTheDecoder(t *testing.T) {
	for _, most := range []int{1, 2, 3} {
		p := newPlant(t, sched.Scheduler{}, order("a")+order("b")+order("c")+order("d"))
		p.decode.MaxRecords = most
		if err := p.life(4); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.reader.orders, []string{"a", "b", "c", "d"}) || len(p.rejected) > 0 || len(p.reader.batches) < 4/most {
			t.Errorf("most %d: orders %v in %d batches, rejected %v", most, p.reader.orders, len(p.reader.batches), p.rejected)
		}
	}
}
