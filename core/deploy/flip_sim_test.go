package deploy_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/flip"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// clients run while something changes: the old one has an instance of version 1 parked; the new one spawns, and with the reply in hand it
// spawns again or comes back to its instance. Lanes are drawn: the second delivery of a client mostly meets another one.
func (r *rig) clients() {
	r.Go("client old", func() { r.client("old", "correlate") })
	r.Go("client new", func() {
		first := r.client("new", "spawn")
		if r.Choose("then", 2) == 1 {
			again := r.client("new", "again")
			r.Require(again >= first, "L9.back", "a spawn after a reply of version %d started version %d", first, again)
			return
		}
		r.client("new", "correlate")
	})
}

// client sends a delivery until it is answered.
func (r *rig) client(name, kind string) int {
	for range 50 {
		if answer, err := r.life.ask(name, r.Choose("lane", r.lanes), kind); err == nil {
			return answer
		}
		r.NoError(r.Scheduler().Sleep(r.Scope(), "redelivery", time.Second))
	}
	r.Require(false, "L9.progress", "%s of %s was never answered", kind, name)
	return 0
}

// underLoad is an activation and a retirement while clients send; phase 1 may fail twice.
func underLoad(w *sim.World) {
	r := newRig(w, 2, 2)
	fails := 2
	r.refuse = func(int) error {
		if fails > 0 && w.Choose("refuse", 3) == 1 {
			fails--
			return errors.New("no room")
		}
		return nil
	}
	spec.Attach(w)
	l := r.start()
	r.clients()
	w.Go("operator", func() {
		l.activate(w.Scope())
		l.retire(w.Scope())
	})
	w.Join()
	l.stop()
	r.retired()
}

// A delivery after a reply finds its instance, on every lane and through the whole change; a spawn after a reply of the new version
// never starts the old one; every lane knows what it spawns.
func TestSimL9NothingIsLostThroughAnActivation(t *testing.T) {
	sim.Check(t, "L9/nothing-is-lost-through-an-activation", underLoad, sim.Runs(500))
}

func TestTraceL9ActivationUnderLoad(t *testing.T) {
	sim.Trace(t, "L9/trace-of-an-activation-under-load", underLoad, sim.Runs(300))
}

// throughCrashes is an activation and a retirement on a node that crashes, twice, wherever it is.
func throughCrashes(w *sim.World) {
	r := newRig(w, 2, 2)
	spec.Attach(w)
	run := func(l *life) {
		l.node.Go("operator", func() {
			l.activate(w.Scope())
			l.retire(w.Scope())
		})
	}
	run(r.start())
	r.clients()
	w.Go("power", func() {
		for range 2 {
			for range w.Choose("steps", 60) {
				w.Scheduler().Yield()
			}
			r.crash()
			run(r.life)
		}
	})
	w.Join()
	r.life.stop()
	r.retired()
}

// crash stops the node wherever it is and starts it again from its disk: wholly before or wholly after the decision.
func (r *rig) crash() {
	old := r.life
	old.node.Crash()
	l := r.born()
	l.emit("Crash")
	old.scope.Cancel(errCrashed)
	l.run()
	v := l.flip.Peek().View
	r.Require(int64(v.Number) == r.disk.Peek(), "L9.restart", "the disk says %d, and the node began with view %d", r.disk.Peek(), v.Number)
}

func TestSimL9CrashFindsOldOrNewWhole(t *testing.T) {
	sim.Check(t, "L9/crash-finds-old-or-new-whole", throughCrashes, sim.Runs(500))
}

func TestTraceL9Crashes(t *testing.T) {
	sim.Trace(t, "L9/trace-of-crashes", throughCrashes, sim.Runs(300))
}

// An attempt that ends before its decision leaves nothing behind, whatever was in the queues: neither on lanes that had learned nor on
// those that had not come to it. The next attempt is not taken in by what they say of the first.
func TestSimL9AbortLeavesNothing(t *testing.T) {
	sim.Check(t, "L9/abort-leaves-nothing", func(w *sim.World) {
		r := newRig(w, 2, 1)
		l := r.start()
		patience := w.Scope().Child("patience")
		w.Go("impatience", func() {
			for range w.Choose("steps", 20) {
				w.Scheduler().Yield()
			}
			patience.Cancel(errors.New("the operator is gone"))
		})
		w.Go("client old", func() { r.client("old", "correlate") })
		_, err := l.flip.Activate(patience, version(2), l.decide)
		if err == nil {
			w.Join()
			l.stop()
			return
		}
		w.Require(r.disk.Peek() == oldActive, "L9.abort", "an aborted activation is on the disk")
		again := w.Choose("again", 2) == 1
		if again {
			l.activate(w.Scope())
		}
		w.Join()
		l.drainQueues()
		for lane, known := range l.flip.Peek().Known {
			w.Require(len(known) == 1 != again, "L9.abort", "lane %d knows %v, again %v", lane, known, again)
		}
		l.stop()
	}, sim.Runs(500))
}

// drainQueues waits until every lane has come to the end of its queue.
func (l *life) drainQueues() {
	for lane := range l.lanes {
		_, err := l.ask("new", lane, "again")
		l.NoError(err)
	}
}

// A rollback makes a deployment that drains active again. When it is aborted, the deployment goes on draining: nothing of it is forgotten.
func TestSimL9RollbackThatIsAbortedKeepsTheTail(t *testing.T) {
	sim.Check(t, "L9/aborted-rollback-keeps-the-tail", func(w *sim.World) {
		r := newRig(w, 2, 2)
		l := r.start()
		l.activate(w.Scope())
		r.clients()
		_, err := l.flip.Activate(w.Scope(), version(1), func(*deploy.View[int]) error { return errors.New("disk full") })
		w.Require(errors.Is(err, deploy.ErrRefused), "L9.refused", "%v", err)
		w.Join()
		w.Require(l.flip.Observe().Active.ID == "2", "L9.abort", "active is %s", l.flip.Observe().Active.ID)
		l.stop()
	})
}

