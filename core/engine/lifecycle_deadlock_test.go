package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Two engines over one store work off deliveries, activate a deployment each at the same moment, and are stopped one after the other, the
// first perhaps in the middle of it all, on real threads. One decision is superseded, so the one who lost follows the other.
func TestDeadlockL13ReplicasActivateAndStop(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	inventory.Run(t, inventory.LaneDeadlock, "L13/replicas-activate-and-stop", deadlock.Workload(func(w *deadlock.Run) {
		newThreads(w, flows).activateAndStop()
	}, deadlock.Runs(30)))
}

// threads is two engines on real threads, and the point where their activations meet.
type threads struct {
	*deadlock.Run
	flows   []*flow.Definition
	st      store.Store
	meet    *sched.WaitGroup
	engines [2]*engine.Engine
	alone   [2]sched.Bool // has not come to the meeting
}

func newThreads(w *deadlock.Run, flows []*flow.Definition) *threads {
	s := w.Scheduler()
	st, _ := memory.Open(s, memory.Options{})
	meet := sched.NewWaitGroup(s, "both know")
	x := &threads{Run: w, flows: flows, st: st, meet: &meet}
	meet.Add(len(x.engines))
	for i := range x.engines {
		x.alone[i] = sched.NewBool(s, "alone", true)
	}
	for i := range x.engines {
		x.engines[i] = x.start(i)
	}
	return x
}

func (x *threads) start(i int) *engine.Engine {
	name := fmt.Sprintf("replica %d", i)
	e, err := engine.New(x.Scheduler(), x.Scope().Child(name), engine.Options{
		Replica: name, Shared: true, Lanes: 1 + x.Choose("lanes", 3), Queue: 1 + x.Choose("queue", 2),
		Sweep: claim.SweepOptions{Age: time.Hour}, SettleTimeout: time.Hour,
		Failpoint: func(at string) {
			if at == engine.PointKnown && x.come(i) {
				x.meet.Wait()
			}
		},
	}, engine.Parts{
		Store: x.st, Package: x.deployment("d1"), Handlers: map[string]engine.Handler{"add": sumUp},
		Compile: func(id string, _ []byte) (engine.Package, error) { return x.deployment(id), nil },
		Send:    func(*sched.Scope, store.Emission) error { return nil },
	})
	x.NoError(err)
	return e
}

func (x *threads) deployment(id string) engine.Package {
	return engine.Package{Deployment: id, Flows: x.flows, Channels: channelsOf(x.flows), Source: []byte(id)}
}

// come reports whether engine i came to the meeting just now.
func (x *threads) come(i int) bool {
	first := x.alone[i].Swap(false)
	if first {
		x.meet.Done()
	}
	return first
}

func (x *threads) activateAndStop() {
	activating := x.Scheduler().NewScope("activations")
	for i, e := range x.engines {
		x.Scheduler().Go(activating, "activation", func() {
			err := e.Activate(x.Scope(), x.deployment(fmt.Sprintf("d%d", 2+i)))
			x.come(i) // or it was stopped on the way
			x.Require(err == nil || i == 0, "L13.activate", "engine %d, which runs on: %v", i, err)
		})
	}
	x.Go("account", x.fill)
	x.Go("holder", func() {
		_, err := x.engines[0].Deliver(x.Scope(), message("open-and-wait", "held", "", text("account", "c"), integer("wanted", 1)))
		x.Require(errors.Is(err, engine.ErrUnsettled) || errors.Is(err, lane.ErrStopped), "L13.told", "the holder was told %v", err)
	})
	if x.Choose("early", 2) == 0 {
		activating.Join()
	}
	x.engines[0].Close()
	activating.Close()
	x.Join()
	x.engines[1].Close()
}

// fill opens an account and adds to it, through whichever engine answers.
func (x *threads) fill() {
	x.deliver(message("open", "open-a", "", text("account", "a"), integer("wanted", 3)))
	for i := range 3 {
		x.deliver(message("add", fmt.Sprintf("a-%d", i), "a", integer("amount", 1)))
	}
}

func (x *threads) deliver(d engine.Delivery) {
	var last error
	for n := range 1000 {
		r, err := x.engines[n%2].Deliver(x.Scope(), d)
		if err == nil {
			x.Require(r.Outcome == engine.Accepted, "L1.reply", "delivery %s: %+v", d.ID, r)
			return
		}
		last = err
		x.NoError(x.Scheduler().Sleep(x.Scope(), "redelivery", time.Millisecond))
	}
	x.Require(false, "L1.progress", "delivery %s was never answered: %v", d.ID, last)
}
