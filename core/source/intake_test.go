package source_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source"
	"pgregory.net/rapid"
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
	told := source.Reply{}
	in := intake(t, scope, r, func(o *source.IntakeOptions) {
		o.Refuse = func() error { return refuse }
		o.Replied = func(r source.Reply) { told = r }
		o.Decode.MaxLineBytes, o.Decode.MaxBodyBytes = 64, 64
	})
	record := source.Request{Body: []byte(`{"id":"a","amount":1}`)}
	if got := in.Handle(scope, record); got.Code != source.Failed || !errors.Is(got.Cause, errSink) {
		t.Fatalf("a sink that fails: %+v", got)
	}
	if got := in.Handle(scope, source.Request{Lines: true, Body: make([]byte, 65)}); got.Code != source.TooLarge {
		t.Fatalf("a large body: %+v", got)
	}
	for _, id := range []string{"a b", "ä", "a/b", "\x7f", "\n", strings.Repeat("x", source.MaxIDBytes+1)} {
		if got := in.Handle(scope, source.Request{ID: id}); got.Code != source.BadID || got.Error == "" {
			t.Fatalf("id %q: %+v", id, got)
		}
	}
	for _, id := range []string{"!", "~", ".", "0", strings.Repeat("x", source.MaxIDBytes)} {
		if got := in.Handle(scope, source.Request{ID: id, Lines: true}); got.Code != source.Taken || got.ID != id {
			t.Fatalf("id %q: %+v", id, got)
		}
	}
	refuse = fmt.Errorf("disk: %w", source.ErrFull)
	if got := in.Handle(scope, record); got.Code != source.Refused || !errors.Is(got.Cause, source.ErrFull) || told.Code != got.Code {
		t.Fatalf("a full disk: %+v, told %+v", got, told)
	}
	if _, err := source.NewIntake(sched.Scheduler{}, source.IntakeOptions{Schema: orders(t), Decode: badOptions()}); err == nil {
		t.Fatal("decode options out of range were accepted")
	}
}

func badOptions() record.Options { return record.Options{MaxDepth: -1} }

// bodyLines are what a line of a body may be, and what becomes of it.
var bodyLines = map[string]string{
	"new": `{"id":"new","amount":1}`, "known": `{"id":"known","amount":1}`, "failing": `{"id":"failing","amount":1}`,
	"malformed": `{"id":`, "wrong type": `{"id":"x","amount":"1"}`, "blank": " \t",
}

// answer is the reference of a reply to lines of these kinds, and the lines of the rows that are published.
func answer(kinds []string) (want source.Reply, published []int) {
	for i, kind := range kinds {
		switch kind {
		case "blank":
			continue
		case "malformed", "wrong type":
			want.Rejected = append(want.Rejected, source.Refusal{Line: i + 1})
		case "known":
			want.Duplicates++
			published = append(published, i+1)
		default:
			published = append(published, i+1)
		}
		want.Received++
	}
	switch {
	case slices.Contains(kinds, "failing"):
		want.Code, want.Duplicates = source.Failed, 0
		return want, published
	case len(want.Rejected) == 0:
		want.Code = source.Taken
	case len(published) == 0:
		want.Code = source.Malformed
	default:
		want.Code = source.Partly
	}
	want.Accepted = len(published) - want.Duplicates
	return want, published
}

// Whatever lines a body has, the reply accounts for each, what is well-formed is published with the id of its line, and
// whoever counts is told the same.
func TestIntakeAnswersForAnyBody(t *testing.T) {
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	r := &reader{}
	r.judge = func(b *record.Batch, share *ack.Share) {
		known, err := 0, error(nil)
		for row := range b.Rows() {
			switch orderOf(b, row) {
			case "known":
				known++
			case "failing":
				err = errSink
			}
		}
		share.Duplicates(known)
		if err != nil {
			share.Fail(err)
			return
		}
		share.Ack()
	}
	rejected, told := 0, source.Reply{}
	in := intake(t, scope, r, func(o *source.IntakeOptions) {
		o.Rejected = func(*record.Rejection) { rejected++ }
		o.Replied = func(r source.Reply) { told = r }
	})
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(bodyLines))), 0, 5).Draw(t, "kinds")
		texts := make([]string, len(kinds))
		for i, kind := range kinds {
			texts[i] = bodyLines[kind]
		}
		body := strings.Join(texts, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		rejected, r.ids = 0, nil
		got := in.Handle(scope, source.Request{ID: "r", Lines: true, Body: []byte(body)})
		want, published := answer(kinds)
		if got.Code != want.Code || got.Received != want.Received || got.Accepted != want.Accepted ||
			got.Duplicates != want.Duplicates || len(got.Rejected) != len(want.Rejected) || rejected != len(want.Rejected) {
			t.Fatalf("%q: %+v, %d rejected, want %+v", body, got, rejected, want)
		}
		for i, x := range want.Rejected {
			if got.Rejected[i].Line != x.Line || got.Rejected[i].Detail == "" {
				t.Fatalf("%q: rejected %+v, want line %d", body, got.Rejected[i], x.Line)
			}
		}
		if told.Code != got.Code || told.ID != got.ID || (got.Code == source.Failed) != errors.Is(got.Cause, errSink) {
			t.Fatalf("%q: %+v, told %+v", body, got, told)
		}
		for i, line := range published {
			if want := fmt.Sprintf("intake/r/%d", line); len(r.ids) != len(published) || r.ids[i] != want {
				t.Fatalf("%q: published as %v, want lines %v", body, r.ids, published)
			}
		}
	})
}
