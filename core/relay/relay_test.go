package relay_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

var errStop = errors.New("stop")

// rows is a payload that counts its references. These tests never release the publisher's own.
type rows struct {
	id   int
	s    sched.Scheduler
	refs *sched.Int64
}

func newRows(s sched.Scheduler, id int) rows {
	refs := sched.NewInt64(s, "references", 1)
	return rows{id, s, &refs}
}

func (r rows) Rows() int { return 1 }
func (r rows) Retain()   { r.refs.Add(1) }

func (r rows) Release() {
	left := r.refs.Add(-1)
	r.s.Check("C6", func() error {
		if left < 1 {
			return sched.Broken("C6.I7", "batch %d was freed under its publisher", r.id)
		}
		return nil
	})
}

func batch(s sched.Scheduler, id int) relay.Batch[rows] {
	return relay.Batch[rows]{Rows: newRows(s, id), IDs: relay.LineIDs("test", []int32{int32(id)})}
}

func TestFanOutReachesEveryConsumerInOrder(t *testing.T) {
	s := sched.Scheduler{}
	r := relay.New[rows](s, "orders")
	a, b := r.Attach("a", 4), r.Attach("b", 4)
	reply := ack.NewReply(s)
	root := ack.New(s, reply)
	first, second := batch(s, 1), batch(s, 2)
	for _, x := range []relay.Batch[rows]{first, second} {
		if err := r.Publish(nil, root, x); err != nil {
			t.Fatal(err)
		}
	}
	root.Ack()
	for _, c := range []*relay.Consumer[rows]{a, b} {
		for want := 1; want <= 2; want++ {
			d, err := c.Receive(nil, nil)
			if err != nil || d.Rows.id != want || d.IDs.At(0) != "test/"+string(rune('0'+want)) {
				t.Fatalf("%s received %d (%s), %v, want %d", c.Name(), d.Rows.id, d.IDs.At(0), err, want)
			}
			d.Rows.Release()
			d.Share.Ack()
		}
	}
	if o, ok := reply.Get(); !ok || o.Err != nil {
		t.Fatalf("attempt ended %v, %v", o.Err, ok)
	}
	if first.Rows.refs.Load() != 1 || second.Rows.refs.Load() != 1 {
		t.Fatalf("%d and %d references left, want the publisher's own", first.Rows.refs.Load(), second.Rows.refs.Load())
	}
}

func TestRelayWithoutConsumersIsAcknowledgedAtOnce(t *testing.T) {
	s := sched.Scheduler{}
	reply := ack.NewReply(s)
	root := ack.New(s, reply)
	if err := relay.New[rows](s, "empty").Publish(nil, root, batch(s, 1)); err != nil {
		t.Fatal(err)
	}
	root.Ack()
	if o, ok := reply.Get(); !ok || o.Err != nil {
		t.Fatalf("attempt ended %v, %v", o.Err, ok)
	}
}

func TestRemovedConsumerStillReceivesWhatIsQueued(t *testing.T) {
	s := sched.Scheduler{}
	r := relay.New[rows](s, "orders")
	gone, stays := r.Attach("gone", 4), r.Attach("stays", 4)
	root := ack.New(s, nil)
	if err := r.Publish(nil, root, batch(s, 1)); err != nil {
		t.Fatal(err)
	}
	gone.Remove()
	gone.Remove()
	if err := r.Publish(nil, root, batch(s, 2)); err != nil {
		t.Fatal(err)
	}
	if names := r.Consumers(); !slices.Equal(names, []string{"stays"}) {
		t.Fatalf("attached: %v", names)
	}
	if d, err := gone.Receive(nil, nil); err != nil || d.Rows.id != 1 {
		t.Fatalf("received %v, %v", d.Rows, err)
	}
	if _, err := gone.Receive(nil, nil); !errors.Is(err, relay.ErrClosed) {
		t.Fatalf("after removal: %v", err)
	}
	if n, _ := stays.Queued(); n != 2 {
		t.Fatalf("%d queued for the consumer that stays", n)
	}
}

func TestPublisherGoesOnWhenTheFullConsumerIsRemoved(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	r := relay.New[rows](s, "orders")
	full := r.Attach("full", 1)
	reply := ack.NewReply(s)
	root := ack.New(s, reply)
	one, two := batch(s, 1), batch(s, 2)
	if err := r.Publish(scope, root, one); err != nil {
		t.Fatal(err)
	}
	done := sched.NewWriteOnce[error](s, "published")
	s.Go(scope, "publish", func() { done.Set(r.Publish(scope, root, two)) })
	full.Discard(errStop)
	// The second batch was refused, or was queued before the removal and discarded: both fail the attempt.
	err, _ := done.Wait(scope)
	if err != nil && !errors.Is(err, relay.ErrRemoved) && !errors.Is(err, relay.ErrDecided) {
		t.Fatalf("published: %v", err)
	}
	if o, waitErr := reply.Wait(scope); waitErr != nil || o.Err == nil {
		t.Fatalf("attempt ended %v, %v", o.Err, waitErr)
	}
	if one.Rows.refs.Load() != 1 || two.Rows.refs.Load() != 1 {
		t.Fatal("a discarded batch kept a reference")
	}
}

