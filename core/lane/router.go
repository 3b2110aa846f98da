package lane

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// ErrSecondHop answers a delivery whose hop met a request to hop again. It had no effect, and can be tried
// again from the start.
var ErrSecondHop = errors.New("a resolved delivery hops once")

// Bounds of Options.
const (
	MaxLanes      = 1024
	MaxQueue      = 1 << 20
	DefaultLanes  = 1
	DefaultQueue  = 256
	minimumAmount = 1
)

// Options of a router. The zero value means one lane with the default queue.
type Options struct {
	// Lanes is the number of lanes, 1 to MaxLanes; 0 means DefaultLanes.
	Lanes int
	// Queue is how many requests wait per lane before callers wait too, 1 to MaxQueue; 0 means DefaultQueue.
	Queue int
}

// Validate reports every option out of range, joined.
func (o Options) Validate() error {
	return errors.Join(inRange("lanes", o.Lanes, MaxLanes), inRange("queue", o.Queue, MaxQueue))
}

func inRange(name string, value, most int) error {
	if value == 0 || (value >= minimumAmount && value <= most) {
		return nil
	}
	return fmt.Errorf("option %s: %d is not in 1…%d", name, value, most)
}

func (o Options) withDefaults() Options {
	if o.Lanes == 0 {
		o.Lanes = DefaultLanes
	}
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	return o
}

// Router (L2) decides which lane a request meets, and carries it there.
//
// It owns the lanes, the choice of the lane where a delivery arrives, and the rule that a request changes lanes at
// most once. An arrival takes the lane with the least load, the first such from a place that goes round: so it waits behind a slow
// commit only when every lane that it looked at is as busy, and a spawn, which stays where it arrives, fills lanes that hashing left idle. It decides affinity only; exclusiveness is the claim's.
// So a resolved delivery need not hop to an owner lane that is at work (Busy): the arrival lane may run it, if it gets the claim.
//
//	Deliver: caller ──arrival lane (least load)──▶ answer
//	                                    └─Hop─▶ caller ──owner lane (hash)──▶ answer
//	Straight: caller ──owner lane (hash)──▶ answer
//
// Invariants
//
//	I1  the owner lane of an instance depends on its id and the number of lanes only.
//	I2  a delivery hops at most once.
//	I3  a delivery is resolved once, on the lane it arrived on; one that did not ask to hop ran there.
//
//	Orders         the arrival lane's reply → the caller enqueues on the owner lane. A lane loop never enqueues:
//	               two lanes that each wait for room in the other's queue would wait for ever.
//	Linearization  the lane's (see Lane).
//	Waits          in the caller's task only: for room in a full queue and for the reply, until its scope ends.
//	Hot path       one read-modify-write and at most looks loads an arrival, one hash of the id and one load a resolved delivery.
//
// Spec tla/lane/Lane.tla · Model models/router.go · Checks TestSimL2*, TestExhaustL2*, TestModelL2*, TestTraceL2* · Mutants L2.*
type Router[Q, R any] struct {
	s        sched.Scheduler
	lanes    []*Lane[Q, R]
	arrivals sched.Uint64
}

// NewRouter returns a router over lanes that prepare requests with prepare, which is told the lane it
// runs on. The loops start with Start.
func NewRouter[Q, R any](s sched.Scheduler, o Options, prepare func(lane int, q Q) Step[Q, R]) (*Router[Q, R], error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make lane router: %w", err)
	}
	o = o.withDefaults()
	r := &Router[Q, R]{s: s, arrivals: sched.NewUint64(s, "lane arrivals", 0)}
	for id := range o.Lanes {
		r.lanes = append(r.lanes, newLane(s, id, o.Queue, prepare))
	}
	s.Own("L2", r, nil)
	return r, nil
}

// Start runs the loops as tasks of scope. Close ends them; the end of scope does not, because a request
// that was accepted runs to its end.
func (r *Router[Q, R]) Start(scope *sched.Scope) {
	for _, l := range r.lanes {
		l.start(scope)
	}
}

// Close refuses new requests. The loops end when they have run what they had accepted; joining the scope
// given to Start waits for that.
func (r *Router[Q, R]) Close() {
	for _, l := range r.lanes {
		l.close()
	}
}

