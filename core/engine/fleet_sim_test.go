package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/network"
)

// The whole execution plane: 1 to 4 replicas of 1 to 8 lanes over one store, whose commits fail, lose their answers and land late.
// Clients redeliver over a network that loses, doubles, reorders and delays; replicas crash, sleep for longer than it takes to
// free their claims, are stopped and started, the store loses what was not durable, and in the middle another deployment is activated. Every acknowledged delivery takes effect
// once; of one client in its order; who waits for an end is told it when it is durable; and then nothing is left.
func TestSimL17FleetLosesNothing(t *testing.T) {
	flows := definitions(t, "sum.bpmn", "nap.bpmn", "charge.bpmn", "remind.bpmn", "route.bpmn")
	sim.Check(t, "L17/fleet-loses-nothing", func(w *sim.World) {
		only := [][]string{
			{"take", "load", "commit", "head", "release", "resolve", "receipt", "recorded", "write", "row"},
			{"incarnate", "write", "renew", "take", "release", "vacate", "collect", "delivered", "reserve timers", "reserve emissions", "give back"},
			nil, // whatever the store is asked
		}[w.Choose("what fails", 3)]
		f := newFleet(newOutside(w, flows, memory.Options{Refuse: 12, Lose: 8, Budget: 6, Scope: w.Scope(), Only: only}), 2*time.Second)
		f.trouble(3)
		for _, account := range []string{"a", "b"} {
			f.account(account)
		}
		f.task("operator", func() {
			f.sleep(time.Duration(w.Choose("activates after", 6)) * time.Second)
			f.activate("d2")
			r := f.client("operator").bring(message("route", "after", "", integer("amount", 5)), 3*time.Second)
			in := f.durable(r.Instance)
			w.Require(in.Deployment == "d2", "L9.flip", "an instance that was started after the activation of d2 is one of %s", in.Deployment)
		})
		f.task("napper", func() {
			r := f.client("napper").bring(message("nap", "nap", ""), 20*time.Second)
			w.Require(r.Outcome == engine.Completed, "L5.end", "nap: %+v", r)
		})
		f.wait()
		w.StopFaults()
		f.engine.StopFaults()
		f.sleep(3 * sweepAge)
		f.calm()
		f.ended()
		f.added("a", "b")
	}, sim.Faults(10), sim.Steps(400_000))
}

// account is opened twice under one id, by clients that wait for its end; two others add to it, two amounts each in order.
func (f *fleet) account(name string) {
	open := message("open-and-wait", "open-"+name, "", text("account", name), integer("wanted", 4))
	for i := range 2 {
		f.task("opener of "+name, func() {
			r := f.client(fmt.Sprintf("opener %d of %s", i, name)).bring(open, 20*time.Second)
			f.Require(r.Outcome == engine.Completed && r.Status == store.Completed, "L5.end", "opened %s: %+v", name, r)
			f.Require(string(r.Result) == string(f.durable(r.Instance).Result), "L5.result", "opened %s: told %s", name, r.Result)
		})
		f.task("adder to "+name, func() {
			c := f.client(fmt.Sprintf("adder %d to %s", i, name))
			for j := range 2 {
				n := 2*i + j
				r := c.bring(message("add", fmt.Sprintf("%s-%d", name, n), name, integer("amount", 1<<n)), 3*time.Second)
				f.Require(r.Outcome == engine.Accepted, "L1.reply", "add %d to %s: %+v", n, name, r)
				f.Require(r.Instance == openedBy(open), "L17.spawn", "add %d to %s went to %s, which is not what every replica makes of it", n, name, r.Instance)
			}
		})
	}
}

// openedBy is the instance that a delivery opens.
func openedBy(d engine.Delivery) store.InstanceID {
	return engine.SpawnID(store.Delivery{Channel: d.Channel, ID: d.ID})
}

// added requires that each amount counted once, and those of one client in its order.
func (f *fleet) added(accounts ...string) {
	for _, name := range accounts {
		id := openedBy(message("open-and-wait", "open-"+name, ""))
		in := f.durable(id)
		s, err := flow.Decode(in.Snapshot)
		f.NoError(err)
		f.Require(number(s.Variables.Context, "total") == 15 && s.Steps == 5, "L1.once", "account %s after %d steps: %s", name, s.Steps, in.Snapshot)
		f.Require(f.arrived[id] == 4, "L11.arrived", "%d totals of account %s arrived", f.arrived[id], name)
		before := int64(0)
		for n := range 4 {
			var told struct{ Total int64 }
			f.NoError(json.Unmarshal(f.emitted[fmt.Sprintf("%s/%d", id, n+1)], &told))
			added := told.Total - before
			first := added == 1 || added == 4
			f.Require(first || added == 2 && before&1 != 0 || added == 8 && before&4 != 0, "L1.order", "account %s: %d came after %d", name, added, before)
			before = told.Total
		}
	}
}

