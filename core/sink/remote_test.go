package sink_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
)

// numbers is a payload of one number per row.
type numbers []int

func (n numbers) Rows() int { return len(n) }
func (numbers) Retain()     {}
func (numbers) Release()    {}

var errPeer = errors.New("peer")

// peer is the other side: it refuses some rows for good and is away for some attempts.
type peer struct {
	poison []int
	away   int
	calls  int
	got    []int
}

func (p *peer) send(_ *sched.Scope, rows numbers, _ relay.IDs, selected []int32) (sink.Verdict, error) {
	p.calls++
	if p.away > 0 {
		p.away--
		return sink.Again, errPeer
	}
	for _, i := range selected {
		if slices.Contains(p.poison, rows[i]) {
			return sink.Never, fmt.Errorf("row %d: %w", rows[i], errPeer)
		}
	}
	for _, i := range selected {
		p.got = append(p.got, rows[i])
	}
	return sink.Accepted, nil
}

// sendRemote sends one delivery through a remote sink and returns how it ended, and how long that took.
func sendRemote(t *testing.T, p *peer, opts sink.RemoteOptions[numbers], rows numbers) (took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := sched.Scheduler{}
		scope := s.NewScope("node")
		r := relay.New[numbers](s, "r")
		opts.Name, opts.From = "remote", r.Attach("remote", 2)
		if opts.Send == nil {
			opts.Send = p.send
		}
		remote, made := sink.NewRemote(s, opts)
		if made != nil {
			t.Fatal(made)
		}
		began := time.Now()
		s.Go(scope, "remote", func() {
			if err := remote.Run(scope); err != nil {
				t.Error(err)
			}
		})
		reply := ack.NewReply(s)
		root := ack.New(s, reply)
		if err := r.Publish(scope, root, relay.Batch[numbers]{Rows: rows}); err != nil {
			t.Fatal(err)
		}
		root.Ack()
		o, waited := reply.Wait(scope)
		if waited != nil {
			t.Fatal(waited)
		}
		opts.From.Remove()
		scope.Join()
		err, took = o.Err, time.Since(began)
	})
	return took, err
}

func TestRemoteRetriesWithGrowingWaits(t *testing.T) {
	p := &peer{away: 3}
	took, err := sendRemote(t, p, sink.RemoteOptions[numbers]{Retries: 3, Backoff: time.Second}, numbers{1, 2})
	if err != nil || took != 7*time.Second || p.calls != 4 || !slices.Equal(p.got, []int{1, 2}) {
		t.Fatalf("%v after %v, %d calls, delivered %v", err, took, p.calls, p.got)
	}
}

// Rows that the condition could not judge and nobody could keep: acknowledging the delivery would lose them.
func TestRemoteConditionThatFailsFailsTheDelivery(t *testing.T) {
	p := &peer{}
	_, err := sendRemote(t, p, sink.RemoteOptions[numbers]{Where: func(numbers) ([]int32, error) { return nil, errStop }}, numbers{1, 2})
	if !errors.Is(err, errStop) || p.calls != 0 {
		t.Fatalf("%v after %d calls", err, p.calls)
	}
}

func TestRemoteGivesUpAndFails(t *testing.T) {
	p := &peer{away: 9}
	_, err := sendRemote(t, p, sink.RemoteOptions[numbers]{Retries: 1, Backoff: time.Second}, numbers{1})
	if !errors.Is(err, sink.ErrExhausted) || !errors.Is(err, errPeer) || p.calls != 2 {
		t.Fatalf("%v after %d calls", err, p.calls)
	}
}

func TestRemoteBuriesOnlyTheRowToBlame(t *testing.T) {
	p := &peer{poison: []int{3, 6}}
	var buried []int
	_, err := sendRemote(t, p, sink.RemoteOptions[numbers]{
		Batch: 4,
		Where: func(numbers) ([]int32, error) { return []int32{1, 2, 3, 4, 5, 6}, nil },
		Bury: func(rows numbers, row int, why error) error {
			buried = append(buried, rows[row])
			return nil
		},
	}, numbers{0, 1, 2, 3, 4, 5, 6})
	slices.Sort(p.got)
	if err != nil || !slices.Equal(p.got, []int{1, 2, 4, 5}) || !slices.Equal(buried, []int{3, 6}) {
		t.Fatalf("%v, delivered %v, buried %v", err, p.got, buried)
	}
}

func TestRemoteRefusalIsNoAcknowledgement(t *testing.T) {
	for name, bury := range map[string]func(numbers, int, error) error{
		"without a route": nil,
		"route fails":     func(numbers, int, error) error { return errStop },
	} {
		p := &peer{poison: []int{1}}
		_, err := sendRemote(t, p, sink.RemoteOptions[numbers]{Bury: bury}, numbers{1, 2})
		if err == nil || !errors.Is(err, errPeer) {
			t.Errorf("%s: delivery ended with %v", name, err)
		}
	}
}

func TestRemoteStopsWithItsScope(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("node")
	r := relay.New[numbers](s, "r")
	remote, err := sink.NewRemote(s, sink.RemoteOptions[numbers]{
		From: r.Attach("remote", 2), Retries: 1, Backoff: time.Minute,
		Send: func(*sched.Scope, numbers, relay.IDs, []int32) (sink.Verdict, error) {
			scope.Cancel(errStop)
			return sink.Again, errPeer
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	replies := [2]*ack.Reply{ack.NewReply(s), ack.NewReply(s)}
	for _, reply := range replies {
		root := ack.New(s, reply)
		if err := r.Publish(nil, root, relay.Batch[numbers]{Rows: numbers{1}}); err != nil {
			t.Fatal(err)
		}
		root.Ack()
	}
	if err := remote.Run(scope); !errors.Is(err, errStop) {
		t.Fatalf("run: %v", err)
	}
	for i, reply := range replies {
		if o, ok := reply.Get(); !ok || !errors.Is(o.Err, errStop) {
			t.Fatalf("delivery %d ended %t with %v", i, ok, o.Err)
		}
	}
}

func TestRemoteOptionsListEveryFault(t *testing.T) {
	_, err := sink.NewRemote(sched.Scheduler{}, sink.RemoteOptions[numbers]{Retries: -1, Backoff: -1, Batch: -1})
	for _, want := range []string{"retries", "backoff", "batch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("faults: %v, want %s", err, want)
		}
	}
}

// After a refusal the rows are sent in halves; a half that must wait does not keep the other from being taken up again.
func TestRemoteTakesUpBothHalves(t *testing.T) {
	calls, got := 0, 0
	_, err := sendRemote(t, &peer{}, sink.RemoteOptions[numbers]{Retries: 3, Send: func(_ *sched.Scope, _ numbers, _ relay.IDs, rows []int32) (sink.Verdict, error) {
		calls++
		switch calls {
		case 1:
			return sink.Never, errPeer
		case 2:
			return sink.Again, errPeer
		}
		got += len(rows)
		return sink.Accepted, nil
	}}, numbers{1, 2, 3, 4})
	if err != nil || got != 4 {
		t.Fatalf("%v, delivered %d of 4", err, got)
	}
}
