package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source"
	"github.com/millrace-dev/millrace/core/source/web"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestRequestsAndResponses(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	schema, err := record.NewSchema("order", []record.Field{{Name: "id", Type: record.String}})
	if err != nil {
		t.Fatal(err)
	}
	var refuse error
	in, err := source.NewIntake(s, source.IntakeOptions{
		Name: "intake", Schema: schema, To: relay.New[*record.Batch](s, "orders"), Refuse: func() error { return refuse },
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := web.Handler(scope, in, 64)
	const good, bad = `{"id":"a"}`, `{"id":1}`
	for _, x := range []struct {
		name, method, kind, key, body string
		refuse                        error
		status, accepted, rejected    int
	}{
		{name: "record", kind: "application/json; charset=utf-8", body: good, status: 200, accepted: 1},
		{name: "malformed record", kind: "application/json", body: bad, status: 400, rejected: 1},
		{name: "no record", kind: "application/json", status: 400, rejected: 1},
		{name: "lines", kind: "application/x-ndjson", body: good + "\n" + good + "\n", status: 200, accepted: 2},
		{name: "some malformed", kind: "application/jsonl", body: good + "\n" + bad + "\n", status: 207, accepted: 1, rejected: 1},
		{name: "all malformed", kind: "application/ndjson", body: bad + "\n" + bad, status: 400, rejected: 2},
		{name: "another type", kind: "application/x-www-form-urlencoded", body: good, status: 415},
		{name: "another charset", kind: "application/json; charset=latin1", body: good, status: 415},
		{name: "no type", body: good, status: 415},
		{name: "another method", method: "PUT", kind: "application/json", body: good, status: 405},
		{name: "too large", kind: "application/x-ndjson", body: strings.Repeat(" ", 65), status: 413},
		{name: "a key", kind: "application/json", key: "a", body: good, status: 200, accepted: 1},
		{name: "bad key", kind: "application/json", key: "a b", body: good, status: 400},
		{name: "the same key twice", kind: "application/json", key: "a,a", body: good, status: 400},
		{name: "full", kind: "application/json", body: good, refuse: source.ErrFull, status: 507},
		{name: "not ready", kind: "application/json", body: good, refuse: source.ErrUnready, status: 503},
	} {
		refuse = x.refuse
		if x.method == "" {
			x.method = http.MethodPost
		}
		r := httptest.NewRequest(x.method, "/orders", strings.NewReader(x.body))
		r.Header.Set("Content-Type", x.kind)
		if x.key != "" {
			r.Header[web.KeyHeader] = strings.Split(x.key, ",")
		}
		w := httptest.NewRecorder()
		handler(w, r)
		var reply source.Reply
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatalf("%s: %v in %s", x.name, err, w.Body)
		}
		if w.Code != x.status || reply.Accepted != x.accepted || len(reply.Rejected) != x.rejected {
			t.Errorf("%s: status %d, %s", x.name, w.Code, w.Body)
		}
		if w.Code >= 400 && reply.Error == "" && x.rejected == 0 {
			t.Errorf("%s: refused without a reason: %s", x.name, w.Body)
		}
		if retry := w.Header().Get("Retry-After"); (retry != "") != (w.Code == 503 || w.Code == 507) {
			t.Errorf("%s: status %d with Retry-After %q", x.name, w.Code, retry)
		}
	}
}

func TestStatusOfAnAttempt(t *testing.T) {
	for code, want := range map[source.Code]int{source.Failed: 503, source.Unknown: 504, source.TooLarge: 413} {
		if got := web.Status(source.Reply{Code: code, Cause: errors.New("x")}); got != want {
			t.Errorf("code %d: status %d, want %d", code, got, want)
		}
	}
}

// Several records in a body that is one are told how to come; what is wrong with one record is said of it alone.
func TestSeveralRecordsAsOneAreAdvised(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	schema, err := record.NewSchema("order", []record.Field{{Name: "id", Type: record.String}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := source.NewIntake(s, source.IntakeOptions{Name: "intake", Schema: schema, To: relay.New[*record.Batch](s, "orders")})
	if err != nil {
		t.Fatal(err)
	}
	const advice = "with application/x-ndjson one a line"
	for _, x := range []struct {
		kind, body string
		advised    bool
	}{
		{"application/json", `[{"id":"a"},{"id":"b"}]`, true},
		{"application/json", `{"id":"a"}` + "\n" + `{"id":"b"}`, true},
		{"application/json", `{"id":1}`, false},
		{"application/x-ndjson", `[{"id":"a"},{"id":"b"}]`, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(x.body))
		r.Header.Set("Content-Type", x.kind)
		w := httptest.NewRecorder()
		web.Handler(scope, in, 1<<10)(w, r)
		if got := w.Body.String(); w.Code != http.StatusBadRequest || strings.Contains(got, advice) != x.advised || strings.Contains(got, "one per line") {
			t.Errorf("%s %s: status %d, %s", x.kind, x.body, w.Code, got)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(strings.Repeat("x", 2000)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if web.Handler(scope, in, 1<<10)(w, r); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "1024 bytes") {
		t.Errorf("too large: status %d, %s", w.Code, w.Body)
	}
}
