package relay_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/relay"
)

// sink is a consumer that keeps what it received and acknowledges it.
type sink struct {
	w        *sim.World
	consumer *relay.Consumer[rows]
	got      []int
}

// take receives n deliveries, or all until the consumer is removed when n is negative.
func (k *sink) take(n int) {
	for len(k.got) != n {
		d, err := k.consumer.Receive(k.w.Scope(), nil)
		if n < 0 && errors.Is(err, relay.ErrClosed) {
			return
		}
		k.w.NoError(err)
		k.got = append(k.got, d.Rows.id)
		d.Rows.Release()
		d.Share.Ack()
	}
}

// publish is one attempt: the batch id to everybody attached.
func publish(w *sim.World, r *relay.Relay[rows], id int) (*ack.Reply, error) {
	reply := ack.NewReply(w.Scheduler())
	root := ack.New(w.Scheduler(), reply)
	err := r.Publish(w.Scope(), root, batch(w.Scheduler(), id))
	root.Ack()
	return reply, err
}

func (k *sink) inOrder(publishers int) {
	last := make([]int, publishers)
	for _, id := range k.got {
		p := id / 10
		k.w.Require(id > last[p], "C6.order", "%s received %v", k.consumer.Name(), k.got)
		last[p] = id
	}
}

// Two publishers and two consumers with room for one: everybody receives everything, each publisher's batches in
// their order, and every attempt succeeds.
func TestSimC6EveryConsumerGetsEveryBatchInOrder(t *testing.T) {
	sim.Check(t, "C6/every-consumer-gets-every-batch-in-order", func(w *sim.World) {
		r := relay.New[rows](w.Scheduler(), "orders")
		w.Own(r)
		sinks := make([]*sink, 2)
		for i, name := range []string{"a", "b"} {
			sinks[i] = &sink{w: w, consumer: r.Attach(name, 1)}
		}
		for p := range 2 {
			w.Go("publish", func() {
				for i := 1; i <= 2; i++ {
					reply, err := publish(w, r, p*10+i)
					w.NoError(err)
					o, err := reply.Wait(w.Scope())
					w.NoError(err)
					w.NoError(o.Err)
				}
			})
		}
		w.Go("consume", func() { sinks[0].take(4) })
		sinks[1].take(4)
		w.Join()
		for _, k := range sinks {
			k.inOrder(2)
		}
	})
}

// Consumers come and go while batches are published. Each batch reserves as many shares as it has deliveries, so
// every attempt ends, and what was handed over is received.
func TestSimC6SharesEqualTheSnapshot(t *testing.T) {
	sim.Check(t, "C6/shares-equal-the-snapshot", snapshots)
}

func snapshots(w *sim.World) {
	spec.Attach(w)
	r := relay.New[rows](w.Scheduler(), "orders")
	w.Own(r)
	leaving := &sink{w: w, consumer: r.Attach("leaving", 1)}
	w.Go("consume", func() { leaving.take(-1) })
	w.Go("change", func() {
		coming := &sink{w: w, consumer: r.Attach("coming", 1)}
		leaving.consumer.Remove()
		w.Go("consume", func() { coming.take(-1) })
		coming.consumer.Remove()
	})
	for i := 1; i <= 2; i++ {
		reply, err := publish(w, r, i)
		w.Require(err == nil || errors.Is(err, relay.ErrRemoved), "C6.publish", "%v", err)
		_, err = reply.Wait(w.Scope())
		w.NoError(err)
	}
	w.Join()
}

// A publisher waits for the queue of a consumer that never receives. Removing that consumer lets the publisher
// go on to the next one, and fails the attempt instead of losing the batch.
func TestSimC6RemovalStopsNobody(t *testing.T) {
	sim.Check(t, "C6/removal-stops-nobody", removal)
}

func removal(w *sim.World) {
	spec.Attach(w)
	r := relay.New[rows](w.Scheduler(), "orders")
	w.Own(r)
	stuck := r.Attach("stuck", 1)
	other := &sink{w: w, consumer: r.Attach("other", 2)}
	_, err := publish(w, r, 1)
	w.NoError(err)
	w.Go("remove", func() { stuck.Remove() })
	reply, err := publish(w, r, 2)
	o, ended := reply.Get()
	w.Require(err == nil || ended && errors.Is(o.Err, relay.ErrRemoved), "C6.I5", "published with %v, attempt %v", err, o.Err)
	other.take(len(other.got) + 1)
	w.Join()
	stuck.Discard(errStop)
}