// Lanes returns the number of lanes.
func (r *Router[Q, R]) Lanes() int { return len(r.lanes) }

// Queued returns how many requests wait in the queue of lane id.
func (r *Router[Q, R]) Queued(id int) int { return r.lanes[id].queue.Len() }

// Owner returns the lane of an instance: FNV-1a of its id, modulo the number of lanes. It is part of no
// stored format, so the number of lanes may change with every start.
func (r *Router[Q, R]) Owner(instance string) int {
	return int(Hash(instance) % uint64(len(r.lanes)))
}

// Busy reports whether lane id has requests without an answer. It is a hint: what it says may be old, which costs a hop or a wait.
func (r *Router[Q, R]) Busy(id int) bool { return r.lanes[id].load.Load() > 0 }

// Hash is the 64-bit FNV-1a hash of id: stable over processes and releases.
func Hash(id string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * prime
	}
	return h
}

// Deliver brings q to an arrival lane and, when that lane resolved it to an instance of another
// lane, to that one. It waits for room and for the reply, until scope ends.
func (r *Router[Q, R]) Deliver(scope *sched.Scope, q Q) (R, error) {
	p, err := r.arrival().Accept(scope, q)
	if err != nil {
		return *new(R), err
	}
	a, err := p.Wait(scope)
	if err != nil || a.Hop == nil {
		return a.Reply, err
	}
	return r.hop(scope, p, a.Hop)
}

// looks bounds how many lanes an arrival compares: the least of so many is as good as idle when some are.
const looks = 64

// arrival chooses the lane where a delivery arrives. What it reads may be old when the delivery gets there, which costs a wait and
// nothing else.
func (r *Router[Q, R]) arrival() *Lane[Q, R] {
	n := uint64(len(r.lanes))
	if n == 1 {
		return r.lanes[0]
	}
	place := r.arrivals.Add(1) - 1
	best := r.lanes[place%n]
	least := best.load.Load()
	for i := uint64(1); i < min(n, looks) && least > 0; i++ {
		l := r.lanes[(place+i)%n]
		if load := l.load.Load(); load < least {
			best, least = l, load
		}
	}
	return best
}

// Straight brings q to the owner lane of instance: timers, completions and administrative requests know
// their instance. It waits like Deliver.
func (r *Router[Q, R]) Straight(scope *sched.Scope, instance string, q Q) (R, error) {
	return r.ask(scope, instance, q, nil)
}

// Accept puts q into the queue of instance's owner lane and returns without waiting for the reply: what one
// task has accepted in an order runs in that order.
func (r *Router[Q, R]) Accept(scope *sched.Scope, instance string, q Q) (*Pending[Q, R], error) {
	return r.lanes[r.Owner(instance)].Accept(scope, q)
}

// Place puts q into the queue of a lane and returns without waiting for the reply: what concerns the lane itself.
func (r *Router[Q, R]) Place(scope *sched.Scope, lane int, q Q) (*Pending[Q, R], error) {
	return r.lanes[lane].Accept(scope, q)
}

// hop is the one change of lanes. It runs in the caller's task, so a full queue stops the caller and no lane.
func (r *Router[Q, R]) hop(scope *sched.Scope, from *Pending[Q, R], h *Hop[Q]) (R, error) {
	return r.ask(scope, h.Instance, h.Request, from)
}

// refuseHop is reached only by a fault of the program: the receiver of a hop resolved again.
func (r *Router[Q, R]) refuseHop(h *Hop[Q]) error {
	r.s.Check("L2", func() error {
		return sched.Broken("L2.I2", "a request on its owner lane asked to hop to instance %s", h.Instance)
	})
	return fmt.Errorf("deliver to instance %s: %w", h.Instance, ErrSecondHop)
}

// ask brings q to the owner lane of instance, where it must not ask to hop.
func (r *Router[Q, R]) ask(scope *sched.Scope, instance string, q Q, from *Pending[Q, R]) (R, error) {
	p, err := r.lanes[r.Owner(instance)].accept(scope, q, from)
	if err != nil {
		return *new(R), err
	}
	a, err := p.Wait(scope)
	if err == nil && a.Hop != nil {
		return a.Reply, r.refuseHop(a.Hop)
	}
	return a.Reply, err
}
