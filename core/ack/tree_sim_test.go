package ack_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/ack"
)

// witness is a receiver that holds the tree to what it promises whoever it notifies.
type witness struct {
	w     *sim.World
	tree  *ack.Tree
	times int
	last  ack.Outcome
}

func (r *witness) Resolved(o ack.Outcome) {
	r.times++
	r.last = o
	r.w.Require(r.times == 1, "A1.I2", "notified %d times", r.times)
	cause, known := r.tree.Cause()
	r.w.Require(known && errors.Is(cause, o.Err), "A1.I5", "notified of %v before the tree settled: cause %v, known %t", o.Err, cause, known)
}

// watched returns a tree of n shares with a witness.
func watched(w *sim.World, n int) (*witness, []ack.Share) {
	spec.Attach(w)
	r := &witness{w: w}
	tree, shares := ack.NewTree(w.Scheduler(), n, r)
	r.tree = tree
	w.Own(tree)
	return r, shares
}

// A publisher attaches three consumers and leaves; they resolve in any order, one of them perhaps negatively. The
// receiver learns one outcome, after everybody was heard or one failed, and no share is left.
func TestSimA1EveryShareCounts(t *testing.T) {
	sim.Check(t, "A1/every-share-counts", everyShareCounts)
}

func everyShareCounts(w *sim.World) {
	r, root := watched(w, 1)
	failing := w.Choose("failing", 4) // 3: nobody
	shares := root[0].Attach(3)
	for i := range shares {
		w.Go("consumer", func() {
			shares[i].Duplicates(1)
			if i == failing {
				shares[i].Fail(errLost)
				return
			}
			shares[i].Ack()
		})
	}
	root[0].Ack()
	w.Join()
	w.Require(r.times == 1, "A1.I2", "notified %d times", r.times)
	w.Require((r.last.Err != nil) == (failing < 3), "A1.outcome", "outcome %v with failing consumer %d", r.last.Err, failing)
	w.Require(r.last.Err != nil || r.last.Duplicates == 3, "A1.duplicates", "%d duplicates", r.last.Duplicates)
	w.Require(r.tree.Active() == 0, "A1.I1", "%d shares active at the end", r.tree.Active())
}

// A timeout and a completion race for one share while another one is still held: only one of them counts, so the
// tree stays open until the other share is resolved.
func TestSimA1ShareResolvesOnce(t *testing.T) {
	sim.Check(t, "A1/share-resolves-once", shareResolvesOnce)
}

func shareResolvesOnce(w *sim.World) {
	r, shares := watched(w, 2)
	counted := 0
	for range 2 {
		w.Go("resolve", func() {
			if shares[0].Ack() {
				counted++
			}
		})
	}
	w.Join()
	w.Require(counted == 1 && r.times == 0, "A1.once", "%d resolutions counted, notified %d times", counted, r.times)
	shares[1].Ack()
	w.Require(r.times == 1 && r.last.Err == nil, "A1.once", "notified %d times of %v", r.times, r.last.Err)
}

// Somebody who holds no share attaches while the last one is resolved. Either it was in time, and the tree waits
// for it, or it owns nothing; a completed tree never has a share to resolve.
func TestSimA1LateAttachOwnsNothing(t *testing.T) {
	sim.Check(t, "A1/late-attach-owns-nothing", lateAttach)
}

func lateAttach(w *sim.World) {
	r, shares := watched(w, 1)
	w.Go("complete", func() { shares[0].Ack() })
	w.Go("attach", func() {
		late := r.tree.Attach(2)
		if late[0].Owned() {
			w.Require(r.tree.Outcome() == ack.Open, "A1.I3", "an owned share of a tree that is %v", r.tree.Outcome())
		}
		for i := range late {
			late[i].Ack()
		}
	})
	w.Join()
	w.Require(r.times == 1 && r.tree.Outcome() == ack.Succeeded && r.tree.Active() == 0, "A1.late",
		"notified %d times, %v, %d active", r.times, r.tree.Outcome(), r.tree.Active())
}

// A request waits for the tree it opened, and a drain that reads no active share knows that it was answered.
func TestSimA1DrainedTreeIsAnswered(t *testing.T) {
	sim.Check(t, "A1/drained-tree-is-answered", drainedIsAnswered)
}

func drainedIsAnswered(w *sim.World) {
	spec.Attach(w)
	reply := ack.NewReply(w.Scheduler())
	root := ack.New(w.Scheduler(), reply)
	w.Own(root.Tree())
	shares := root.Attach(2)
	root.Ack()
	for i := range shares {
		w.Go("consumer", func() { shares[i].Ack() })
	}
	w.Go("drain", func() {
		if root.Tree().Active() == 0 {
			_, answered := reply.Get()
			w.Require(answered, "A1.I1", "no active share, and no answer")
		}
	})
	o, err := reply.Wait(w.Scope())
	w.NoError(err)
	w.NoError(o.Err)
}

// Somebody asks for the cause while another one fails the tree. What it is told is the cause; before the tree is settled
// it is told nothing, and it never reads what the winner still writes.
func TestSimA1CauseIsKnownOnceSettled(t *testing.T) {
	sim.Check(t, "A1/cause-is-known-once-settled", func(w *sim.World) {
		r, shares := watched(w, 1)
		w.Go("fail", func() { shares[0].Fail(errLost) })
		for range 3 {
			if cause, known := r.tree.Cause(); known {
				w.Require(errors.Is(cause, errLost) && r.tree.Outcome() == ack.Failed, "A1.cause", "%v of a tree that is %v", cause, r.tree.Outcome())
			}
		}
	})
}

// Two shares are resolved at once, each in any way.
func TestExhaustA1TwoResolutions(t *testing.T) {
	sim.Exhaust(t, "A1/two-resolutions", func(w *sim.World) {
		r, shares := watched(w, 2)
		failing := w.Choose("failing", 3)
		for i := range shares {
			w.Go("resolve", func() {
				if i == failing {
					shares[i].Fail(errLost)
					return
				}
				shares[i].Ack()
			})
		}
		w.Join()
		w.Require(r.times == 1 && (r.last.Err != nil) == (failing < 2), "A1.outcome", "notified %d times of %v", r.times, r.last.Err)
	})
}

// One task completes the tree while another one attaches to it.
func TestExhaustA1AttachOrComplete(t *testing.T) {
	sim.Exhaust(t, "A1/attach-or-complete", func(w *sim.World) {
		r, shares := watched(w, 1)
		w.Go("complete", func() { shares[0].Ack() })
		w.Go("attach", func() { r.tree.Attach(1)[0].Ack() })
		w.Join()
		w.Require(r.times == 1 && r.tree.Active() == 0, "A1.late", "notified %d times, %d active", r.times, r.tree.Active())
	})
}
