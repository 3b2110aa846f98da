package lane_test

import (
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/lane"
)

// delivery is a request that resolves to an instance on the lane it arrives on.
type delivery struct {
	to      string // instance that it resolves to; "" spawns where it arrives
	attempt *lane.Handoff[string, string]
}

// landing is the reply: on which lane the step of a delivery ran.
type landing struct{ ran int }

// lanes are the requests of one check and what the lanes do with them.
type lanes struct {
	w        deadlock.World
	s        sched.Scheduler
	decoded  *sched.Int64
	resolved *sched.Int64
	r        *lane.Router[*delivery, landing]
	hold     func() // called by a lane with each delivery that arrives; nil does nothing
}

func newLanes(w deadlock.World, o lane.Options) *lanes {
	decoded := sched.NewInt64(w.Scheduler(), "decoded", 0)
	resolved := sched.NewInt64(w.Scheduler(), "resolved", 0)
	l := &lanes{w: w, s: w.Scheduler(), decoded: &decoded, resolved: &resolved}
	r, err := lane.NewRouter(l.s, o, l.prepare)
	w.NoError(err)
	w.Own(r)
	l.r = r
	if simulated, ok := w.(*sim.World); ok {
		spec.Attach(simulated)
	}
	r.Start(w.Scope())
	return l
}

// deliver is what a transport does.
func (l *lanes) deliver(to string) (landing, error) {
	return l.r.Deliver(l.w.Scope(), l.delivery(to))
}

func (l *lanes) delivery(to string) *delivery {
	d := &delivery{to: to}
	d.attempt = lane.NewHandoff(l.s, func() (string, error) {
		l.decoded.Add(1)
		return "message for " + to, nil
	}, func(string) (string, error) {
		l.resolved.Add(1)
		return to, nil
	})
	return d
}

// prepare is the part of an engine that routing is about.
func (l *lanes) prepare(id int, d *delivery) lane.Step[*delivery, landing] {
	if d.attempt == nil {
		return answer(landing{ran: id}) // knows its instance: a timer
	}
	if !d.attempt.Arrived() {
		return l.resume(id, d)
	}
	if l.hold != nil {
		l.hold()
	}
	_, err := d.attempt.Decode()
	l.w.NoError(err)
	if d.to == "" {
		return answer(landing{ran: id})
	}
	target, err := d.attempt.Resolve()
	l.w.NoError(err)
	if l.r.Owner(target) == id {
		return l.resume(id, d)
	}
	return lane.Step[*delivery, landing]{Answer: lane.Answer[*delivery, landing]{
		Hop: &lane.Hop[*delivery]{Instance: target, Request: d},
	}}
}

func (l *lanes) resume(id int, d *delivery) lane.Step[*delivery, landing] {
	message, target := d.attempt.Receive()
	l.w.Require(message == "message for "+d.to && target == d.to, "L15.message", "received %q for %q", message, target)
	for _, stage := range []lane.Stage{lane.Claimed, lane.Loaded, lane.Guarded, lane.Pinned, lane.Resumed} {
		d.attempt.Enter(stage)
	}
	l.w.Require(l.r.Owner(target) == id, "L2.owner", "instance %s ran on lane %d", target, id)
	return answer(landing{ran: id})
}

func answer(at landing) lane.Step[*delivery, landing] {
	return lane.Step[*delivery, landing]{Answer: lane.Answer[*delivery, landing]{Reply: at}}
}

// instanceOn returns an id whose owner is the lane.
func instanceOn[Q, R any](r *lane.Router[Q, R], id int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("i%d", i); r.Owner(name) == id {
			return name
		}
	}
}

// Deliveries that cross between two lanes with room for one request each all arrive, because the room is
// waited for by callers and never by a lane.
func TestSimL2CrossingDeliveriesArrive(t *testing.T) {
	sim.Check(t, "L2/crossing-deliveries-arrive", crossingDeliveries)
}

func crossingDeliveries(w *sim.World) { cross(w) }

func cross(w deadlock.World) {
	l := newLanes(w, lane.Options{Lanes: 2, Queue: 1})
	names := []string{instanceOn(l.r, 0), instanceOn(l.r, 1)}
	for i := range 6 {
		w.Go(fmt.Sprintf("transport %d", i), func() {
			at, err := l.deliver(names[(i+1)%2])
			w.NoError(err)
			w.Require(at.ran == (i+1)%2, "L2.owner", "ran on lane %d", at.ran)
		})
	}
	w.Join()
	l.r.Close()
	w.Finally(func() {
		w.Require(l.resolved.Peek() == 6, "L2.I3", "6 deliveries were resolved %d times", l.resolved.Peek())
	})
}

