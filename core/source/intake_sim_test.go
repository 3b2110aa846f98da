package source_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/sim"
)

// station is an intake whose deliveries are settled by tasks of their own, so that nothing but the intake keeps attempts
// apart. What becomes of a delivery stands in the id of its order.
type station struct {
	w      *sim.World
	in     *source.Intake
	from   *relay.Consumer[*record.Batch]
	scope  *sched.Scope
	reader *reader
	// settle ends a delivery. It is a task's body.
	settle func(id string, share *ack.Share)
	// came is told of a delivery before that.
	came func(id string)
}

func newStation(w *sim.World, sequential bool) *station {
	s := w.Scheduler()
	x := &station{w: w, scope: s.NewScope("reader"), came: func(string) {}}
	to := relay.New[*record.Batch](s, "orders")
	x.from = to.Attach("reader", 4)
	in, err := source.NewIntake(s, source.IntakeOptions{
		Name: "intake", Schema: orders(w), To: to, Sequential: sequential, Timeout: time.Minute,
	})
	w.NoError(err)
	x.in = in
	x.reader = &reader{judge: func(b *record.Batch, share *ack.Share) {
		id := orderOf(b, 0)
		x.came(id)
		s.Go(x.scope, "settle", func() { x.settle(id, share) })
	}}
	s.Go(x.scope, "reader", func() { x.reader.run(x.scope, x.from) })
	return x
}

// send requires the code that an order with this id is answered with, and returns how long that took.
func (x *station) send(id string, want source.Code) time.Duration {
	began := x.w.Scheduler().Now()
	got := x.in.Handle(x.w.Scope(), source.Request{Body: []byte(order(id))})
	x.w.Require(got.Code == want, "source.code", "order %s: %+v", id, got)
	x.w.Require((want == source.Unknown) == errors.Is(got.Cause, source.ErrTimeout), "source.code", "order %s: %+v", id, got)
	return x.w.Scheduler().Now().Sub(began)
}

// stop ends the reader, and requires that no attempt left a batch or a timer behind.
func (x *station) stop() {
	x.from.Remove()
	x.scope.Join()
	x.w.Require(x.reader.held(0) == 0, "source.held", "%d batches are held", x.reader.held(0))
	x.w.Require(!x.w.Fire("attempt of intake"), "source.held", "the time of an attempt that was answered goes on")
}

// Attempts of a sequential intake follow each other, however one ends; one that nobody settles ends with an unknown
// outcome when its time is over, and the next one has its turn then.
func TestSimIntakeIsSequentialAndBounded(t *testing.T) {
	sim.Check(t, "source/sequential-and-bounded", func(w *sim.World) {
		x, open := newStation(w, true), 0
		x.came = func(id string) {
			w.Require(open == 0, "source.sequential", "%s comes while %d attempts are open", id, open)
			open++
		}
		x.settle = func(id string, share *ack.Share) {
			open-- // the answer is on its way
			switch id {
			case "silent":
			case "failing":
				share.Fail(errSink)
			default:
				share.Ack()
			}
		}
		w.Go("client", func() { x.send("a", source.Taken) })
		w.Go("client", func() { x.send("failing", source.Failed) })
		w.Go("client", func() { x.send("b", source.Taken) })
		w.Join()
		w.Go("client", func() {
			took := x.send("silent", source.Unknown)
			w.Require(took == time.Minute, "source.timeout", "unknown after %v", took)
		})
		w.NoError(w.Scheduler().Sleep(w.Scope(), "pause", 30*time.Second))
		took := x.send("c", source.Taken)
		w.Require(took == 30*time.Second, "source.timeout", "the one behind it was taken after %v", took)
		w.Join()
		x.stop()
	})
}

// Attempts of any other intake overlap: one that waits for a later one is no reason to wait.
func TestSimIntakeAttemptsOverlap(t *testing.T) {
	sim.Check(t, "source/attempts-overlap", func(w *sim.World) {
		x := newStation(w, false)
		second := sched.NewNotify(w.Scheduler(), "second came")
		x.settle = func(id string, share *ack.Share) {
			if id == "second" {
				second.One()
			} else {
				w.NoError(second.Wait(w.Scope()))
			}
			share.Ack()
		}
		w.Go("client", func() { x.send("first", source.Taken) })
		w.Go("client", func() { x.send("second", source.Taken) })
		w.Join()
		x.stop()
	})
}
