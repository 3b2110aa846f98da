package engine_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/network"
)

// sweepAge is after how long the claims of a silent replica are freed.
const sweepAge = 5 * time.Second

// fleet is some replicas of an engine over one store. Clients reach them over a network that loses, doubles, reorders and delays.
type fleet struct {
	*outside
	net      *network.Network
	options  engine.Options
	replicas []*replica
	requests []engine.Delivery // what travels is the number of a request
	outer    sched.WaitGroup   // tasks outside of the replicas
	reverted bool              // the store has lost commits that were not durable
	told     bool              // replicas tell each other what there is to look at
	honest   bool              // and what they tell is heard, at once and once
}

// replica is one node of the fleet, through its lives.
type replica struct {
	f         *fleet
	name      string
	node      *sim.Node
	running   *engine.Engine // nil while it is down or starting
	listening *sched.Scope
	crashed   bool // once: an earlier life may have left claims
	hints     *sched.Chan[store.Hint]
}

// answered is what a replica sends back.
type answered struct {
	Number int
	Reply  engine.Reply
	Err    string
}

// newFleet draws the numbers of replicas and lanes, and starts them all. They look every poll for what others have left in the store.
func newFleet(x *outside, poll time.Duration) *fleet {
	f := &fleet{outside: x, net: network.New(x.World), outer: sched.NewWaitGroup(x.Scheduler(), "clients"), options: engine.Options{
		Shared: true, Lanes: 1 + x.Choose("lanes", 8), Queue: 1 + x.Choose("queue", 3), SettlePoll: poll, TaskPoll: poll,
		Sweep: claim.SweepOptions{Age: sweepAge, Poll: sweepAge / 5},
		Role:  claim.LeaseOptions{TTL: sweepAge / 2}, Hold: sweepAge / 2,
		// What another replica has left is found by looking, and clients wait for it.
		Timers: timer.Options{Poll: min(poll, 2*time.Second)}, Outbox: outbox.Options{Poll: min(poll, 2*time.Second), Workers: 2}, Mail: mail.Options{Poll: poll},
	}}
	x.lossy = x.Choose("reservations", 2) == 1
	f.told = x.Choose("hints", 2) == 1
	f.begin(1 + x.Choose("replicas", 4))
	return f
}

// begin starts so many replicas.
func (f *fleet) begin(n int) {
	for i := range n {
		r := &replica{f: f, name: "r" + strconv.Itoa(i)}
		f.replicas = append(f.replicas, r)
		r.up()
	}
}

func (f *fleet) sleep(d time.Duration) { f.NoError(f.Scheduler().Sleep(f.Scope(), "time passes", d)) }

// task runs f outside of the replicas; wait waits for all of those. Join would wait for the replicas too.
func (f *fleet) task(name string, do func()) {
	f.outer.Add(1)
	f.Go(name, func() {
		do()
		f.outer.Done()
	})
}

func (f *fleet) wait() { f.outer.Wait() }

// up begins the next life of a replica.
func (r *replica) up() {
	r.node, r.running = r.f.Node(r.name), nil
	listening := r.f.Scheduler().NewScope("listening")
	r.listening = listening
	node := r.node
	node.Go("start", func() {
		o := r.f.options
		o.Replica = r.name
		e := r.f.nodeWith(r.f.Scheduler().NewScope("life"), o, r.hinter())
		r.running = e
		place := r.f.net.Place(r.name)
		for {
			m, err := place.Receive(listening)
			if err != nil {
				return
			}
			node.Go("connection", func() { r.f.serve(e, place, m) })
		}
	})
}

// crash stops the replica wherever it is.
func (r *replica) crash() {
	r.node.Crash()
	r.running, r.crashed = nil, true
}