// Two producers need the one place. Whoever waits is woken when it is free, whatever the order.
func TestSimC6FreedRoomWakesAWaiter(t *testing.T) {
	sim.Check(t, "C6/freed-room-wakes-a-waiter", freedRoom)
}

func freedRoom(w *sim.World) {
	spec.Attach(w)
	q := relay.NewQueue[int](w.Scheduler(), "q", 1)
	w.Own(q)
	w.Go("receive", func() {
		for range 4 {
			_, err := q.Receive(w.Scope(), nil)
			w.NoError(err)
		}
	})
	w.Go("push", func() {
		for v := range 2 {
			w.NoError(q.Push(w.Scope(), v))
		}
	})
	for v := range 2 {
		w.NoError(q.Push(w.Scope(), 10+v))
	}
}

// The capacity shrinks and grows under a producer: nothing queued is lost or reordered, and the producer is let in.
func TestSimC6ShrinkingDiscardsNothing(t *testing.T) {
	sim.Check(t, "C6/shrinking-discards-nothing", shrinking)
}

func shrinking(w *sim.World) {
	spec.Attach(w)
	q := relay.NewQueue[int](w.Scheduler(), "q", 2)
	w.Own(q)
	w.Go("resize", func() {
		q.Resize(1)
		q.Resize(3)
	})
	w.Go("push", func() {
		for v := range 4 {
			w.NoError(q.Push(w.Scope(), v))
		}
		q.Close()
	})
	for want := range 4 {
		v, err := q.Receive(w.Scope(), nil)
		w.NoError(err)
		w.Require(v == want, "C6.order", "received %d, want %d", v, want)
	}
	_, err := q.Receive(w.Scope(), nil)
	w.Require(errors.Is(err, relay.ErrClosed), "C6.I3", "received %v after the end", err)
}

// A producer finds the queue full while its consumer takes what is there: every order of their steps.
func TestExhaustC6FullQueue(t *testing.T) {
	sim.Exhaust(t, "C6/full-queue", func(w *sim.World) {
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.NoError(q.Push(w.Scope(), 0))
		w.Go("take", func() {
			v, ok := q.Take()
			w.Require(ok && v == 0, "C6.order", "took %d, %t", v, ok)
		})
		w.NoError(q.Push(w.Scope(), 1))
	})
}

// A consumer finds the queue empty while a producer pushes: every order of their steps.
func TestExhaustC6EmptyQueue(t *testing.T) {
	sim.Exhaust(t, "C6/empty-queue", func(w *sim.World) {
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.Go("push", func() { w.NoError(q.Push(w.Scope(), 7)) })
		v, err := q.Receive(w.Scope(), nil)
		w.NoError(err)
		w.Require(v == 7, "C6.order", "received %d", v)
	})
}

// A batch is published while a consumer is removed: every order of their steps.
func TestExhaustC6PublishOrRemove(t *testing.T) {
	sim.Exhaust(t, "C6/publish-or-remove", func(w *sim.World) {
		r := relay.New[rows](w.Scheduler(), "orders")
		w.Own(r)
		c := r.Attach("c", 1)
		w.Go("remove", c.Remove)
		reply, err := publish(w, r, 1)
		w.Require(err == nil || errors.Is(err, relay.ErrRemoved), "C6.publish", "%v", err)
		w.Join()
		c.Discard(errStop)
		o, ended := reply.Get()
		w.Require(ended && (err == nil || o.Err != nil), "C6.I5", "ended %t with %v, published with %v", ended, o.Err, err)
	})
}

// A capacity that grows lets in as many producers as it has room for, not one.
func TestSimC6GrowingLetsAllIn(t *testing.T) {
	sim.Check(t, "C6/growing-lets-all-in", func(w *sim.World) {
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.Own(q)
		w.NoError(q.Push(w.Scope(), 0))
		for v := range 2 {
			w.Go("push", func() { w.NoError(q.Push(w.Scope(), 1+v)) })
		}
		q.Resize(3)
		w.Join()
	})
}

