package correlate_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// machine drives a correlator over a plain in-memory store and its model side by side. Targets are resolved in one action
// and entered in a later one, with steps of the instances in between.
type machine struct {
	inventory.Judge

	model      *models.Correlation
	st         *step.Store
	correlator *correlate.Correlator
	claims     *claim.Claims
	targets    []resolved
	steps      int
}

// resolved is a target with what the model says of it.
type resolved struct {
	key    models.CorrelationKey
	target correlate.Target
	wait   models.CorrelationWait
}

var instances = []string{"a", "b", "c"}

func newMachine(test *testing.T, t *rapid.T) *machine {
	var s sched.Scheduler
	st, engine := memory.Open(s, memory.Options{})
	owner := store.Owner{Replica: "lane", Incarnation: 1}
	for _, id := range instances {
		err := engine.Plant(&store.Step{
			Cause: "spawn " + id, Spawn: true, Status: store.Running, Flow: "f",
			Claim: store.Claim{Instance: store.InstanceID(id), Owner: store.Owner{Replica: "given"}},
			Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: id}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &machine{
		Judge: inventory.Judge{Test: test, ID: "L8.model"}, model: models.NewCorrelation(instances...), st: st, correlator: correlate.New(s, st),
		claims: claim.New(s, st, step.NewCommitter(s, st, owner), owner),
	}
}

var keys = rapid.Custom(func(t *rapid.T) models.CorrelationKey {
	return models.CorrelationKey{
		Channel: rapid.SampledFrom([]string{"paid", "sent"}).Draw(t, "channel"),
		Key:     rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key"),
	}
})

// park is a step of an instance.
func (m *machine) park(t *rapid.T) {
	id := rapid.SampledFrom(instances).Draw(t, "instance")
	to := rapid.SliceOfN(keys, 0, 2).Draw(t, "waits")
	want := m.model.Park(id, to)
	m.steps++
	err := m.claims.With(nil, store.InstanceID(id), func(h *claim.Hold) error {
		in, _, err := h.Load(nil)
		if err != nil {
			return err
		}
		return h.Commit(nil, stepTo(fmt.Sprintf("step %d", m.steps), in, to))
	})
	if (err == nil) != want {
		m.Wrong(t, "step of %s to %v: %v, model %t", id, to, err, want)
	}
}

func stepTo(cause string, in store.Instance, to []models.CorrelationKey) *store.Step {
	s := &store.Step{Cause: cause, Status: store.Completed}
	for _, w := range in.Waits {
		s.Close = append(s.Close, w.Generation)
	}
	for i, k := range to {
		s.Status = store.Running
		s.Open = append(s.Open, store.Wait{Generation: in.Generation + 1 + uint64(i), Element: "wait", Channel: k.Channel, Key: k.Key})
	}
	return s
}

// resolve keeps what a key resolves to.
func (m *machine) resolve(t *rapid.T) {
	k := keys.Draw(t, "key")
	target, err := m.correlator.Resolve(nil, k.Channel, k.Key)
	want, held := m.model.Waits[k]
	if !held {
		if !errors.Is(err, correlate.ErrNoWait) {
			m.Wrong(t, "resolve %v: %v %v, model: nothing waits", k, target, err)
		}
		return
	}
	if err != nil || string(target.Instance) != want.Instance || target.Generation != want.Generation {
		m.Wrong(t, "resolve %v: %v %v, model %v", k, target, err, want)
	}
	m.targets = append(m.targets, resolved{k, target, want})
}

// enter uses a target that was resolved some time ago.
func (m *machine) enter(t *rapid.T) {
	if len(m.targets) == 0 {
		t.Skip("no target yet")
	}
	r := rapid.SampledFrom(m.targets).Draw(t, "target")
	entered, err := m.correlator.Enter(nil, m.claims, r.target)
	if m.model.Holds(r.key, r.wait) != (err == nil) {
		m.Wrong(t, "enter %v: %v, model %v", r.target, err, m.model.Waits[r.key])
	}
	if err != nil {
		if !errors.Is(err, correlate.ErrMoved) {
			m.Wrong(t, "enter %v: %v, not a miss", r.target, err)
		}
		return
	}
	if entered.Wait.Generation != r.wait.Generation || entered.Wait.Key != r.key.Key {
		m.Wrong(t, "enter %v: wait %+v", r.target, entered.Wait)
	}
	if err := entered.Hold.Free(); err != nil {
		t.Fatal(err)
	}
}

// check requires that nothing is left held.
func (m *machine) check(t *rapid.T) {
	if n := m.claims.Outstanding(); n != 0 {
		m.Wrong(t, "%d claims are held between two actions", n)
	}
}

func TestModelL8(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L8/model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			m := newMachine(test, t)
			t.Repeat(map[string]func(*rapid.T){"park": m.park, "resolve": m.resolve, "enter": m.enter, "": m.check})
		})
		return cases
	})
}
