package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// plant is a node that is crashed and started again over the same store.
type plant struct {
	*outside
	options engine.Options
	node    *sim.Node
	running *engine.Engine // nil while the node is down or starting
	begin   func(*sched.Scope) *engine.Engine
}

func newPlant(x *outside, o engine.Options) *plant {
	p := &plant{outside: x, options: o}
	p.up()
	return p
}

func (p *plant) up() {
	n := p.Node("node")
	p.node = n
	n.Go("start", func() {
		start := p.begin
		if start == nil {
			start = func(scope *sched.Scope) *engine.Engine { return p.outside.node(scope, p.options) }
		}
		e := start(p.Scheduler().NewScope("life"))
		p.running = e
	})
}

// powerCut stops the node wherever it is, loses what the store had not made durable, and starts the node again after a while.
func (p *plant) powerCut() {
	p.node.Crash()
	p.running = nil
	p.engine.Crash()
	p.NoError(p.Scheduler().Sleep(p.Scope(), "downtime", time.Duration(p.Choose("downtime", 3))*time.Second))
	p.up()
}

// cuts is a task that cuts the power some times, after drawn numbers of steps.
func (p *plant) cuts(n int) {
	p.Go("power", func() {
		for range n {
			p.NoError(p.Scheduler().Sleep(p.Scope(), "uptime", time.Duration(p.Choose("seconds", 3))*time.Second))
			for range p.Choose("steps", 120) {
				p.Scheduler().Yield()
			}
			p.powerCut()
		}
	})
}

// answer is what a connection brought back.
type answer struct {
	reply engine.Reply
	err   error
}

// errCut is what a client sees when its connection ends without an answer.
var errCut = errors.New("connection lost")

// connect runs a call on the node, as a connection does, and waits for its answer outside of the node.
func (p *plant) connect(call func(*sched.Scope, *engine.Engine) (engine.Reply, error)) (engine.Reply, error) {
	e := p.running
	if e == nil {
		return engine.Reply{}, errCut
	}
	s := p.Scheduler()
	answers := sched.NewChan[answer](s, "answer", 1)
	p.node.Go("connection", func() {
		r, err := call(s.NewScope("connection"), e)
		answers.Send(answer{r, err})
	})
	patience := sched.NewTimer(s, "client", 10*time.Second)
	got := sched.Select2(answers.OnReceive(), patience.Fired())
	if got.Index == 1 {
		return engine.Reply{}, errCut
	}
	patience.Stop()
	return got.A.reply, got.A.err
}

// deliver brings a message again until it is answered.
func (p *plant) deliver(d engine.Delivery) engine.Reply {
	for range 100 {
		r, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (engine.Reply, error) { return e.Deliver(scope, d) })
		if err == nil {
			return r
		}
		p.Logf("delivery %s: %v", d.ID, err)
		p.NoError(p.Scheduler().Sleep(p.Scope(), "redelivery", time.Second))
	}
	p.Require(false, "L1.progress", "delivery %s was never answered", d.ID)
	return engine.Reply{}
}

// shut closes the last life, on the node.
func (p *plant) shut() {
	p.NoError(p.Scheduler().Sleep(p.Scope(), "settle", 20*time.Second))
	_, err := p.connect(func(_ *sched.Scope, e *engine.Engine) (engine.Reply, error) {
		e.Close()
		return engine.Reply{}, nil
	})
	p.NoError(err)
}

// The power is cut in the middle of everything, twice. What was acknowledged has taken effect once, what was not is
// delivered again and then has too.
func TestSimL1AcknowledgedDeliveriesSurviveAPowerCut(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L1/acknowledged-deliveries-survive-a-power-cut", func(w *sim.World) {
		p := newPlant(newOutside(w, flows, memory.Options{}), engine.Options{Lanes: 1 + w.Choose("lanes", 3), Queue: 1})
		p.cuts(2)
		for _, account := range []string{"a", "b"} {
			w.Go("account "+account, func() {
				opened := p.deliver(message("open", "open-"+account, "", text("account", account), integer("wanted", 3)))
				w.Require(opened.Outcome == engine.Accepted, "L1.reply", "open %s: %+v", account, opened)
				for i := range 3 {
					w.Go("add to "+account, func() {
						r := p.deliver(message("add", fmt.Sprintf("%s-%d", account, i), account, integer("amount", 1<<i)))
						w.Require(r.Outcome == engine.Accepted && r.Instance == opened.Instance, "L1.reply", "add to %s: %+v", account, r)
					})
				}
			})
		}
		w.Join()
		p.shut()
		p.settled()
	}, sim.Steps(60_000))
}

