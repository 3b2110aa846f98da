package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// ledger is what the workers were told, kept outside of the node.
type ledger struct {
	granted map[store.InstanceID]engine.Task // the last lock that somebody was told of
	settled map[store.InstanceID]int64       // the number whose completion was acknowledged
}

// worker locks, is slow now and then, and completes, until every task is settled.
func (p *plant) worker(l *ledger, name string, tasks int) {
	s := p.Scheduler()
	for range 200 {
		if len(l.settled) == tasks {
			return
		}
		var got []engine.Task
		asked := s.Now()
		_, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (_ engine.Reply, err error) {
			got, err = e.FetchTasks(scope, engine.Fetch{Worker: name, Types: []string{"charge"}, Max: 1, Lock: 10 * time.Second})
			return engine.Reply{}, err
		})
		if err != nil || len(got) == 0 {
			p.NoError(s.Sleep(p.Scope(), "idle", time.Second))
			continue
		}
		t := got[0]
		before, held := l.granted[t.Ref.Instance]
		p.Require(!held || before.Lock < t.Lock, "L12.I2", "lock %d was given away after lock %d", t.Lock, before.Lock)
		p.Require(!held || !asked.Before(before.Until), "L12.I3", "lock %d was given away while lock %d held until %v", t.Lock, before.Lock, before.Until)
		l.granted[t.Ref.Instance] = t
		p.NoError(s.Sleep(p.Scope(), "work", time.Duration(p.Choose("slow", 3))*6*time.Second))
		p.complete(l, t)
	}
}

// complete settles a task, and requires that who is late does not.
func (p *plant) complete(l *ledger, t engine.Task) {
	began := p.Scheduler().Now()
	r, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (engine.Reply, error) {
		return e.CompleteExternal(scope, t.Ref, feel.NewContext(integer("by", int64(t.Lock))))
	})
	if err != nil {
		p.Require(errors.Is(err, errCut) || errors.Is(err, engine.ErrLease) || errors.Is(err, engine.ErrNotWaiting) || errors.Is(err, engine.ErrNoInstance) ||
			errors.Is(err, engine.ErrBusy) || errors.Is(err, engine.ErrUndecided) || errors.Is(err, engine.ErrStore) || errors.Is(err, sched.ErrCanceled),
			"L12.answer", "complete: %v", err)
		return
	}
	p.Require(r.Outcome == engine.Accepted, "L12.answer", "complete: %+v", r)
	last := l.granted[t.Ref.Instance]
	p.Require(last.Lock == t.Lock, "L12.I1", "lock %d settled the task after lock %d was given away", t.Lock, last.Lock)
	p.Require(began.Before(t.Until), "L12.expired", "a completion at %v under a lock until %v was accepted", began, t.Until)
	_, twice := l.settled[t.Ref.Instance]
	p.Require(!twice, "L12.once", "the task was completed twice")
	l.settled[t.Ref.Instance] = int64(t.Lock)
}

// Workers are slow, and the power is cut: each task is settled once, by who holds it, and what was settled is what the instance
// ends with.
func TestSimL12LateHolderSettlesNothing(t *testing.T) {
	flows := definitions(t, "charge.bpmn")
	sim.Check(t, "L12/late-holder-settles-nothing", func(w *sim.World) {
		p := newPlant(newOutside(w, flows, memory.Options{}), engine.Options{Lanes: 1 + w.Choose("lanes", 2)})
		l := &ledger{granted: map[store.InstanceID]engine.Task{}, settled: map[store.InstanceID]int64{}}
		r := p.deliver(message("charge", "c", "", text("order", "o")))
		for n := range 1 + w.Choose("workers", 2) {
			w.Go("worker", func() { p.worker(l, fmt.Sprintf("w%d", n), 1) })
		}
		p.cuts(1)
		w.Join()
		p.ended(r.Instance, l)
		p.shut()
	}, sim.Steps(60_000))
}

// ended requires that the instance has ended with what was acknowledged, or, when an answer got lost, with a lock that was given.
func (p *plant) ended(id store.InstanceID, l *ledger) {
	in := p.durable(id)
	p.Require(in.Status == store.Completed || len(l.settled) == 0, "L12.ended", "after all: %v: %s", in.Status, in.Snapshot)
	if number, ok := l.settled[id]; ok {
		want := fmt.Sprintf(`{"order":"o","by":%d}`, number)
		p.Require(string(in.Result) == want, "L12.result", "%s, acknowledged %s", in.Result, want)
	}
}

// Histories of locks, completions and releases of one task on the engine are those of one task alone.
func TestLinearL12Locks(t *testing.T) {
	flows := definitions(t, "charge.bpmn")
	inventory.Run(t, inventory.LaneLinear, "L12/locks-are-linearizable", func(t *testing.T) int {
		r, err := sim.Explore("L12/locks-are-linearizable", "random", func(w *sim.World) {
			x := newOutside(w, flows, memory.Options{})
			e := x.node(w.Scope(), engine.Options{Lanes: 1 + w.Choose("lanes", 2)})
			x.transport(w.Scope(), message("charge", "c", ""), func() *engine.Engine { return e })
			calls := &linearizability.Calls{}
			for id := 1; id <= 3; id++ {
				w.Go("worker", func() { x.session(e, calls, id) })
			}
			w.Join()
			e.Close()
			_, err := calls.Judge(linearizability.TaskModel())
			w.Require(err == nil, "L12.linear", "%v", err)
		}, sim.Runs(200), sim.Steps(60_000))
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Failure; f != nil {
			inventory.Observe(t, inventory.Verdict{Kind: inventory.Kind(f.Kind), ID: f.ID, Message: f.Message})
			t.Error(f.Message)
		}
		return r.Executions
	})
}

// session locks what it can have, and gives it back or completes it, sometimes twice; a call that bounced is no call.
func (x *outside) session(e *engine.Engine, calls *linearizability.Calls, id int) {
	var held engine.TaskRef
	for round := range 4 {
		end := calls.Begin(id, linearizability.TaskInput{Op: linearizability.TaskLock})
		got, err := e.FetchTasks(x.Scope(), engine.Fetch{Worker: fmt.Sprint(id), Types: []string{"charge"}, Max: 1, Lock: time.Hour})
		x.NoError(err)
		if len(got) > 0 {
			held = got[0].Ref
			end(linearizability.TaskOutput{Number: held.Lock})
		} // else nothing is said: there may be no task, or its instance was busy
		if held.Lock == 0 {
			continue
		}
		op := linearizability.TaskRelease
		if (id+round)%3 == 0 {
			op = linearizability.TaskComplete
		}
		x.settleOnce(e, calls, id, op, held)
	}
}

func (x *outside) settleOnce(e *engine.Engine, calls *linearizability.Calls, id int, op linearizability.TaskOp, held engine.TaskRef) {
	for {
		end := calls.Begin(id, linearizability.TaskInput{Op: op, Number: held.Lock})
		var err error
		if op == linearizability.TaskComplete {
			_, err = e.CompleteExternal(x.Scope(), held, feel.NewContext())
		} else {
			_, err = e.FailTask(x.Scope(), held, 5, 0, "given back")
		}
		if errors.Is(err, engine.ErrBusy) {
			continue // nothing was done, so nothing was called
		}
		if err != nil {
			x.expect(err, engine.ErrLease, engine.ErrNotWaiting, engine.ErrNoInstance)
		}
		end(linearizability.TaskOutput{Done: err == nil})
		return
	}
}
