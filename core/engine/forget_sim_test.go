package engine_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
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