// settled requires of every account what the sum of its amounts demands. Instances that are no accounts are named.
func (x *outside) settled(others ...store.InstanceID) {
	d := x.dump(x.engine.Peek)
	for _, id := range others {
		delete(d.Instances, id)
	}
	maps.DeleteFunc(d.Instances, func(id store.InstanceID, _ store.Instance) bool { return engine.Internal(id) })
	x.Require(len(d.Instances) == 2, "L1.once", "%d instances", len(d.Instances))
	for id, in := range d.Instances {
		s, err := flow.Decode(in.Snapshot)
		x.NoError(err)
		x.Require(in.Status == store.Completed && number(s.Variables.Context, "total") == 7 && s.Steps == 4,
			"L1.once", "instance %s is %v after %d steps: %s", id, in.Status, s.Steps, in.Snapshot)
		x.Require(in.Owner.Nobody(), "L3.I5", "instance %s is still claimed by %v", id, in.Owner)
	}
	x.Require(len(d.Emissions) == 0 && len(x.emitted) == 6, "L11.arrived", "%d emissions arrived, rows left: %v", len(x.emitted), d.Emissions)
}

// A delivery that is held until its instance has ended is answered with the end, which is durable then; when its connection
// is lost with the node, the next one is answered from durable state.
func TestSimL1HeldDeliveryIsAnsweredWithTheEnd(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L1/held-delivery-is-answered-with-the-end", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		p := newPlant(x, engine.Options{Lanes: 1 + w.Choose("lanes", 2), SettlePoll: time.Second})
		p.cuts(1)
		open := message("open-and-wait", "open", "", text("account", "a"), integer("wanted", 1))
		id := engine.SpawnID(store.Delivery{Channel: "open-and-wait", ID: "open"})
		for range 2 {
			w.Go("opener", func() {
				r := p.deliver(open)
				w.Require(r.Outcome == engine.Completed && r.Instance == id, "L5.end", "opened: %+v", r)
				w.Require(x.durable(id).Status == store.Completed, "L5.durable", "the end was told and is not durable")
				w.Require(string(r.Result) == `{"account":"a","wanted":1,"amount":5,"total":5,"count":1}`, "L5.result", "%s", r.Result)
			})
		}
		w.Go("adder", func() {
			for x.durable(id).Status != store.Running {
				w.NoError(w.Scheduler().Sleep(w.Scope(), "opening", time.Second))
			}
			r := p.deliver(message("add", "add", "a", integer("amount", 5)))
			w.Require(r.Outcome == engine.Accepted, "L1.reply", "add: %+v", r)
		})
		w.Join()
		p.shut()
	}, sim.Steps(40_000))
}

// A timer that a step armed fires once, whatever is cut when; its emission arrives under one id; the task that it leads to
// is completed once, and a second completion is refused.
func TestSimL10TimerOfAFlowFiresOnceThroughPowerCuts(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L10/timer-of-a-flow-fires-once-through-power-cuts", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		p := newPlant(x, engine.Options{Lanes: 2})
		r := p.deliver(message("remind", "r", "", text("what", "rent")))
		w.Require(r.Outcome == engine.Accepted, "L1.reply", "remind: %+v", r)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "almost", 5*time.Minute-time.Second))
		w.Require(len(x.emitted) == 0, "L10.early", "reminded early")
		x.neverAdrift(r.Instance)
		p.cuts(2)
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", time.Minute))
		in := x.durable(r.Instance)
		w.Require(len(in.Waits) == 1 && in.Waits[0].Element == "review", "L10.once", "after the timer: %s", in.Snapshot)
		w.Require(len(x.emitted) == 1, "L10.once", "reminders: %v", x.emitted)
		p.review(r.Instance, in.Waits[0].Generation)
		p.shut()
	}, sim.Steps(40_000))
}

// neverAdrift requires that what a loss of power would leave of the instance always waits for something: a timer's row goes with
// the step that it leads to, not before it. Drawn cuts hardly meet the gap between two commits.
func (x *outside) neverAdrift(id store.InstanceID) {
	x.Invariant("L10.once", func() error {
		if in := x.durable(id); in.Status == store.Running && len(in.Waits) == 0 {
			return sched.Broken("L10.once", "instance %s would wait for nothing: %s", id, in.Snapshot)
		}
		return nil
	})
}

// review completes the task from two sides.
func (p *plant) review(id store.InstanceID, wait uint64) {
	done := 0
	for range 2 {
		p.Go("reviewer", func() {
			for range 20 {
				_, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (engine.Reply, error) {
					return e.CompleteTask(scope, id, wait, feel.NewContext())
				})
				if err == nil {
					done++
				}
				if !errors.Is(err, engine.ErrBusy) {
					p.Require(err == nil || errors.Is(err, engine.ErrNotWaiting) || errors.Is(err, engine.ErrNoInstance), "L1.reply", "review: %v", err)
					return
				}
				p.NoError(p.Scheduler().Sleep(p.Scope(), "busy", time.Second))
			}
		})
	}
	p.Join()
	p.Require(done == 1, "L1.once", "the task was completed %d times", done)
	p.Require(p.durable(id).Status == store.Completed, "L1.once", "after the review: %v", p.durable(id).Status)
}
