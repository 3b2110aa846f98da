package timer_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/timer"
)

// patience is how long a check waits for timers: far longer than any due time and backoff in it.
const patience = time.Minute

// Timers fire once each, also those whose claim somebody else holds at first, whose instance somebody else
// advances meanwhile, and whose store refuses or loses an answer; without waiting for a look that comes by itself.
func dueTimerFiresOnce(w *sim.World) {
	r := newRig(w, memory.Options{
		Refuse: 5, Lose: 5, Budget: 4, Only: []string{"take", "commit", "timers", "head"},
	})
	r.park("a", time.Second)
	r.park("b", 2*time.Second)
	r.park("c", 2*time.Second)
	spec.Attach(w, r.engine)
	r.start(w.Scope(), timer.Options{Poll: time.Hour})
	w.Go("administrator", func() {
		owner := store.Owner{Replica: "admin", Incarnation: 1}
		claims := claim.New(w.Scheduler(), r.st, nil, owner)
		hold, err := claims.Take(w.Scope(), "b")
		if err != nil {
			return // the timer, or a fault of the store, was first
		}
		w.NoError(w.Scheduler().Sleep(w.Scope(), "administrator", 3*time.Second))
		w.NoError(hold.Free())
	})
	w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
	r.settled("a", "b", "c")
}

func TestSimL10DueTimerFiresOnce(t *testing.T) {
	sim.Check(t, "L10/due-timer-fires-once", dueTimerFiresOnce)
}

// A node that was down when a timer came due fires it after its start, once, whatever instant it went down at.
func overdueFires(w *sim.World) {
	r := newRig(w, memory.Options{})
	r.park("a", time.Second)
	r.park("b", 2*time.Second)
	spec.Attach(w, r.engine)
	s := w.Scheduler()
	first := w.Node("node")
	first.Go("start", func() { r.start(s.NewScope("first life"), timer.Options{}) })
	w.NoError(s.Sleep(w.Scope(), "uptime", time.Duration(w.Choose("uptime", 3))*time.Second))
	first.Crash()
	r.engine.Crash()
	// What had committed is told by the store alone: the first life cannot be asked any more.
	r.recount("a", "b")
	w.NoError(s.Sleep(w.Scope(), "downtime", 5*time.Second))
	r.start(w.Scope(), timer.Options{})
	w.NoError(s.Sleep(w.Scope(), "patience", patience))
	r.settled("a", "b")
}

func TestSimL10OverdueFiresAfterRestart(t *testing.T) {
	sim.Check(t, "L10/overdue-fires-after-restart", overdueFires)
}

// recount takes the number of fires from the store.
func (r *rig) recount(ids ...store.InstanceID) {
	for _, id := range ids {
		head, _, err := r.st.Head(r.Scope(), id)
		r.NoError(err)
		r.fires[id] = 0
		if head.Status == store.Completed {
			r.fires[id] = 1
		}
	}
}

// A lane that is busy for long delays its own timers and no other's, and nothing here waits on a lane: a timer that is
// armed meanwhile is still noticed.
func TestSimL10BusyLaneDelaysItsOwnTimersOnly(t *testing.T) {
	sim.Check(t, "L10/busy-lane-delays-its-own-timers-only", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		s := w.Scheduler()
		busy := []store.InstanceID{"a", "c", "e", "g", "i", "k", "m", "o"} // lane 1; more than a look reads at a time
		for _, id := range busy {
			r.park(id, time.Second)
		}
		r.park("b", 2*time.Second) // lane 0
		release := sched.NewNotify(s, "busy lane")
		n := r.start(w.Scope(), timer.Options{Batch: 1, Poll: time.Hour})
		n.hold = func(t store.Timer) {
			if ownerLane(t.Instance) == 1 && r.fires["a"]+r.fires["c"] == 0 {
				w.NoError(release.Wait(w.Scope()))
			}
		}
		w.NoError(s.Sleep(w.Scope(), "busy", patience))
		w.Require(r.fires["b"] == 1 && r.fires["a"]+r.fires["c"] == 0, "L10.lane", "fires while lane 1 is busy: %v", r.fires)
		r.park("d", 61*time.Second) // lane 0
		n.timers.Armed(r.begun.Add(61 * time.Second))
		w.NoError(s.Sleep(w.Scope(), "busy", 2*time.Second))
		w.Require(r.fires["d"] == 1, "L10.armed", "a timer armed now did not fire: %v", r.fires)
		release.One()
		w.NoError(s.Sleep(w.Scope(), "patience", patience))
		r.settled(append(busy, "b", "d")...)
	})
}

