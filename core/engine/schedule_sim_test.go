package engine_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// Two versions of a process begin at the same moments, and one replaces the other at about such a moment, or after it, and may be replaced
// by it again; replicas crash, sleep and stop. Each moment starts one instance, of whichever version.
func TestSimL10MomentIsFiredForOneVersion(t *testing.T) {
	flows := definitions(t, "dated.bpmn")
	sim.Check(t, "L10/moment-is-fired-for-one-version", func(w *sim.World) {
		f := newFleet(newOutside(w, flows, memory.Options{
			Refuse: 12, Lose: 8, Budget: 4, Scope: w.Scope(), Only: []string{"take", "commit", "release", "write", "row"},
		}), 5*time.Second)
		f.task("operator", func() {
			f.at(time.Minute + time.Duration(w.Choose("half minutes", 4))*30*time.Second)
			f.yields(w.Choose("steps", 200))
			f.activate("d2")
			if w.Choose("back", 2) == 1 {
				f.at(time.Minute + time.Duration(1+w.Choose("minutes", 3))*time.Minute)
				f.yields(w.Choose("steps", 200))
				f.activate("d1")
			}
		})
		f.at(50 * time.Second)
		f.trouble(2)
		f.wait()
		w.StopFaults()
		f.engine.StopFaults()
		f.at(8 * time.Minute)
		f.startedOnce()
		for _, x := range f.replicas {
			x.stop()
		}
	}, sim.Steps(400_000), sim.Runs(60))
}

// A replica is inside the commit of a tick when another one makes another version active, whose schedules find that nothing was fired yet. The
// tick does not happen any more: the moment is the other version's.
func TestSimL10TickRestsOnTheDecision(t *testing.T) {
	flows := definitions(t, "dated.bpmn")
	sim.Check(t, "L10/tick-rests-on-the-decision", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		st := newGated(w, x.st, func(s *store.Step) bool { return engine.IsSchedule(s.Claim.Instance) && !s.Spawn })
		o := engine.Options{Shared: true, Replica: "slow", Lanes: 1 + w.Choose("lanes", 2)}
		slow := x.nodeOver(w.Scope(), st, o, nil)
		if _, err := st.inside.Wait(w.Scope()); err != nil {
			w.NoError(err)
		}
		o.Replica = "quick"
		quick := x.node(w.Scope(), o)
		w.NoError(quick.Activate(w.Scope(), x.deployment("d2")))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "schedules", 2*time.Second))
		st.open.Set(true)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "moments", 5*time.Minute))
		x.startedOnce()
		slow.Close()
		quick.Close()
	}, sim.Steps(100_000), sim.Runs(20))
}

// startedOnce requires that each moment of dated.bpmn has started one instance.
func (x *outside) startedOnce() {
	starts := map[string]int{}
	for id, in := range x.dump(x.engine.Peek).Instances { //order:they are counted
		if !engine.IsSchedule(id) && !engine.Internal(id) {
			starts[in.Flow]++
		}
	}
	x.Require(starts["dated"] == 1, "L10.once", "a date started %d instances", starts["dated"])
	x.Require(starts["thrice"] == 3, "L10.once", "three moments started %d instances", starts["thrice"])
}

// at waits for a time, counted from the beginning.
func (f *fleet) at(after time.Duration) {
	if rest := f.begun.Add(after).Sub(f.Scheduler().Now()); rest > 0 {
		f.sleep(rest)
	}
}

func (f *fleet) yields(n int) {
	for range n {
		f.Scheduler().Yield()
	}
}