// stop closes the replica's engine. When that has returned no claim of it is left: whoever comes next starts at once. What a
// crash of the replica has left is for the sweep to find, and so is a claim that a crash of the store brings back: a free is not made
// durable.
func (r *replica) stop() {
	for range 60 { // it may be starting
		if r.running != nil {
			break
		}
		r.f.sleep(time.Second)
	}
	e, f := r.running, r.f
	f.Require(e != nil, "L17.start", "replica %s does not start", r.name)
	r.running = nil
	closed := sched.NewChan[struct{}](f.Scheduler(), "closed", 1)
	listening := r.listening
	r.node.Go("stop", func() {
		listening.Cancel(nil)
		e.Close()
		closed.Send(struct{}{})
	})
	closed.Receive()
	if !f.reverted && !r.crashed {
		f.unclaimed(r.name)
	}
}

// serve answers one message, if there is an answer. What it says is true at the moment it leaves.
func (f *fleet) serve(e *engine.Engine, place *network.Place, m network.Message) {
	number, err := strconv.Atoi(string(m.Body))
	f.NoError(err)
	d := f.requests[number]
	r, err := e.Deliver(f.Scheduler().NewScope("connection"), d)
	a := answered{Number: number, Reply: r}
	if err == nil && r.Outcome != engine.Unmatched && r.Outcome != engine.Kept && !slices.Contains([]string{"add", "keep"}, d.Channel) {
		f.Require(r.Instance == openedBy(d), "L17.spawn", "%s started %s, which is not the instance that every replica makes of it", d.ID, r.Instance)
	}
	switch {
	case err != nil:
		a.Err = err.Error()
	case r.Outcome == engine.Completed:
		f.Require(f.durable(r.Instance).Status.Terminal(), "L5.durable", "the end of %s was told to %s and is not durable", r.Instance, d.ID)
	case r.Outcome == engine.Accepted, r.Outcome == engine.Kept:
		f.Require(f.received(d.ID), "L7.durable", "%s was answered with %v, and its receipt is not durable", d.ID, r.Outcome)
	default:
	}
	body, err := json.Marshal(a)
	f.NoError(err)
	place.Send(m.From, body)
}

// client brings messages to the fleet, one at a time.
type client struct {
	f     *fleet
	place *network.Place
}

func (f *fleet) client(name string) *client { return &client{f, f.net.Place(name)} }

// errNoAnswer is what a client has that heard nothing, or that its message must be brought again.
var errNoAnswer = errors.New("no answer")

// ask sends a request to a replica and waits for its answer.
func (c *client) ask(number int, to *replica, patience time.Duration) (engine.Reply, error) {
	c.place.Send(to.name, []byte(strconv.Itoa(number)))
	scope := c.f.Scope().ChildTimeout("patience", patience)
	defer scope.Close()
	for {
		m, err := c.place.Receive(scope)
		if err != nil {
			return engine.Reply{}, errNoAnswer
		}
		var a answered
		c.f.NoError(json.Unmarshal(m.Body, &a))
		switch {
		case a.Number != number: // an old answer that was late, or came twice
		case a.Err != "":
			c.f.Logf("request %d: %s", number, a.Err)
			return engine.Reply{}, errNoAnswer
		default:
			return a.Reply, nil
		}
	}
}

// number makes a request of a delivery.
func (f *fleet) number(d engine.Delivery) int {
	f.requests = append(f.requests, d)
	return len(f.requests) - 1
}

// bring asks drawn replicas until one has answered; what nobody waits for yet is brought again. Afterwards it may send the request
// once more, for nobody to listen.
func (c *client) bring(d engine.Delivery, patience time.Duration) engine.Reply {
	number := c.f.number(d)
	for range 50 {
		r, err := c.ask(number, c.f.any(), patience)
		if err == nil && r.Outcome != engine.Unmatched {
			if c.f.Choose("again", 3) == 0 {
				c.place.Send(c.f.any().name, []byte(strconv.Itoa(number)))
			}
			return r
		}
		c.f.sleep(time.Second)
	}
	c.f.Require(false, "L17.progress", "%s was never answered", d.ID)
	return engine.Reply{}
}

func (f *fleet) any() *replica { return f.replicas[f.Choose("replica", len(f.replicas))] }

