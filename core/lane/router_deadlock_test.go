package lane_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// The deliveries of the simulated check, on real threads.
func TestDeadlockL2CrossingDeliveriesOnThreads(t *testing.T) {
	inventory.Run(t, inventory.LaneDeadlock, "L2/crossing-deliveries-on-threads",
		deadlock.Workload(func(w *deadlock.Run) { cross(w) }, deadlock.Runs(100)))
}

// Both lanes are held up until each has one request under way and another in its queue, and all four belong on the other lane. Whoever
// put a hop into the full queue from a lane would wait for a lane that waits for him.
func TestDeadlockL2FullQueuesCross(t *testing.T) {
	inventory.Run(t, inventory.LaneDeadlock, "L2/full-queues-cross", deadlock.Workload(fullQueuesCross))
}

func fullQueuesCross(w *deadlock.Run) {
	l := newLanes(w, lane.Options{Lanes: 2, Queue: 1})
	open := sched.NewWriteOnce[bool](w.Scheduler(), "gate")
	l.hold = func() {
		_, err := open.Wait(w.Scope())
		w.NoError(err)
	}
	for range 2 {
		for i := range 2 {
			p, err := l.r.Place(w.Scope(), i, l.delivery(instanceOn(l.r, 1-i)))
			w.NoError(err)
			w.Go("transport", func() { l.follow(p, 1-i) })
		}
	}
	open.Set(true)
	w.Join()
	l.r.Close()
}

// follow waits for the answer of a delivery that was placed, and hops to the lane that is its own.
func (l *lanes) follow(p *lane.Pending[*delivery, landing], to int) {
	a, err := p.Wait(l.w.Scope())
	l.w.NoError(err)
	if a.Hop != nil {
		a.Reply, err = l.r.Straight(l.w.Scope(), a.Hop.Instance, a.Hop.Request)
		l.w.NoError(err)
	}
	l.w.Require(a.Reply.ran == to, "L2.owner", "ran on lane %d", a.Reply.ran)
}