func TestPublishEndsWithItsScopeAndFailsTheShare(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	r := relay.New[rows](s, "orders")
	r.Attach("full", 1)
	reply := ack.NewReply(s)
	root := ack.New(s, reply)
	if err := r.Publish(scope, root, batch(s, 1)); err != nil {
		t.Fatal(err)
	}
	scope.Cancel(errStop)
	if err := r.Publish(scope, root, batch(s, 2)); !errors.Is(err, errStop) {
		t.Fatalf("published: %v", err)
	}
	if o, ok := reply.Get(); !ok || !errors.Is(o.Err, errStop) {
		t.Fatalf("attempt ended %v, %v", o.Err, ok)
	}
	if err := r.Publish(nil, root, batch(s, 3)); !errors.Is(err, relay.ErrDecided) {
		t.Fatalf("published for a decided attempt: %v", err)
	}
}

func TestShrinkingDiscardsNothingAndGrowingLetsIn(t *testing.T) {
	q := relay.NewQueue[int](sched.Scheduler{}, "q", 3)
	for v := range 3 {
		if ok, err := q.TryPush(v); !ok || err != nil {
			t.Fatalf("push %d: %t, %v", v, ok, err)
		}
	}
	q.Resize(1)
	for want := range 3 {
		if ok, _ := q.TryPush(9); ok {
			t.Fatalf("a place above the capacity with %d queued", q.Len())
		}
		if v, ok := q.Take(); !ok || v != want {
			t.Fatalf("took %d, %t, want %d", v, ok, want)
		}
	}
	q.Resize(2)
	for v := range 2 {
		if ok, _ := q.TryPush(v); !ok {
			t.Fatalf("no place %d after growing", v)
		}
	}
	if !q.Post(7) || q.Len() != 3 || q.Capacity() != 2 {
		t.Fatalf("posted: %d of %d", q.Len(), q.Capacity())
	}
	q.Close()
	if q.Post(8) {
		t.Fatal("posted to a closed queue")
	}
}

func TestReceiveEndsWithTimerAndScope(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	q := relay.NewQueue[int](s, "q", 1)
	if _, err := q.Receive(scope, sched.NewTimer(s, "soon", 0)); !errors.Is(err, relay.ErrTimer) {
		t.Fatalf("received: %v", err)
	}
	scope.Cancel(errStop)
	if _, err := q.Receive(scope, nil); !errors.Is(err, errStop) {
		t.Fatalf("received: %v", err)
	}
}

func TestQueueCarriesAcrossTasks(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	q := relay.NewQueue[int](s, "q", 2)
	const producers, each = 4, 500
	for p := range producers {
		s.Go(scope, "produce", func() {
			for i := range each {
				if err := q.Push(scope, p*each+i); err != nil {
					t.Errorf("push: %v", err)
				}
			}
		})
	}
	last := [producers]int{-1, -1, -1, -1}
	for range producers * each {
		v, err := q.Receive(scope, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := v / each; v%each != last[p]+1 {
			t.Fatalf("producer %d: %d after %d", p, v%each, last[p])
		}
		last[v/each] = v % each
	}
}

// What was received is not kept alive by the queue, whose list begins with the item received last.
func TestQueueForgetsWhatWasReceived(t *testing.T) {
	q := relay.NewQueue[*[64]byte](sched.Scheduler{}, "q", 1)
	held := passThrough(t, q)
	runtime.GC()
	if held.Value() != nil {
		t.Error("the queue keeps a value that was received")
	}
	runtime.KeepAlive(q)
}

// passThrough pushes a value and takes it again, and keeps no pointer to it.
func passThrough(t *testing.T, q *relay.Queue[*[64]byte]) weak.Pointer[[64]byte] {
	t.Helper()
	value := new([64]byte)
	if _, err := q.TryPush(value); err != nil {
		t.Fatal(err)
	}
	if v, ok := q.Take(); !ok || v != value {
		t.Fatalf("took %v, %t", v, ok)
	}
	return weak.Make(value)
}

func TestIDs(t *testing.T) {
	lines := relay.LineIDs("a", []int32{1, 3, 4}).Select([]int32{2, 0})
	keys := relay.KeyIDs("b", []string{"x", "y"}).Select([]int32{1})
	if lines.Len() != 2 || lines.At(0) != "a/4" || lines.At(1) != "a/1" || keys.Len() != 1 || keys.At(0) != "b/y" {
		t.Fatalf("%v %v", lines, keys)
	}
}

func TestCapacityHasARange(t *testing.T) {
	for _, capacity := range []int{0, -1, relay.MaxCapacity + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("capacity %d was accepted", capacity)
				}
			}()
			relay.NewQueue[int](sched.Scheduler{}, "q", capacity)
		}()
	}
}
