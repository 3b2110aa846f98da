package engine_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
)

// forgets is the housekeeping of a node: it removes receipts whose time is over, until scope ends.
func (p *plant) forgets(scope *sched.Scope, e *engine.Engine) {
	for {
		until, err := e.Forgettable(scope)
		if err == nil && !until.IsZero() {
			_, _, err = p.st.Expire(scope, store.InboxSpace, until, 100)
		}
		p.Logf("forgot until %v: %v", until, err)
		if p.Scheduler().Sleep(scope, "housekeeping", 2*time.Second) != nil {
			return
		}
	}
}

// A message was thrown, and the power is cut when it has arrived and its row is still there, for longer than its receipt is to be
// kept. Nothing removes the receipt before the row has gone, so it takes effect once; and then the receipt does go.
func TestSimL11ReceiptsOutliveTheirRows(t *testing.T) {
	flows := definitions(t, "every.bpmn")
	sim.Check(t, "L11/receipts-outlive-their-rows", func(w *sim.World) {
		p := newPlant(newOutside(w, flows, memory.Options{}), engine.Options{MessageTTL: time.Hour})
		r := p.deliver(message("hear", "h", ""))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "first", time.Minute+time.Second-time.Nanosecond))
		for range w.Choose("steps", 300) {
			w.Scheduler().Yield()
		}
		p.node.Crash()
		p.engine.Crash()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "downtime", 2*engine.RememberSent))
		p.up()
		for p.running == nil {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "start", time.Millisecond))
		}
		e, scope := p.running, w.Scheduler().NewScope("housekeeping")
		p.node.Go("housekeeping", func() { p.forgets(scope, e) })
		w.NoError(w.Scheduler().Sleep(w.Scope(), "all", time.Minute))
		scope.Cancel(nil)
		p.shut()
		d := p.dump(p.engine.Peek)
		s, err := flow.Decode(d.Instances[r.Instance].Snapshot)
		w.NoError(err)
		w.Require(number(s.Variables.Context, "n") == 3, "L11.once", "%d messages arrived, not 3: %s", number(s.Variables.Context, "n"), d.Instances[r.Instance].Snapshot)
		for _, x := range d.Receipts {
			w.Require(x.Expires.IsZero() || x.Expires.After(w.Scheduler().Now().Add(-time.Minute)), "L11.forgotten", "receipt %v is still there", x)
		}
	}, sim.Steps(80_000))
}

// An emission is written soon after the outbox was found empty, and its receiver is down for longer than receipts are kept: what may be
// forgotten ends before the receipt of that emission, also by a clock that is a minute behind.
func TestSimL17ForgettableIsBehindEveryRow(t *testing.T) {
	flows := definitions(t, "every.bpmn")
	const day = engine.RememberSent
	sim.Check(t, "L17/forgettable-is-behind-every-row", func(w *sim.World) {
		x, s := newOutside(w, flows, memory.Options{}), w.Scheduler()
		slow := outbox.Options{Backoff: time.Hour, MaxBackoff: time.Hour, Poll: time.Hour}
		e, err := engine.New(s, w.Scope(), engine.Options{
			Outbox: slow, Timers: timer.Options{Poll: time.Hour}, Mail: mail.Options{Poll: time.Hour}, Retire: time.Hour,
		}, engine.Parts{
			Store: x.st, Package: x.deployment("d1"), Send: func(*sched.Scope, store.Emission) error { return errCut },
		})
		w.NoError(err)
		until, err := e.Forgettable(w.Scope())
		w.Require(err == nil && until.Equal(s.Now()), "L17.forgettable", "nothing is in the outbox, and %v may be forgotten: %v", until, err)
		w.NoError(s.Sleep(w.Scope(), "soon", time.Duration(w.Choose("seconds", 100))*time.Second))
		written := s.Now()
		w.NoError(x.engine.Plant(&store.Step{
			Cause: "given", Spawn: true, Status: store.Completed, Claim: store.Claim{Instance: "i", Owner: store.Owner{Replica: "given"}},
			Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: "i"}}, Outbox: []store.Emission{{Target: "away"}},
		}))
		for s.Now().Before(written.Add(day + 3*time.Hour)) {
			until, err := e.Forgettable(w.Scope())
			w.NoError(err)
			w.Require(!until.Add(time.Minute).After(written.Add(day)), "L17.forgettable", "written at %v, and %v may be forgotten", written, until)
			w.NoError(s.Sleep(w.Scope(), "housekeeping", 2*time.Hour))
		}
		e.Close()
	}, sim.Runs(20), sim.Steps(20_000))
}

// An instance ended and its emission waits for a receiver that is down; its delivery was forgotten, its row made room for another, and
// whoever was to spawn that died. Nobody can tell any more of which deployment the emission is: deployments are listed all the same, and
// none that drains retires before it has left.
func TestSimL17EmissionOfAVoidRowHoldsDeployments(t *testing.T) {
	flows := definitions(t, "nap.bpmn")
	given := store.Delivery{Channel: "given", ID: "i"}
	sim.Check(t, "L17/emission-of-a-void-row-holds-deployments", func(w *sim.World) {
		x, s := newOutside(w, flows, memory.Options{}), w.Scheduler()
		up := false
		e, err := engine.New(s, w.Scope(), engine.Options{Lanes: 1 + w.Choose("lanes", 2), Retire: time.Second}, engine.Parts{
			Store: x.st, Package: x.deployment("d1"),
			Send: func(*sched.Scope, store.Emission) error {
				if !up {
					return errCut
				}
				return nil
			},
		})
		w.NoError(err)
		w.NoError(x.engine.Plant(&store.Step{
			Cause: "given", Spawn: true, Status: store.Completed, Claim: store.Claim{Instance: "i", Owner: store.Owner{Replica: "given"}},
			Deployment: "d1", Inbox: &store.Receipt{Delivery: given, Expires: s.Now().Add(time.Second)}, Outbox: []store.Emission{{Target: "away"}},
		}))
		_, _, err = x.st.Expire(w.Scope(), store.InboxSpace, s.Now().Add(time.Hour), 1)
		w.NoError(err)
		_, _, err = x.st.Vacate(w.Scope(), "i", given)
		w.NoError(err)
		w.NoError(e.Activate(w.Scope(), x.deployment("d2")))
		w.NoError(s.Sleep(w.Scope(), "looks", time.Duration(3+w.Choose("seconds", 60))*time.Second))
		all, err := e.Deployments(w.Scope())
		w.Require(err == nil && len(all) == 2, "L17.listed", "deployments %v: %v", all, err)
		_, draining := e.Active()
		w.Require(len(draining) == 1, "L17.early", "an emission is left, and draining is %v", draining)
		up = true
		w.NoError(s.Sleep(w.Scope(), "sends and looks", 10*time.Minute))
		_, draining = e.Active()
		w.Require(len(draining) == 0, "L17.late", "nothing is left, and draining is %v", draining)
		e.Close()
	}, sim.Steps(60_000))
}
