package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// The first of its kind passes, then one in a while with the number of those between; kinds do not hold each other up, and their number
// is bounded.
func TestPaceLetsOneOfManyThrough(t *testing.T) {
	now := time.Unix(1000, 0)
	p := newPace(sched.Scheduler{}, "pace")
	p.now = func() time.Time { return now }
	want := func(kind string, others int, ok bool) {
		t.Helper()
		if n, passed := p.pass(kind); n != others || passed != ok {
			t.Errorf("%s passes: %v with %d others, want %v with %d", kind, passed, n, ok, others)
		}
	}
	want("a", 0, true)
	for range 3 {
		want("a", 0, false)
	}
	want("b", 0, true)
	now = now.Add(paceInterval - 1)
	want("a", 0, false)
	now = now.Add(1)
	want("a", 4, true)
	want("a", 0, false)
	for i := range 2 * maxPaced {
		p.pass(fmt.Sprint("kind ", i))
	}
	if len(p.seen) != maxPaced+1 {
		t.Errorf("%d kinds are told apart", len(p.seen))
	}
	want("another", 0, false) // with the others that are beyond the bound
}
