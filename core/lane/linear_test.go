package lane_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// tally is a store of counters in plain memory: nothing but the lanes keeps two steps of one instance apart, so what they
// let through is lost additions. Instances are fixed, so the map itself is only read.
type tally struct {
	s      sched.Scheduler
	counts map[string]*int
}

func newTally(s sched.Scheduler) *tally {
	t := &tally{s: s, counts: map[string]*int{}}
	for i := range 3 {
		t.counts[fmt.Sprintf("i%d", i)] = new(int)
	}
	return t
}

func (t *tally) prepare(_ int, q work) lane.Step[work, int] {
	before := *t.counts[q.instance]
	return lane.Step[work, int]{Commit: func() lane.Answer[work, int] {
		t.s.Yield()
		*t.counts[q.instance] = before + 1
		return lane.Answer[work, int]{Reply: before + 1}
	}}
}

// session sends requests to instances in turn and records each with its reply.
func session(r *router, scope *sched.Scope, calls *linearizability.Calls, client, requests int) error {
	for i := range requests {
		name := fmt.Sprintf("i%d", (client+i)%3)
		end := calls.Begin(client, linearizability.LaneInput{Instance: name})
		got, err := r.Straight(scope, name, work{name, i})
		if err != nil {
			return err
		}
		end(got)
	}
	return nil
}

func TestLinearL1(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L1/histories", func(t *testing.T) int {
		return sim.Judge(t, "L1/histories", func(w *sim.World) {
			calls := &linearizability.Calls{}
			r := start(w, lane.Options{Lanes: 2, Queue: 1}, newTally(w.Scheduler()).prepare)
			for id := range 3 {
				w.Go(fmt.Sprintf("client %d", id), func() { w.NoError(session(r, w.Scope(), calls, id, 3)) })
			}
			w.Join()
			r.Close()
			_, err := calls.Judge(linearizability.LaneModel())
			w.Require(err == nil, "L1.linear", "%v", err)
		}, sim.Runs(300))
	})
}

// The same sessions on the real runtime, where the processors interleave them.
func TestLinearL1RealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "L1/real-histories", func(t *testing.T) int {
		const histories = 100
		for range histories {
			if err := realHistory(); err != nil {
				inventory.Violated(t, t, "L1.linear", "%v", err)
			}
		}
		return histories
	})
}

func realHistory() error {
	s := sched.Scheduler{}
	scope := s.NewScope("lanes")
	defer scope.Close()
	r, err := lane.NewRouter(s, lane.Options{Lanes: 2, Queue: 2}, newTally(s).prepare)
	if err != nil {
		return err
	}
	r.Start(scope)
	defer r.Close()
	calls := &linearizability.Calls{}
	failed := make([]error, 4)
	var tasks sync.WaitGroup
	for id := range 4 {
		tasks.Go(func() { failed[id] = session(r, scope, calls, id, 6) })
	}
	tasks.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	_, err = calls.Judge(linearizability.LaneModel())
	return err
}