// calm requires progress: without faults each request is answered at once, wherever it is brought and wherever its instance ends.
func (f *fleet) calm() {
	first, last := f.replicas[0], f.replicas[len(f.replicas)-1]
	open := message("open-and-wait", "open-z", "", text("account", "z"), integer("wanted", 2))
	id := openedBy(open)
	adder := f.client("calm adder")
	f.atOnce(adder, last, message("keep", "z-0", "z", integer("amount", 1)), engine.Kept)
	f.task("calm opener", func() { f.atOnce(f.client("calm opener"), first, open, engine.Completed) })
	f.task("calm napper", func() { f.atOnce(f.client("calm napper"), last, message("nap", "nap-z", ""), engine.Completed) })
	f.task("calm adder", func() {
		for range 20 {
			if in := f.durable(id); in.Emitted == 1 {
				break
			}
			f.sleep(time.Second)
		}
		f.atOnce(adder, last, message("add", "z-1", "z", integer("amount", 2)), engine.Accepted)
	})
	f.task("calm worker", func() { f.work1(first) })
	f.atOnce(f.client("calm charger"), last, message("charge", "charge", "", text("order", "o")), engine.Accepted)
	f.wait()
	f.sleep(3 * sweepAge)
}

// atOnce requires the answer to the first attempt.
func (f *fleet) atOnce(c *client, to *replica, d engine.Delivery, want engine.Outcome) {
	r, err := c.ask(f.number(d), to, 15*time.Second)
	f.Require(err == nil && r.Outcome == want, "L17.calm", "%s at %s: %+v, %v", d.ID, to.name, r, err)
}

// work1 waits at a replica for one task, wherever that is offered, and completes it.
func (f *fleet) work1(r *replica) {
	err := r.on(time.Minute, func(scope *sched.Scope, e *engine.Engine) error {
		got, err := e.FetchTasks(scope, engine.Fetch{Worker: "w", Types: []string{"charge"}, Max: 1, Lock: time.Minute, Wait: 10 * time.Second})
		if err == nil && len(got) == 1 {
			_, err = e.CompleteExternal(scope, got[0].Ref, feel.NewContext())
		}
		f.Require(len(got) == 1, "L17.calm", "the worker got %d tasks: %v", len(got), err)
		return err
	})
	f.Require(err == nil, "L17.calm", "the worker: %v", err)
}

// A timer start event is one, however many replicas know of it: they crash, sleep and are stopped, and it starts each of its
// instances once; what each throws is heard once.
func TestSimL17SchedulesAreOneForAllReplicas(t *testing.T) {
	flows := definitions(t, "every.bpmn")
	sim.Check(t, "L17/schedules-are-one-for-all-replicas", func(w *sim.World) {
		f := newFleet(newOutside(w, flows, memory.Options{Refuse: 12, Lose: 8, Budget: 4, Scope: w.Scope(), Only: []string{"take", "commit", "release"}}), 10*time.Second)
		r := f.client("listener").bring(message("hear", "h", ""), 3*time.Second)
		w.Require(r.Outcome == engine.Accepted, "L1.reply", "hear: %+v", r)
		for w.Scheduler().Now().Before(f.begun.Add(55 * time.Second)) {
			f.sleep(time.Second)
		}
		f.trouble(4)
		f.wait()
		w.StopFaults()
		f.engine.StopFaults()
		f.sleep(4 * time.Minute)
		starts := 0
		for id, in := range f.dump(f.engine.Peek).Instances { //order:they are counted
			if in.Flow == "every" && !engine.IsSchedule(id) {
				starts++
			}
		}
		w.Require(starts == 3, "L10.once", "the timer start event started %d instances, not 3", starts)
		s, err := flow.Decode(f.durable(r.Instance).Snapshot)
		w.NoError(err)
		w.Require(number(s.Variables.Context, "n") == 3, "L11.once", "%d messages arrived, not 3: %s", number(s.Variables.Context, "n"), f.durable(r.Instance).Snapshot)
		for _, x := range f.replicas {
			x.stop()
		}
	}, sim.Steps(400_000))
}

// A delivery is held at one replica and its instance ends at another: a hint brings the answer, hours before anybody would have looked.
func TestSimL17EndElsewhereIsToldAtOnce(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L17/end-elsewhere-is-told-at-once", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		f := &fleet{
			outside: x, net: network.New(w), outer: sched.NewWaitGroup(w.Scheduler(), "clients"), told: true, honest: true,
			options: engine.Options{Shared: true, Lanes: 1 + w.Choose("lanes", 2), SettlePoll: time.Hour, SettleTimeout: 3 * time.Hour},
		}
		f.begin(2)
		w.StopFaults() // of the network
		open := message("open-and-wait", "open-a", "", text("account", "a"), integer("wanted", 1))
		id := openedBy(open)
		ended := time.Time{}
		f.task("opener", func() {
			f.sleep(time.Second) // the replicas have started
			f.atOnce(f.client("opener"), f.replicas[0], open, engine.Completed)
			late := w.Scheduler().Now().Sub(ended)
			w.Require(!ended.IsZero() && late < time.Second, "L17.late", "the end was told %v after it", late)
		})
		f.task("adder", func() {
			for f.durable(id).Status != store.Running {
				f.sleep(time.Second)
			}
			ended = w.Scheduler().Now()
			f.atOnce(f.client("adder"), f.replicas[1], message("add", "add-a", "a", integer("amount", 5)), engine.Accepted)
		})
		f.wait()
		f.sleep(sweepAge) // what it emitted leaves
		f.ended()
	}, sim.Steps(100_000), sim.Runs(25))
}
