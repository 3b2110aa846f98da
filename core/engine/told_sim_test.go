package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// Two say that a task is done, and somebody asks for its instance. Who hears that there is no such instance any more hears it when no loss of
// power brings it back.
func TestSimL17RefusalsTellWhatIsDurable(t *testing.T) {
	flows := definitions(t, "charge.bpmn")
	sim.Check(t, "L17/refusals-tell-what-is-durable", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		e := x.node(w.Scope(), engine.Options{Replica: "a", Shared: true})
		other := x.node(w.Scope(), engine.Options{Replica: "b", Shared: true}) // no lane of its own waits for a commit of the first one
		x.transport(w.Scope(), message("charge", "c", ""), func() *engine.Engine { return e })
		got, err := e.FetchTasks(w.Scope(), engine.Fetch{Worker: "w", Types: []string{"charge"}, Max: 1, Lock: time.Minute})
		w.NoError(err)
		w.Require(len(got) == 1, "L12.offer", "%d tasks", len(got))
		done, refused := 0, 0
		hears := func(name string, ask func() error) {
			w.Go(name, func() {
				for range 10 {
					err := ask()
					switch {
					case err == nil:
						continue
					case errors.Is(err, engine.ErrBusy):
						w.Scheduler().Yield()
						continue
					}
					x.expect(err, engine.ErrNoInstance)
					refused++
					in := x.durable(got[0].Ref.Instance)
					w.Require(in.Status.Terminal(), "L17.told", "%s was told %v, and durable is %v", name, err, in.Status)
					return
				}
			})
		}
		for i, name := range []string{"worker", "the same again"} {
			at := []*engine.Engine{e, other}[i]
			hears(name, func() error {
				_, err := at.CompleteExternal(w.Scope(), got[0].Ref, feel.NewContext())
				if err == nil {
					done++
				}
				return err
			})
		}
		hears("onlooker", func() error {
			_, err := other.Describe(w.Scope(), got[0].Ref.Instance)
			return err
		})
		w.Join()
		w.Require(done == 1 && refused >= 1, "L12.once", "%d completions, %d refusals", done, refused)
		e.Close()
		other.Close()
	}, sim.Steps(60_000))
}

// An instance of a deployment that drains goes on for so long that nobody looks often any more whether it has ended. When it has, its
// deployment retires soon, and so it does when somebody lists deployments of which nothing is left.
func TestSimL17RetirementFollowsTheLastEnd(t *testing.T) {
	flows := definitions(t, "charge.bpmn")
	sim.Check(t, "L17/retirement-follows-the-last-end", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		retire := time.Second
		e := x.node(w.Scope(), engine.Options{Lanes: 1 + w.Choose("lanes", 2), Shared: w.Choose("shared", 2) == 1, Retire: retire})
		instances := 1 + w.Choose("instances", 2)
		var all []store.InstanceID
		for _, name := range []string{"a", "b"}[:instances] {
			all = append(all, x.transport(w.Scope(), message("charge", name, ""), func() *engine.Engine { return e }).Instance)
		}
		w.NoError(e.Activate(w.Scope(), x.deployment("d2")))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "a long time", time.Duration(1+w.Choose("minutes", 3))*time.Minute+5*time.Second))
		for i, id := range all {
			_, draining := e.Active()
			w.Require(len(draining) == 1, "L17.early", "%d instances are left, and draining is %v", instances-i, draining)
			w.Go("operator", func() {
				_, err := e.CancelInstance(w.Scope(), id, 0)
				w.NoError(err)
			})
		}
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "looks", 3*retire))
		_, draining := e.Active()
		w.Require(len(draining) == 0, "L17.soon", "3 s after the last end %v drains", draining)
		e.Close()
	}, sim.Steps(60_000))
}

// overtaken is a store at which a decision is overtaken: its first answer is lost, then the row has moved, and the row of the deployment says
// that a later decision made it active, which is not durable yet.
type overtaken struct {
	store.Store
	id      string
	writes  int
	read    bool // the row that is not durable
	durable bool // it was waited for
}

// fresh is the ticket of what is not durable yet.
const fresh = store.Ticket(1) << 40

func (o *overtaken) WriteIf(scope *sched.Scope, expect store.Row, rows []store.Row) (store.Ticket, error) {
	if o.id == "" {
		return o.Store.WriteIf(scope, expect, rows)
	}
	if o.writes++; o.writes == 1 {
		return 0, store.ErrUnknown
	}
	return 0, store.ErrSuperseded
}

func (o *overtaken) Row(scope *sched.Scope, space, key string) (store.Row, store.Ticket, error) {
	if o.id != "" && o.writes > 1 && key == "info/"+o.id {
		o.read = true
		return store.Row{Space: space, Key: key, Value: []byte(`{"number":9}`)}, fresh, nil
	}
	return o.Store.Row(scope, space, key)
}

func (o *overtaken) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	if t == fresh {
		o.durable = true
		return nil
	}
	return o.Store.WaitDurable(scope, t)
}

// An operator hears that a deployment is active, because another decision than the own one made it so, when that one is durable.
func TestSimL17DecisionIsToldWhenItIsDurable(t *testing.T) {
	flows := definitions(t, "charge.bpmn")
	sim.Check(t, "L17/decision-is-told-when-it-is-durable", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		o := &overtaken{Store: x.shared()}
		e := x.nodeOver(w.Scope(), o, engine.Options{Shared: true}, nil)
		o.id = "d2"
		w.NoError(e.Activate(w.Scope(), x.deployment("d2")))
		w.Require(o.read && o.durable, "L17.told", "d2 was answered as active; its row was read: %v, waited for: %v", o.read, o.durable)
		e.Close()
	})
}
