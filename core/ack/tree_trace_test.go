package ack_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/ack"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/ack/Ack.tla, and the words of the tree are what it says they are.
func TestTraceA1EveryShare(t *testing.T) { sim.Trace(t, "A1/trace-of-every-share", everyShareCounts) }

func TestTraceA1OneShare(t *testing.T) { sim.Trace(t, "A1/trace-of-one-share", shareResolvesOnce) }

func TestTraceA1LateAttach(t *testing.T) { sim.Trace(t, "A1/trace-of-late-attach", lateAttach) }

func TestTraceA1Drain(t *testing.T) { sim.Trace(t, "A1/trace-of-a-drain", drainedIsAnswered) }

// A tree without shares is settled by whoever makes it, and what is attached to it owns nothing.
func TestTraceA1NoShare(t *testing.T) {
	sim.Trace(t, "A1/trace-of-no-share", func(w *sim.World) {
		spec.Attach(w)
		r := &told{}
		tree, _ := ack.NewTree(w.Scheduler(), 0, r)
		w.Own(tree)
		for range 2 {
			w.Go("late", func() { tree.Attach(1)[0].Ack() })
		}
		w.Join()
		w.Require(r.times == 1 && tree.Outcome() == ack.Succeeded, "A1.empty", "notified %d times, %v", r.times, tree.Outcome())
	})
}

// Every edge of the specification's graph is taken by a tree.
func TestTraceA1Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "A1/sequences-of-the-specification", plan, func(w *sim.World, each func(do func(spec.Call))) {
		spec.AttachAlways(w)
		tree, shares := ack.NewTree(w.Scheduler(), spec.Shares, &told{})
		w.Own(tree)
		var held []*ack.Share
		hold := func(shares []ack.Share) {
			for i := range shares {
				held = append(held, &shares[i])
			}
		}
		hold(shares)
		each(func(c spec.Call) {
			if c.Name == "attach" {
				decided := tree.Peek().Decided // then what is attached owns nothing
				if more := tree.Attach(c.Shares); !decided {
					hold(more)
				}
				return
			}
			share := held[0]
			held = held[1:]
			if c.Name == "fail" {
				share.Fail(errLost)
			} else {
				share.Ack()
			}
		})
	})
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "A1/wrong-specification", "../../tla/ack", spec.Load, map[string]string{
		"active-first": "mismatch Ack.Take", "attach-pending-first": "mismatch Ack.Raise",
		"receiver-is-left": "mismatch Ack.Keep", "last-share-speaks": "mismatch Ack.Lower",
	}, func(w *sim.World, wrong *trace.Spec) {
		spec.AttachTo(w, wrong)
		root := ack.New(w.Scheduler(), &told{})
		shares := root.Attach(2)
		root.Ack()
		shares[0].Fail(errLost)
		shares[1].Ack()
	})
}