// A decision of which nobody can say whether it is durable is neither published nor taken back.
func TestSimL9UnknownDecisionIsLeftAlone(t *testing.T) {
	sim.Check(t, "L9/unknown-decision-is-left-alone", func(w *sim.World) {
		r := newRig(w, 2, 2)
		l := r.start()
		_, err := l.flip.Activate(w.Scope(), version(2), func(*deploy.View[int]) error { return fmt.Errorf("store closed: %w", deploy.ErrUnknown) })
		w.Require(errors.Is(err, deploy.ErrUnknown), "L9.unknown", "%v", err)
		l.drainQueues()
		w.Require(l.flip.Observe().Active.ID == "1", "L9.unknown", "it was published")
		for lane, known := range l.flip.Peek().Known {
			w.Require(len(known) == 2, "L9.unknown", "lane %d knows %v", lane, known)
		}
		w.NoError(l.flip.Follow(w.Scope(), view(newActive))) // the disk had it
		w.Require(l.flip.Observe().Active.ID == "2", "L9.unknown", "the decision was not followed")
		l.stop()
	})
}

// A replica follows what another one decided, while its clients go on; a view that is older than its own does not take it back.
func TestSimL9ReplicaFollows(t *testing.T) {
	sim.Check(t, "L9/replica-follows", func(w *sim.World) {
		r := newRig(w, 2, 1)
		l := r.start()
		r.clients()
		for _, disk := range []int64{newActive, oldActive} {
			w.Go("news", func() { w.NoError(l.flip.Follow(w.Scope(), view(disk))) })
		}
		w.Join()
		w.Require(l.flip.Observe().Number == newActive, "L9.follow", "view %d", l.flip.Observe().Number)
		w.NoError(l.flip.Follow(w.Scope(), view(oldRetired)))
		l.drainQueues()
		for lane, known := range l.flip.Peek().Known {
			w.Require(len(known) == 1, "L9.follow", "lane %d knows %v", lane, known)
		}
		l.stop()
	})
}

// A replica heard nothing of an activation until the deployment that it has active had retired as well: its lanes forget it.
func TestSimL9ReplicaThatMissedAViewForgets(t *testing.T) {
	sim.Check(t, "L9/replica-that-missed-a-view-forgets", func(w *sim.World) {
		l := newRig(w, 2, 1).start()
		w.NoError(l.flip.Follow(w.Scope(), view(oldRetired)))
		l.drainQueues()
		for lane, known := range l.flip.Peek().Known {
			w.Require(len(known) == 1 && known[0].ID == "2", "L9.follow", "lane %d knows %v", lane, known)
		}
		l.stop()
	})
}

// A lane is in the middle of a spawn under version 1 when version 2 is published: version 1 stays until that instance has ended.
func TestSimL9RetirementWaitsForTheSpawnUnderWay(t *testing.T) {
	sim.Check(t, "L9/retirement-waits-for-the-spawn-under-way", func(w *sim.World) {
		r := newRig(w, 2, 1)
		r.parked["old"].Store(0)
		l := r.start()
		w.Go("client new", func() {
			r.client("new", "spawn")
			r.client("new", "correlate")
		})
		w.Go("operator", func() {
			l.activate(w.Scope())
			l.retire(w.Scope())
		})
		w.Join()
		l.stop()
	}, sim.Runs(1000))
}

// Every schedule of two lanes, one activation, and a client that has the reply of one lane and then spawns on the other. The queues are closed when
// all is over, so that no scope adds steps.
func TestExhaustL9TwoLanesOneActivation(t *testing.T) {
	sim.Exhaust(t, "L9/two-lanes-one-activation", func(w *sim.World) {
		r := newRig(w, 2, 2)
		l := r.born()
		l.scope = nil
		over := sched.NewChan[bool](w.Scheduler(), "over", 1)
		for lane := range r.lanes {
			w.Go(fmt.Sprintf("lane %d", lane), func() { l.loop(lane) })
		}
		w.Go("client", func() {
			first := l.flip.Take(0).Active.Definitions // as if lane 0 had spawned and replied
			again := l.tell(1, "again")
			w.Require(again >= first, "L9.back", "a spawn after a reply of version %d started version %d", first, again)
			over.Send(true)
		})
		_, err := l.flip.Activate(nil, version(2), l.decide)
		w.NoError(err)
		over.Receive()
		for _, q := range l.queues {
			q.Close()
		}
		w.Join()
	})
}

// tell is ask without a life that ends, in as few steps as there can be.
func (l *life) tell(lane int, kind string) int {
	reply := sched.NewChan[int](l.Scheduler(), "reply", 1)
	l.queues[lane].Send(item{kind: kind, client: "new", reply: reply})
	answer, _ := reply.Receive()
	return answer
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L9/wrong-specification", "../../tla/flip", spec.Load, map[string]string{
		"single-phase": "mismatch Flip.KnowFails", "phase-two-through-queues": "mismatch Flip.Publish",
		"abort-beside-the-queue": "mismatch Flip.Abort",
	}, func(w *sim.World, wrong *trace.Spec) {
		r := newRig(w, 2, 2)
		fails := 1
		r.refuse = func(int) error {
			if fails--; fails == 0 {
				return errors.New("no room")
			}
			return nil
		}
		spec.AttachTo(w, wrong)
		l := r.start()
		l.activate(w.Scope())
		l.stop()
	})
}
