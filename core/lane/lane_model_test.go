package lane_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// differs fails when the code and its model do not agree.
func differs(outer *testing.T, t *rapid.T, id, what string, got, want any) {
	if reflect.DeepEqual(got, want) {
		return
	}
	inventory.Violated(outer, t, id, "%s: got %v, model %v", what, got, want)
}

// Stages are entered in any order and the attempt is received at any moment, on the real runtime, where no simulator looks on: what
// is out of order panics, and what is in order does not.
func TestModelL15(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L15/stages-against-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			var model models.Handoff
			h := lane.NewHandoff(sched.Scheduler{}, func() (string, error) { return "message", nil },
				func(m string) (string, error) { return "target of " + m, nil })
			for i := range rapid.IntRange(1, 9).Draw(t, "calls") {
				stage := lane.Stage(i/2 + rapid.IntRange(0, 2).Draw(t, "ahead"))
				if rapid.IntRange(0, 2).Draw(t, "receive") == 0 {
					stage = 0
				}
				call, want := stageCall(h, &model, stage)
				differs(outer, t, "L15.model", fmt.Sprintf("call %d, %v, goes through", i, stage), call(), want)
				differs(outer, t, "L15.model", "arrived", h.Arrived(), model.Stage == 0)
			}
		})
		return cases
	})
}

// stageCall is the call that a stage stands for, which reports whether it went through, and whether the model lets it. Stage 0 receives.
func stageCall(h *lane.Handoff[string, string], model *models.Handoff, stage lane.Stage) (call func() bool, want bool) {
	through := func(f func() bool) func() bool {
		return func() (ok bool) {
			defer func() { ok = recover() == nil && ok }()
			return f()
		}
	}
	if stage == 0 {
		resolved := model.Receive(int(lane.Resolved))
		return through(func() bool { h.Receive(); return true }), resolved
	}
	want = model.Enter(int(stage))
	switch stage {
	case lane.Decoded:
		return through(func() bool { m, err := h.Decode(); return m == "message" && err == nil }), want
	case lane.Resolved:
		return through(func() bool { _, err := h.Resolve(); return err == nil }), want
	default:
		return through(func() bool { h.Enter(stage); return true }), want
	}
}

// routed is a request that asks to hop a number of times and notes the lanes it meets.
type routed struct {
	instance string
	hops     int
	met      []int
}

func (q *routed) prepare(lane int) (hop bool) {
	q.met = append(q.met, lane)
	q.hops--
	return q.hops >= 0
}

// routing is a router under test beside its model.
type routing struct {
	*lane.Router[*routed, int]
	scope *sched.Scope
	model models.Router
}

func newRouting(t *rapid.T, scope *sched.Scope) *routing {
	o := lane.Options{Lanes: rapid.IntRange(1, 4).Draw(t, "lanes"), Queue: rapid.IntRange(1, 2).Draw(t, "queue")}
	r, err := lane.NewRouter(sched.Scheduler{}, o, func(id int, q *routed) lane.Step[*routed, int] {
		var a lane.Answer[*routed, int]
		if q.prepare(id) {
			a.Hop = &lane.Hop[*routed]{Instance: q.instance, Request: q}
		}
		a.Reply = id
		return lane.Step[*routed, int]{Answer: a}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(scope)
	return &routing{Router: r, scope: scope, model: models.Router{Lanes: o.Lanes}}
}

// ask brings a request in one of the ways, and returns what the model says of it.
func (r *routing) ask(t *rapid.T, q *routed) (met []int, want models.RouterAnswer, err error) {
	sum := fnv.New64a()
	sum.Write([]byte(q.instance))
	owner := int(sum.Sum64() % uint64(r.model.Lanes))
	switch rapid.SampledFrom([]string{"deliver", "deliver", "straight", "accept", "place"}).Draw(t, "way") {
	case "deliver":
		met, want = r.model.Deliver(owner, q.hops)
		_, err = r.Deliver(r.scope, q)
	case "straight":
		met, want = r.model.Straight(owner, q.hops)
		_, err = r.Straight(r.scope, q.instance, q)
	case "accept":
		q.hops = 0
		met, want = r.model.Straight(owner, 0)
		err = answered(r.Accept(r.scope, q.instance, q))
	default:
		q.hops = 0
		id := rapid.IntRange(0, r.model.Lanes-1).Draw(t, "lane")
		met, want = r.model.Straight(id, 0)
		err = answered(r.Place(r.scope, id, q))
	}
	return met, want, err
}

func answered(p *lane.Pending[*routed, int], err error) error {
	if err == nil {
		_, err = p.Wait(nil)
	}
	return err
}

// One caller after the other: each request meets the lanes that the model says, and is told what the model says.
func TestModelL2(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L2/routes-against-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			scope := sched.Scheduler{}.NewScope("lanes")
			r := newRouting(t, scope)
			defer scope.Close()
			defer r.Close()
			for range rapid.IntRange(1, 8).Draw(t, "requests") {
				if rapid.IntRange(0, 7).Draw(t, "close") == 0 {
					r.Close()
					r.model.Closed = true
					scope.Join()
				}
				q := &routed{instance: rapid.StringMatching("[a-d]").Draw(t, "instance"), hops: rapid.IntRange(0, 2).Draw(t, "hops")}
				met, want, err := r.ask(t, q)
				differs(outer, t, "L2.model", "lanes met", q.met, met)
				got := models.RouterDone
				switch {
				case errors.Is(err, lane.ErrSecondHop):
					got = models.RouterSecondHop
				case errors.Is(err, lane.ErrStopped):
					got = models.RouterStopped
				case err != nil:
					t.Fatal(err)
				}
				differs(outer, t, "L2.model", "answer", got, want)
			}
		})
		return cases
	})
}
