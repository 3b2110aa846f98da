package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// Messages come before, while and after somebody begins to wait for them, and the power is cut: each takes effect once, whether it
// was kept or not.
func TestSimL16KeptMessagesTakeEffectOnce(t *testing.T) {
	flows := definitions(t, "sum.bpmn")
	sim.Check(t, "L16/kept-messages-take-effect-once-through-power-cuts", func(w *sim.World) {
		p := newPlant(newOutside(w, flows, memory.Options{}), engine.Options{Lanes: 1 + w.Choose("lanes", 3), Queue: 1, Mail: mail.Options{Poll: time.Hour}})
		p.cuts(2)
		for _, account := range []string{"a", "b"} {
			w.Go("account "+account, func() {
				w.NoError(w.Scheduler().Sleep(w.Scope(), "opening", time.Duration(w.Choose("opens after", 4))*time.Second))
				opened := p.deliver(message("open", "open-"+account, "", text("account", account), integer("wanted", 3)))
				w.Require(opened.Outcome == engine.Accepted, "L1.reply", "open %s: %+v", account, opened)
			})
			for i := range 3 {
				w.Go("add to "+account, func() {
					r := p.deliver(message("keep", fmt.Sprintf("%s-%d", account, i), account, integer("amount", 1<<i)))
					w.Require(r.Outcome == engine.Accepted || r.Outcome == engine.Kept, "L1.reply", "add to %s: %+v", account, r)
				})
			}
		}
		w.Join()
		p.shut()
		p.swept()
		p.settled()
	}, sim.Steps(80_000))
}

// swept takes the rows of captured messages out of what settled looks at, and requires that no message is left.
func (x *outside) swept() {
	d := x.dump(x.engine.Peek)
	for _, r := range d.Rows {
		x.Require(r.Space != mail.Space, "L16.left", "message %s is still kept", r.Key)
	}
	for id := range d.Instances { //order:each is collected by itself
		if engine.Internal(id) {
			_, err := x.st.Collect(x.Scope(), id)
			x.NoError(err)
		}
	}
}

// A timer start event starts an instance for each of its times, once, whatever is cut when; what each throws reaches who waits
// for it, once.
func TestSimL11ThrownMessagesArriveOnce(t *testing.T) {
	flows := definitions(t, "every.bpmn")
	sim.Check(t, "L11/thrown-messages-arrive-once-through-power-cuts", func(w *sim.World) {
		p := newPlant(newOutside(w, flows, memory.Options{}), engine.Options{Lanes: 1 + w.Choose("lanes", 2), MessageTTL: time.Hour})
		r := p.deliver(message("hear", "h", ""))
		w.Require(r.Outcome == engine.Accepted, "L1.reply", "hear: %+v", r)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "first", time.Minute+time.Duration(w.Choose("second", 3))*time.Second))
		p.cuts(2)
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "all", 4*time.Minute))
		p.shut()
		d := p.dump(p.engine.Peek)
		starts := 0
		for id, in := range d.Instances { //order:they are counted
			if in.Flow == "every" && !engine.IsSchedule(id) {
				starts++
			}
		}
		w.Require(starts == 3, "L10.once", "the timer start event started %d instances, not 3", starts)
		s, err := flow.Decode(d.Instances[r.Instance].Snapshot)
		w.NoError(err)
		w.Require(number(s.Variables.Context, "n") == 3, "L11.once", "%d messages arrived, not 3: %s", number(s.Variables.Context, "n"), d.Instances[r.Instance].Snapshot)
	}, sim.Steps(80_000))
}

// A task inside a subprocess is completed at about the time at which the subprocess's timer interrupts it, and the power is cut: one
// of the two happens, once, and nothing inside outlives it.
func TestSimL10BoundaryOrCompletion(t *testing.T) {
	flows := definitions(t, "late.bpmn")
	sim.Check(t, "L10/boundary-or-completion-through-power-cuts", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		p := newPlant(x, engine.Options{Lanes: 1 + w.Choose("lanes", 2)})
		r := p.deliver(message("late", "l", ""))
		in := x.durable(r.Instance)
		wait := uint64(0)
		for _, o := range in.Waits {
			if o.Element == "review" {
				wait = o.Generation
			}
		}
		w.Require(wait > 0 && len(in.Waits) == 3, "L10.armed", "after the start: %s", in.Snapshot)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "almost", 8*time.Second))
		p.cuts(1)
		completed := false
		w.Go("reviewer", func() {
			w.NoError(w.Scheduler().Sleep(w.Scope(), "when", time.Duration(w.Choose("when", 5))*time.Second))
			completed = p.review1(r.Instance, wait)
		})
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", time.Minute))
		p.shut()
		in = x.durable(r.Instance)
		w.Require(in.Status == store.Completed && len(in.Waits) == 0 && len(x.emitted) == 1, "L10.once", "%v, emitted %v, %s", in.Status, x.emitted, in.Snapshot)
		w.Require(!completed || strings.Contains(x.targets, "done"), "L10.told", "the task was completed, and then %s", x.targets)
		for _, row := range x.dump(x.engine.Peek).Rows {
			w.Require(!strings.HasPrefix(row.Space, "task"), "L12.left", "the task inside is still offered: %s", row.Key)
		}
	}, sim.Steps(60_000))
}

// review1 completes the task once and reports whether that was acknowledged.
func (p *plant) review1(id store.InstanceID, wait uint64) bool {
	for range 20 {
		_, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (engine.Reply, error) {
			return e.CompleteTask(scope, id, wait, feel.NewContext())
		})
		if err == nil || errors.Is(err, engine.ErrNotWaiting) || errors.Is(err, engine.ErrNoInstance) {
			return err == nil
		}
		p.NoError(p.Scheduler().Sleep(p.Scope(), "again", time.Second))
	}
	return false
}