// A timer that a step arms fires at its time and not at the next look, also when it is armed in the middle of a look that
// finds nothing else.
func TestSimL10ArmedTimerIsNoticed(t *testing.T) {
	sim.Check(t, "L10/armed-timer-is-noticed", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		s := w.Scheduler()
		r.looks = sched.NewChan[struct{}](s, "second look", 1)
		n := r.start(w.Scope(), timer.Options{Poll: 10 * time.Minute})
		w.Go("lane", func() {
			r.looks.Receive()
			for range w.Choose("late", 8) {
				s.Yield() // anywhere within the look
			}
			r.park("b", 11*time.Minute)
			n.timers.Armed(r.begun.Add(11 * time.Minute))
		})
		w.NoError(s.Sleep(w.Scope(), "patience", 12*time.Minute))
		r.settled("b")
	}, sim.Runs(500))
}

// Refused timers are brought again after the backoff and not at the next look; it doubles with each refusal in a row up to
// its bound, also for those that find no room at their lane when their time comes.
func TestSimL10RefusalsBackOff(t *testing.T) {
	sim.Check(t, "L10/refusals-back-off", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		attempts := map[store.InstanceID][]time.Duration{}
		n := r.build(w.Scope(), timer.Options{Batch: 1, Poll: time.Hour, Backoff: time.Second, MaxBackoff: 8 * time.Second})
		n.instead = []timer.Outcome{timer.Refused, timer.Gone}[w.Choose("outcome", 2)] // and the store goes on to show it
		n.refuses = func(t store.Timer) bool {
			attempts[t.Instance] = append(attempts[t.Instance], w.Scheduler().Now().Sub(r.begun))
			return len(attempts[t.Instance]) < 7
		}
		for _, id := range []store.InstanceID{"a", "c", "e"} { // one lane
			r.park(id, time.Second)
		}
		n.timers.Start(w.Scope())
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		want := []time.Duration{1, 2, 4, 8, 16, 24, 32}
		for i := range want {
			want[i] *= time.Second
		}
		for _, id := range []store.InstanceID{"a", "c", "e"} {
			w.Require(slices.Equal(attempts[id], want), "L10.backoff", "%s was brought at %v, want %v", id, attempts[id], want)
		}
		r.settled("a", "c", "e")
	})
}

// A timer that is armed to be due a little before the next look fires at its time.
func TestSimL10ArmedBeforeTheLookIsPunctual(t *testing.T) {
	sim.Check(t, "L10/armed-before-the-look-is-punctual", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		n := r.start(w.Scope(), timer.Options{Poll: time.Minute})
		w.NoError(w.Scheduler().Sleep(w.Scope(), "first look", time.Second))
		due := time.Minute - []time.Duration{0, 1, time.Millisecond, time.Second, 30 * time.Second}[w.Choose("before", 5)]
		r.park("b", due)
		n.timers.Armed(r.begun.Add(due))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", 2*time.Minute))
		r.settled("b")
		w.Require(r.at["b"] == due, "L10.punctual", "due after %v and fired after %v", due, r.at["b"])
	}, sim.Runs(50))
}

// A lane that refuses more timers than are remembered takes no other lane's place, and a look that shows a part of what is due
// forgets none of those that wait.
func TestSimL10RefusedTimersTakeNoOthersPlace(t *testing.T) {
	sim.Check(t, "L10/refused-timers-take-no-others-place", func(w *sim.World) {
		r := newRig(w, memory.Options{})
		n := r.build(w.Scope(), timer.Options{Batch: 1, Poll: time.Hour, Backoff: time.Second, MaxBackoff: 16 * time.Second})
		var refused []store.InstanceID // lane 1; five are remembered, and a look shows a part
		for i := range 30 {
			refused = append(refused, store.InstanceID(fmt.Sprintf("%02da", i)))
		}
		up, last, brought := false, map[store.InstanceID]time.Duration{}, map[store.InstanceID]int{}
		n.refuses = func(t store.Timer) bool {
			id, now := t.Instance, w.Scheduler().Now().Sub(r.begun)
			if up {
				return false
			}
			least := min(time.Second<<max(brought[id]-1, 0), 16*time.Second)
			w.Require(brought[id] == 0 || now-last[id] >= least, "L10.backoff", "%s was brought at %v and again at %v", id, last[id], now)
			brought[id]++
			last[id] = now
			return true
		}
		for _, id := range refused {
			r.park(id, time.Second)
		}
		r.park("b", 3*time.Second) // lane 0, behind all of them
		n.timers.Start(w.Scope())
		w.NoError(w.Scheduler().Sleep(w.Scope(), "refusing", patience))
		w.Require(brought["b"] > 3, "L10.lane", "brought while lane 1 refuses: %v", brought)
		up = true
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		r.settled(append(refused, "b")...)
	}, sim.Runs(50))
}