// What hops is the decoded, validated and resolved delivery: the receiver does none of it again, although the
// body could be decoded and the key resolved there too, possibly with another result.
func TestSimL15ReceiverUsesWhatTravelled(t *testing.T) {
	sim.Check(t, "L15/receiver-uses-what-travelled", func(w *sim.World) {
		l := newLanes(w, lane.Options{Lanes: 2, Queue: 1})
		for i := range 4 {
			w.Go(fmt.Sprintf("transport %d", i), func() {
				_, err := l.deliver(instanceOn(l.r, i/2))
				w.NoError(err)
			})
		}
		w.Join()
		l.r.Close()
		w.Finally(func() {
			w.Require(l.decoded.Peek() == 4, "L15.I1", "4 deliveries were decoded %d times", l.decoded.Peek())
			w.Require(l.resolved.Peek() == 4, "L2.I3", "4 deliveries were resolved %d times", l.resolved.Peek())
		})
	})
}

// A spawn runs where it arrives, and arrivals go round while every lane is idle; a timer goes straight to the owner.
func TestSimL2SpawnsStayAndTimersGoStraight(t *testing.T) {
	sim.Check(t, "L2/spawns-stay-and-timers-go-straight", spawnsAndTimers)
}

func spawnsAndTimers(w *sim.World) {
	l := newLanes(w, lane.Options{Lanes: 3, Queue: 1})
	ran := sched.NewChan[int](w.Scheduler(), "ran", 6)
	w.Go("transport", func() {
		for range 6 {
			at, err := l.deliver("")
			w.NoError(err)
			ran.Send(at.ran)
		}
	})
	w.Join()
	at, err := l.r.Straight(w.Scope(), instanceOn(l.r, 2), &delivery{})
	w.NoError(err)
	w.Require(at.ran == 2, "L2.owner", "a timer of lane 2 ran on lane %d", at.ran)
	l.r.Close()
	counts := map[int]int{}
	for range 6 {
		id, _ := ran.Receive()
		counts[id]++
	}
	w.Require(counts[0] == 2 && counts[1] == 2 && counts[2] == 2, "L2.arrivals", "six spawns ran as %v", counts)
}

// A full queue makes the caller wait, and the caller alone: with its lane held up, a caller whose scope
// ends is told that nothing was enqueued, and the other lane goes on. Nobody who was answered or has given up is load.
func TestSimL2FullQueuePushesBackOnTheCaller(t *testing.T) {
	sim.Check(t, "L2/full-queue-pushes-back-on-the-caller", func(w *sim.World) {
		held := sched.NewNotify(w.Scheduler(), "held lane")
		r, err := lane.NewRouter(w.Scheduler(), lane.Options{Lanes: 2, Queue: 1}, func(id int, q string) lane.Step[string, string] {
			if q == "hold" {
				w.NoError(held.Wait(nil))
			}
			return lane.Step[string, string]{Answer: lane.Answer[string, string]{Reply: q}}
		})
		w.NoError(err)
		r.Start(w.Scope())
		busy, free := instanceOn(r, 0), instanceOn(r, 1)
		first, err := r.Accept(w.Scope(), busy, "hold")
		w.NoError(err)
		second, err := r.Accept(w.Scope(), busy, "hold")
		w.NoError(err)
		third, err := r.Accept(w.Scope().ChildTimeout("patience", 1), busy, "late")
		reply, errFree := r.Straight(w.Scope(), free, "through")
		w.NoError(errFree)
		w.Require(reply == "through", "L2.free", "the free lane replied %q", reply)
		held.One()
		_, errFirst := first.Wait(w.Scope())
		w.NoError(errFirst)
		held.One()
		_, errSecond := second.Wait(w.Scope())
		w.NoError(errSecond)
		// The lane may have taken the first request before the patience ended, which made room.
		if err == nil {
			_, err = third.Wait(w.Scope())
			w.NoError(err)
		}
		w.Require(!r.Busy(r.Owner(busy)), "L2.load", "everybody was answered or has given up, and the lane is busy")
		r.Close()
	}, sim.EarlyTimeouts())
}

// Two deliveries that cross, every schedule.
func TestExhaustL2CrossingDeliveries(t *testing.T) {
	sim.Exhaust(t, "L2/crossing-deliveries", func(w *sim.World) {
		l := newLanes(w, lane.Options{Lanes: 2, Queue: 1})
		names := []string{instanceOn(l.r, 0), instanceOn(l.r, 1)}
		w.Go("transport", func() {
			_, err := l.deliver(names[1])
			w.NoError(err)
		})
		_, err := l.deliver(names[0])
		w.NoError(err)
		w.Join()
		l.r.Close()
	})
}
