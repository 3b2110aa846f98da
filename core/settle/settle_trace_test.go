package settle_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/settle"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// The events of every execution are steps of tla/settle/Settle.tla: of deliveries that race with ends, timeouts, evictions and the
// stop of the node, and of a registry that is full of pending ones.
func TestTraceL5WhateverRaces(t *testing.T) {
	sim.Trace(t, "L5/trace-of-races", settledOnceWhateverRaces, sim.Runs(300), sim.EarlyTimeouts())
}

func TestTraceL5FullOfPending(t *testing.T) {
	sim.Trace(t, "L5/trace-of-a-full-registry", fullOfPendingRefuses)
}

// Every edge of the specification's graph is taken by a registry: the commits of its deliveries end when the sequence says so.
func TestTraceL5Sequences(t *testing.T) {
	plan, err := spec.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Follow(t, "L5/sequences-of-the-specification", plan, followRegistry)
}

func followRegistry(w *sim.World, each func(do func(spec.Call))) {
	s := w.Scheduler()
	r := settle.New(s, spec.Capacity)
	w.Own(r)
	spec.AttachAlways(w)
	commits := map[int]*sched.Chan[error]{} // closed: what is left ends well
	each(func(c spec.Call) {
		switch c.Name {
		case "deliver":
			commit := sched.NewChan[error](s, "commit", 1)
			commits[c.N] = commit
			w.Go("delivery", func() { // what it is told is judged by the events
				_, _ = r.Commit(store.InstanceID(c.Instance), func() (settle.End, bool, error) {
					err, _ := commit.Receive()
					return settle.End{}, false, err
				})
			})
		case "commit":
			commits[c.N].Send(nil)
		case "fail":
			commits[c.N].Send(errRefused)
		default:
			s.Emit(r, "Complete", c.Instance)
			r.Ended(store.InstanceID(c.Instance), done)
		}
		w.NoError(s.Sleep(w.Scope(), "until everybody waits", time.Millisecond))
	})
	for n := 1; n <= len(commits); n++ {
		commits[n].Close()
	}
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "L5/wrong-specification", "../../tla/settle", spec.Load, map[string]string{
		"arm-forgets-the-entry": "mismatch Settle.Arm", "timeout-does-not-take": "mismatch Settle.Timeout",
		"no-deregister": "mismatch Settle.Drop",
	}, func(w *sim.World, wrong *trace.Spec) {
		spec.AttachTo(w, wrong)
		r := newRig(w, 2)
		w.Require(r.deliver("b", true, patient) != nil, "L5.I4", "a commit that fails was told nothing")
		r.expect(r.deliver("a", false, settle.Patience{Timeout: 1, Poll: 1}), settle.ErrTimeout)
	})
}