// on runs a call in a replica and waits for its answer outside of it.
func (r *replica) on(patience time.Duration, call func(*sched.Scope, *engine.Engine) error) error {
	e, s := r.running, r.f.Scheduler()
	if e == nil {
		return errNoAnswer
	}
	answers := sched.NewChan[error](s, "answer", 1)
	r.node.Go("call", func() { answers.Send(call(s.NewScope("call"), e)) })
	clock := sched.NewTimer(s, "patience", patience)
	defer clock.Stop()
	if got := sched.Select2(answers.OnReceive(), clock.Fired()); got.Index == 0 {
		return got.A
	}
	return errNoAnswer
}

// activate makes another deployment active, at drawn replicas, until one has said that it is.
func (f *fleet) activate(id string) {
	for range 50 {
		err := f.any().on(20*time.Second, func(scope *sched.Scope, e *engine.Engine) error { return e.Activate(scope, f.deployment(id)) })
		if err == nil {
			return
		}
		f.Logf("activate %s: %v", id, err)
		f.sleep(time.Second)
	}
	f.Require(false, "L17.progress", "%s was never activated", id)
}

// trouble does something to the fleet, n times.
func (f *fleet) trouble(n int) {
	f.task("trouble", func() {
		for range n {
			f.sleep(time.Duration(f.Choose("seconds", 4)) * time.Second)
			for range f.Choose("steps", 150) {
				f.Scheduler().Yield()
			}
			f.strike(f.any())
		}
	})
}

func (f *fleet) strike(r *replica) {
	switch f.Choose("trouble", 5) {
	case 0:
		r.crash()
		f.sleep(time.Duration(f.Choose("downtime", 3)) * time.Second)
		r.up()
	case 1: // longer than it takes to free its claims
		r.node.Pause()
		f.sleep(3 * sweepAge)
		r.node.Resume()
	case 2:
		r.stop()
		r.up()
	case 3: // the store loses what it had not made durable
		f.reverted = f.engine.Crash() > 0 || f.reverted
	default: // one sleeps while another dies
		other := f.any()
		if other == r {
			r.crash()
			r.up()
			return
		}
		r.node.Pause()
		f.sleep(time.Second)
		other.crash()
		f.sleep(sweepAge)
		other.up()
		r.node.Resume()
	}
}

// ended stops every replica and requires that nothing is left.
func (f *fleet) ended() {
	for _, r := range f.replicas {
		r.stop()
	}
	d := f.dump(f.engine.Peek)
	for id, in := range d.Instances { //order:each is judged by itself
		f.Require(in.Owner.Nobody(), "L4.left", "instance %s is still claimed by %v", id, in.Owner)
		f.Require(in.Status != store.Running || engine.IsSchedule(id) || engine.Internal(id), "L17.stuck", "instance %s has not ended: %s", id, in.Snapshot)
	}
	f.Require(len(d.Emissions) == 0, "L11.left", "emissions are left: %v", d.Emissions)
	for _, row := range d.Rows {
		f.Require(row.Space != mail.Space, "L16.left", "message %s is still kept", row.Key)
	}
}

// lossy is a store that loses every reservation at once, so that replicas meet at every timer and every emission.
type lossy struct{ *step.Store }

// ReserveTimers implements store.Reserver.
func (l lossy) ReserveTimers(scope *sched.Scope, _ string, after store.Timer, until time.Time, _ time.Duration, limit int) ([]store.Timer, store.Ticket, error) {
	return l.Timers(scope, after, until, limit)
}

// ReserveEmissions implements store.Reserver.
func (l lossy) ReserveEmissions(scope *sched.Scope, _ string, after store.InstanceID, _ time.Duration, limit int) ([]store.Emission, store.Ticket, error) {
	return l.Emissions(scope, store.Emission{Instance: after, Sequence: math.MaxUint64}, limit)
}

// shared is the store as an engine has it.
func (x *outside) shared() store.Store {
	if x.lossy {
		return lossy{x.st}
	}
	return x.st
}
