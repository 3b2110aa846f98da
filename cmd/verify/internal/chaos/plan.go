package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Fault is what happens to a replica, or to its way to the database.
type Fault string

// The faults.
const (
	Kill     Fault = "kill"      // SIGKILL, and started again
	Pause    Fault = "pause"     // SIGSTOP for longer than the claim timeout, then SIGCONT
	Cut      Fault = "cut"       // its connections are reset and refused
	Delay    Fault = "delay"     // what passes is late
	Mute     Fault = "mute"      // what the database answers is swallowed, then the connections are reset
	HalfTo   Fault = "half-to"   // the direction to the database is closed, then the connections are reset
	HalfFrom Fault = "half-from" // the direction from the database is closed, then the connections are reset
	Crash    Fault = "crash"     // the database is killed with all its processes, and started again
	Restart  Fault = "restart"   // SIGTERM, and started with the second version of the package
	Activate Fault = "activate"  // millrace apply of the second version
)

// faults are those that a plan draws from. The others have their place.
var faults = []Fault{Kill, Pause, Cut, Delay, Mute, HalfTo, HalfFrom, Crash}

// Event is one fault of a plan.
type Event struct {
	Fault   Fault         `json:"fault"`
	Replica int           `json:"replica"`
	At      time.Duration `json:"at"`  // since the faults began
	For     time.Duration `json:"for"` // until the replica is whole again
	Late    time.Duration `json:"late,omitempty"`
	Point   string        `json:"point,omitempty"` // Activate: the first attempt kills its replica here
}

// String shows the event on one line.
func (e Event) String() string {
	text := fmt.Sprintf("%6.2fs %-9s replica %d for %v", e.At.Seconds(), e.Fault, e.Replica, e.For.Round(time.Millisecond))
	if e.Late > 0 {
		text += fmt.Sprintf(", %v late", e.Late)
	}
	if e.Point != "" {
		text += ", killed at " + e.Point
	}
	return text
}

func (e Event) end() time.Duration { return e.At + e.For }

// Points are the failpoints of an activation, in its order. What died at the first of them has activated nothing.
func Points() []string {
	return []string{"activate/known", "activate/decided", "activate/published", "activate/opened"}
}

// activation is a plan with nothing in it but an activation that dies at a point.
func activation(point string, length time.Duration) []Event {
	return []Event{{Fault: Activate, At: length / 3, For: time.Second, Point: point}}
}

// downtime bounds how long a replica that was killed stays down.
const downtime = 1500 * time.Millisecond

// newPlan draws the faults of a run. Each kind has its turn before any comes again; but for a crash of the database, which
// all notice, at most all replicas but one are in trouble at a time; the activation comes in the middle and the rolling restart after it, while faults go on around them.
func newPlan(r *rand.Rand, replicas int, length, claimTimeout time.Duration) []Event {
	var plan []Event
	free := make([]time.Duration, replicas) // from when on a replica is whole
	var deck []Fault
	activated, restarts := false, r.Perm(replicas)
	for at := time.Duration(0); at < length; at += between(r, 500*time.Millisecond, 1500*time.Millisecond) {
		whole := wholeAt(free, at)
		if len(whole) < 2 || len(whole) < replicas && r.IntN(2) == 0 {
			continue // mostly one is in trouble, often two, never all
		}
		e := Event{Replica: whole[r.IntN(len(whole))], At: at}
		switch {
		case !activated && at >= length*2/5:
			e.Fault, e.Point, activated = Activate, Points()[r.IntN(len(Points()))], true
		case at >= length*3/5 && len(restarts) > 0 && slices.Contains(whole, restarts[0]):
			e.Fault, e.Replica, restarts = Restart, restarts[0], restarts[1:]
		default:
			if len(deck) == 0 {
				deck = slices.Clone(faults)
				r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
			}
			e.Fault, deck = deck[0], deck[1:]
		}
		e.last(r, claimTimeout)
		free[e.Replica] = e.end() + 500*time.Millisecond
		plan = append(plan, e)
	}
	return plan
}

func wholeAt(free []time.Duration, at time.Duration) (whole []int) {
	for i, from := range free {
		if from <= at {
			whole = append(whole, i)
		}
	}
	return whole
}

func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}

// last draws how long the event lasts, and how late what it delays is.
func (e *Event) last(r *rand.Rand, claimTimeout time.Duration) {
	switch e.Fault {
	case Kill:
		e.For = between(r, 10*time.Millisecond, downtime)
	case Pause:
		e.For = claimTimeout + between(r, claimTimeout/2, claimTimeout)
	case Delay:
		e.For, e.Late = between(r, time.Second, 3*time.Second), between(r, 20*time.Millisecond, 300*time.Millisecond)
	case Restart, Activate, Crash:
		e.For = between(r, 10*time.Millisecond, 300*time.Millisecond)
	default:
		e.For = between(r, 200*time.Millisecond, 2*time.Second)
	}
}