// A consumer gives up while somebody publishes. Every attempt that was acknowledged was taken by it, also those that
// came when it had gone.
func TestSimC6ConsumerThatGaveUpRefuses(t *testing.T) {
	sim.Check(t, "C6/consumer-that-gave-up-refuses", func(w *sim.World) {
		r := relay.New[rows](w.Scheduler(), "orders")
		w.Own(r)
		k := &sink{w: w, consumer: r.Attach("a", 2)}
		w.Go("consumer", func() {
			k.take(1)
			k.consumer.Discard(errStop)
		})
		acknowledged := 0
		for id := 1; id <= 4; id++ {
			reply, err := publish(w, r, id)
			w.Require(err == nil || errors.Is(err, relay.ErrRemoved), "C6.I5", "published: %v", err)
			o, err := reply.Wait(w.Scope())
			w.NoError(err)
			if o.Err == nil {
				acknowledged++
			}
		}
		w.Join()
		w.Require(acknowledged == len(k.got), "C6.I6", "%d acknowledged, and the consumer took %v", acknowledged, k.got)
	})
}

// Closing lets go everybody who waits for a place, not one; what had a place is still received.
func TestSimC6ClosingLetsAllGo(t *testing.T) {
	sim.Check(t, "C6/closing-lets-all-go", func(w *sim.World) {
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.Own(q)
		w.NoError(q.Push(w.Scope(), 0))
		for v := range 2 {
			w.Go("push", func() {
				err := q.Push(w.Scope(), 1+v)
				w.Require(errors.Is(err, relay.ErrClosed), "C6.I3", "pushed into a full queue that was closed: %v", err)
			})
		}
		q.Close()
		w.Join()
		v, ok := q.Take()
		w.Require(ok && v == 0, "C6.order", "took %d, %t", v, ok)
	})
}

// One of two consumers is removed while a publisher waits for it. The other one, which comes behind it, is handed every
// batch all the same, and of a batch that was refused no reference is left.
func TestSimC6RefusalReachesOneConsumer(t *testing.T) {
	sim.Check(t, "C6/refusal-reaches-one-consumer", func(w *sim.World) {
		r := relay.New[rows](w.Scheduler(), "orders")
		w.Own(r)
		stuck := r.Attach("stuck", 1)
		other := &sink{w: w, consumer: r.Attach("other", 2)}
		root := ack.New(w.Scheduler(), nil)
		first, second := batch(w.Scheduler(), 1), batch(w.Scheduler(), 2)
		w.NoError(r.Publish(w.Scope(), root, first))
		w.Go("remove", func() { stuck.Remove() })
		err := r.Publish(w.Scope(), root, second)
		w.Require(err == nil || errors.Is(err, relay.ErrRemoved), "C6.publish", "%v", err)
		root.Ack()
		other.take(2)
		w.Join()
		stuck.Discard(errStop)
		left := []int64{first.Rows.refs.Load(), second.Rows.refs.Load()}
		w.Require(left[0] == 1 && left[1] == 1, "C6.I7", "%v references left, want the publisher's own", left)
		w.Require(root.Tree().Active() == 0, "C6.I5", "%d shares reached nobody", root.Tree().Active())
	})
}

// Of two producers that wait, one is ended by its scope. It leaves nothing behind, and what it was woken for goes to the
// other one.
func TestSimC6EndedPushLeavesNothing(t *testing.T) {
	sim.Check(t, "C6/ended-push-leaves-nothing", func(w *sim.World) {
		q := relay.NewQueue[int](w.Scheduler(), "q", 1)
		w.Own(q)
		scope := w.Scheduler().NewScope("ended")
		w.NoError(q.Push(w.Scope(), 0))
		ended := 0
		w.Go("ended", func() {
			if err := q.Push(scope, 1); err != nil {
				w.Require(errors.Is(err, errStop), "C6.cause", "%v", err)
				ended++
			}
		})
		w.Go("push", func() { w.NoError(q.Push(w.Scope(), 2)) })
		w.Go("end", func() { scope.Cancel(errStop) })
		for range 2 {
			_, err := q.Receive(w.Scope(), nil)
			w.NoError(err)
		}
		if ended == 0 {
			q.Resize(2) // whoever is behind the one that was received has room now
		}
		w.Join()
		words := q.Peek()
		w.Require(words.Waiting == 0, "C6.waiting", "%d producers wait, and none is there", words.Waiting)
		w.Require(words.Places == 1-ended, "C6.I1", "%d places taken, %d items not received", words.Places, 1-ended)
	})
}
