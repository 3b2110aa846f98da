package relay_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/relay"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// Every edge of the specification's graph is taken by a queue: with and without room, while somebody sleeps on either side, closed,
// and with another capacity.
func TestTraceC6Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "C6/sequences-of-the-specification", plan, followQueue)
}

func followQueue(w *sim.World, each func(do func(spec.Call))) {
	s := w.Scheduler()
	spec.AttachAlways(w)
	q := relay.NewQueue[int](s, "q", 1)
	w.Own(q)
	var receiver *sched.Scope
	pushers := map[int]*sched.Scope{}
	got := map[int]bool{}
	ends := func(err error) {
		w.Require(err == nil || errors.Is(err, relay.ErrClosed) || errors.Is(err, errStop), "C6.sequence", "%v", err)
	}
	// One task receives, each time within a scope of its own.
	orders := sched.NewChan[*sched.Scope](s, "orders", 1)
	w.Go("receive", func() {
		for scope, open := orders.Receive(); open; scope, open = orders.Receive() {
			v, err := q.Receive(scope, nil)
			ends(err)
			w.Require(err != nil || !got[v], "C6.sequence", "%d is received twice", v)
			got[v] = err == nil
		}
	})
	each(func(c spec.Call) {
		switch c.Name {
		case "push":
			scope := w.Scope().Child("push")
			pushers[c.N] = scope
			w.Go("push", func() { ends(q.Push(scope, c.N)) })
		case "try":
			w.Go("try", func() {
				ok, err := q.TryPush(c.N)
				w.Require(!ok && err == nil, "C6.sequence", "%v, %v", ok, err)
			})
		case "giveUp":
			pushers[c.N].Cancel(errStop)
		case "receive":
			receiver = w.Scope().Child("receive")
			orders.Send(receiver)
		case "stop":
			receiver.Cancel(errStop)
		case "close":
			q.Close()
		default:
			q.Resize(c.N)
		}
		w.NoError(s.Sleep(w.Scope(), "until everybody waits", time.Millisecond))
	})
	if receiver != nil {
		receiver.Cancel(errStop)
	}
	for _, scope := range pushers { //order:each has ended or is asleep
		scope.Cancel(errStop)
	}
	orders.Close()
	w.Join()
}
