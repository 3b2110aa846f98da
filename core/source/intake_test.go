package source_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/sim"
)

var errSink = errors.New("sink failed")

// intake starts an intake with one reader.
func intake(t *testing.T, scope *sched.Scope, r *reader, change func(*source.IntakeOptions)) *source.Intake {
	t.Helper()
	s := sched.Scheduler{}
	to := relay.New[*record.Batch](s, "orders")
	from := to.Attach("reader", 4)
	s.Go(scope, "reader", func() { r.run(scope, from) })
	o := source.IntakeOptions{Name: "intake", Schema: orders(t), To: to}
	if change != nil {
		change(&o)
	}
	in, err := source.NewIntake(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestIntakeAnswersForEveryRecord(t *testing.T) {
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	r := &reader{}
	r.judge = func(b *record.Batch, share *ack.Share) {
		if b.Rows() == 3 {
			share.Duplicates(1)
		}
		share.Ack()
	}
	rejected := 0
	in := intake(t, scope, r, func(o *source.IntakeOptions) { o.Rejected = func(*record.Rejection) { rejected++ } })

	one := in.Handle(scope, source.Request{Body: []byte(`{"id":"a","amount":1}`)})
	if one.Code != source.Taken || one.Received != 1 || one.Accepted != 1 || len(one.ID) != 32 {
		t.Fatalf("one record: %+v", one)
	}
	bad := in.Handle(scope, source.Request{Body: []byte(`{"id":"a","amount":"1"}`)})
	if bad.Code != source.Malformed || len(bad.Rejected) != 1 || bad.Rejected[0].Line != 1 || bad.Rejected[0].Reason != "wrong_type" ||
		bad.Rejected[0].At != "/amount" {
		t.Fatalf("malformed record: %+v", bad)
	}
	many := in.Handle(scope, source.Request{ID: "again", Lines: true, Body: []byte(
		"{\"id\":\"b\",\"amount\":2}\n\n{\"id\":\nnot json\n{\"id\":\"c\",\"amount\":3}\n{\"id\":\"d\",\"amount\":4}")})
	if many.Code != source.Partly || many.Received != 5 || many.Accepted != 2 || many.Duplicates != 1 || len(many.Rejected) != 2 {
		t.Fatalf("many records: %+v", many)
	}
	if many.Rejected[0].Line != 3 || many.Rejected[1].Line != 4 || rejected != 3 {
		t.Fatalf("rejected %+v, counted %d", many.Rejected, rejected)
	}
	if none := in.Handle(scope, source.Request{Lines: true}); none.Code != source.Taken || none.Received != 0 {
		t.Fatalf("no record: %+v", none)
	}
	if !slices.Equal(r.orders, []string{"a", "b", "c", "d"}) {
		t.Fatalf("orders %v", r.orders)
	}
	if want := []string{"intake/again/1", "intake/again/5", "intake/again/6"}; !slices.Equal(r.ids[1:], want) {
		t.Fatalf("ids %v", r.ids)
	}
}

func TestIntakeRefuses(t *testing.T) {
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	refuse := error(nil)
	r := &reader{judge: func(_ *record.Batch, share *ack.Share) { share.Fail(errSink) }}
	in := intake(t, scope, r, func(o *source.IntakeOptions) {
		o.Refuse = func() error { return refuse }
		o.Decode.MaxLineBytes, o.Decode.MaxBodyBytes = 64, 64
	})
	record := source.Request{Body: []byte(`{"id":"a","amount":1}`)}
	if got := in.Handle(scope, record); got.Code != source.Failed || !errors.Is(got.Cause, errSink) {
		t.Fatalf("a sink that fails: %+v", got)
	}
	if got := in.Handle(scope, source.Request{Lines: true, Body: make([]byte, 65)}); got.Code != source.TooLarge {
		t.Fatalf("a large body: %+v", got)
	}
	for _, id := range []string{"a b", "ä", "a/b", strings.Repeat("x", source.MaxIDBytes+1)} {
		if got := in.Handle(scope, source.Request{ID: id}); got.Code != source.BadID || got.Error == "" {
			t.Fatalf("id %q: %+v", id, got)
		}
	}
	refuse = fmt.Errorf("disk: %w", source.ErrFull)
	if got := in.Handle(scope, record); got.Code != source.Refused || !errors.Is(got.Cause, source.ErrFull) {
		t.Fatalf("a full disk: %+v", got)
	}
	if _, err := source.NewIntake(sched.Scheduler{}, source.IntakeOptions{Schema: orders(t), Decode: badOptions()}); err == nil {
		t.Fatal("decode options out of range were accepted")
	}
}

func badOptions() record.Options { return record.Options{MaxDepth: -1} }

// Attempts of a sequential intake follow each other, and one that nobody settles ends with an unknown outcome.
func TestSimIntakeIsSequentialAndBounded(t *testing.T) {
	sim.Check(t, "source/sequential-and-bounded", func(w *sim.World) {
		s := w.Scheduler()
		to := relay.New[*record.Batch](s, "orders")
		from := to.Attach("reader", 4)
		in, err := source.NewIntake(s, source.IntakeOptions{
			Name: "intake", Schema: orders(w), To: to, Sequential: true, Timeout: time.Minute,
		})
		w.NoError(err)
		open := 0
		r := &reader{judge: func(b *record.Batch, share *ack.Share) {
			open++
			w.Require(open == 1, "source.sequential", "%d attempts are open", open)
			if b.Row(0).Value(0).Text() == "silent" {
				return
			}
			s.Yield()
			open--
			share.Ack()
		}}
		scope := s.NewScope("reader")
		s.Go(scope, "reader", func() { r.run(scope, from) })
		for _, id := range []string{"a", "b", "c"} {
			w.Go("client", func() {
				got := in.Handle(w.Scope(), source.Request{Body: []byte(`{"id":"` + id + `","amount":1}`)})
				w.Require(got.Code == source.Taken, "source.taken", "%+v", got)
			})
		}
		w.Join()
		began := s.Now()
		got := in.Handle(w.Scope(), source.Request{Body: []byte(`{"id":"silent","amount":1}`)})
		w.Require(got.Code == source.Unknown && errors.Is(got.Cause, source.ErrTimeout) && s.Now().Sub(began) == time.Minute,
			"source.timeout", "%+v after %v", got, s.Now().Sub(began))
		from.Remove()
		scope.Join()
	})
}
