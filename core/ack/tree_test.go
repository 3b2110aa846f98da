package ack_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
)

var errLost = errors.New("lost")

// told counts what a receiver is told.
type told struct {
	times int
	last  ack.Outcome
}

func (r *told) Resolved(o ack.Outcome) {
	r.times++
	r.last = o
}

func TestZeroShareTreeResolvesAtOnce(t *testing.T) {
	var r told
	tree, shares := ack.NewTree(sched.Scheduler{}, 0, &r)
	if r.times != 1 || r.last.Err != nil || len(shares) != 0 || tree.Outcome() != ack.Succeeded {
		t.Fatalf("told %d times, %v, %d shares, %v", r.times, r.last.Err, len(shares), tree.Outcome())
	}
}

func TestTreeSucceedsWithTheLastShare(t *testing.T) {
	var r told
	root := ack.New(sched.Scheduler{}, &r)
	shares := root.Attach(3)
	root.Ack()
	for i := range shares {
		if r.times != 0 {
			t.Fatalf("resolved before share %d", i)
		}
		shares[i].Duplicates(i)
		shares[i].Ack()
	}
	if r.times != 1 || r.last.Err != nil || r.last.Duplicates != 3 {
		t.Fatalf("told %d times: %+v", r.times, r.last)
	}
}

func TestFirstFailureDecidesAndLaterSharesStillLeave(t *testing.T) {
	var r told
	root := ack.New(sched.Scheduler{}, &r)
	tree := root.Tree()
	shares := root.Attach(2)
	shares[1].Fail(errLost)
	if r.times != 1 || !errors.Is(r.last.Err, errLost) || tree.Outcome() != ack.Failed {
		t.Fatalf("told %d times: %+v, %v", r.times, r.last, tree.Outcome())
	}
	if late := root.Attach(1); late[0].Owned() || late[0].Ack() {
		t.Fatal("a share attached after the decision owns something")
	}
	if tree.Active() != 2 {
		t.Fatalf("%d active shares, want the two that still work", tree.Active())
	}
	shares[0].Ack()
	root.Fail(errors.New("too late"))
	if cause, known := tree.Cause(); r.times != 1 || !known || !errors.Is(cause, errLost) || tree.Active() != 0 {
		t.Fatalf("told %d times, cause %v, %d active", r.times, cause, tree.Active())
	}
}

func TestShareResolvesOnce(t *testing.T) {
	_, shares := ack.NewTree(sched.Scheduler{}, 2, nil)
	if !shares[0].Ack() || shares[0].Ack() || shares[0].Fail(errLost) {
		t.Fatal("a share resolved more or less than once")
	}
	if shares[1].Tree().Outcome() != ack.Open {
		t.Fatal("one share decided a tree of two")
	}
}

func TestProgrammingFaultsPanic(t *testing.T) {
	_, shares := ack.NewTree(sched.Scheduler{}, 1, nil)
	faults := map[string]func(){
		"failing without a cause": func() { shares[0].Fail(nil) },
		"a negative tree":         func() { ack.NewTree(sched.Scheduler{}, -1, nil) },
		"too many shares":         func() { shares[0].Attach(ack.MaxShares) },
	}
	for name, f := range faults {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestReplyIsGivenByTheTree(t *testing.T) {
	s := sched.Scheduler{}
	scope := s.NewScope("test")
	defer scope.Close()
	reply := ack.NewReply(s)
	share := ack.New(s, reply)
	if _, ok := reply.Get(); ok {
		t.Fatal("a reply before the outcome")
	}
	s.Go(scope, "resolve", func() { share.Ack() })
	if o, err := reply.Wait(scope); err != nil || o.Err != nil {
		t.Fatalf("outcome %v, %v", o.Err, err)
	}
	open := ack.NewReply(s)
	scope.Cancel(errLost)
	if _, err := open.Wait(scope); !errors.Is(err, errLost) {
		t.Fatalf("wait ended with %v", err)
	}
}
