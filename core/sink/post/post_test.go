package post_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/post"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestPostSaysWhatTheAnswerMeans(t *testing.T) {
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	status := http.StatusOK
	var body, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body, key = string(text), r.Header.Get("Idempotency-Key")
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer server.Close()
	c := post.NewClient(server.URL, time.Minute)
	defer c.Close()
	for _, x := range []struct {
		status int
		want   sink.Verdict
	}{
		{200, sink.Accepted},
		{204, sink.Accepted},
		{408, sink.Again},
		{429, sink.Again},
		{500, sink.Again},
		{503, sink.Again},
		{400, sink.Never},
		{401, sink.Never},
		{403, sink.Never},
		{404, sink.Never},
		{302, sink.Never},
	} {
		status = x.status
		got, err := c.Post(scope, []byte("{}\n"), "name")
		if got != x.want || (err == nil) != (got == sink.Accepted) {
			t.Errorf("status %d: %d, %v", x.status, got, err)
		}
	}
	if body != "{}\n" || key != "name" {
		t.Fatalf("the server got %q as %q", body, key)
	}
	server.Close()
	if got, err := c.Post(scope, nil, ""); got != sink.Again || err == nil {
		t.Fatalf("nobody listens: %d, %v", got, err)
	}
}

func TestPostThatIsNotAnsweredInTimeMayBeSentAgain(t *testing.T) {
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	c := post.NewClient(server.URL, time.Millisecond)
	defer c.Close()
	if got, err := c.Post(scope, nil, ""); got != sink.Again || err == nil {
		t.Fatalf("%d, %v", got, err)
	}
}

func TestKeyIsThatOfTheRows(t *testing.T) {
	ids := relay.LineIDs("d", []int32{1, 2, 3})
	a, b := post.Key(ids, []int32{0, 1}), post.Key(ids.Select([]int32{0, 1}), []int32{0, 1})
	if a != b || a == post.Key(ids, []int32{1, 2}) {
		t.Fatalf("%s %s", a, b)
	}
}
