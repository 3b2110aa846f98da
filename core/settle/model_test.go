package settle_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// settleMachine drives a registry and its model side by side.
type settleMachine struct {
	inventory.Judge

	scope    *sched.Scope
	registry *settle.Registry
	model    *models.Settlement
	entries  []*settle.Entry
	modeled  []*models.SettlementEntry
	ends     int
}

func drawInstance(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b"}).Draw(t, "instance")
}

func (m *settleMachine) register(t *rapid.T) {
	id := drawInstance(t)
	e, err := m.registry.Register(store.InstanceID(id))
	want := m.model.Register(id)
	if (err == nil) != (want != nil) {
		m.Wrong(t, "register: %v, the model refuses: %t", err, want == nil)
	}
	if err == nil {
		m.entries, m.modeled = append(m.entries, e), append(m.modeled, want)
	}
}

// each runs an operation on a drawn entry.
func (m *settleMachine) each(t *rapid.T, f func(*settle.Entry, *models.SettlementEntry)) {
	if len(m.entries) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.entries)-1).Draw(t, "entry")
	f(m.entries[i], m.modeled[i])
}

func (m *settleMachine) arm(t *rapid.T) {
	m.each(t, func(e *settle.Entry, want *models.SettlementEntry) {
		m.registry.Arm(e)
		m.model.Arm(want)
	})
}

func (m *settleMachine) drop(t *rapid.T) {
	m.each(t, func(e *settle.Entry, want *models.SettlementEntry) {
		m.registry.Drop(e)
		m.model.Drop(want)
	})
}

func (m *settleMachine) end(t *rapid.T) {
	id := drawInstance(t)
	m.ends++
	how := fmt.Sprint("end ", m.ends)
	m.registry.Ended(store.InstanceID(id), settle.End{Status: store.Completed, Result: []byte(how)})
	m.model.End(id, how)
}

func (m *settleMachine) close(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "close") == 0 {
		m.registry.Close()
		m.model.Close()
	}
}

// check compares the number of entries, and every answer that is there without waiting.
func (m *settleMachine) check(t *rapid.T) {
	if got, want := m.registry.Held(), len(m.model.Held); got != want {
		m.Wrong(t, "%d are held, the model holds %d", got, want)
	}
	for i, want := range m.modeled {
		if got := m.answer(t, m.entries[i], want); got != want.Answer {
			m.Wrong(t, "entry %d is answered %q, the model answers %q", i, got, want.Answer)
		}
	}
}

// answer asks only for entries that were answered: the others would be waited for.
func (m *settleMachine) answer(t *rapid.T, e *settle.Entry, want *models.SettlementEntry) string {
	if want.Answer == "" {
		return ""
	}
	unread := func(*sched.Scope) (settle.End, bool, error) { return settle.End{}, false, nil }
	end, err := m.registry.Await(m.scope, e, settle.Patience{Timeout: 10 * time.Millisecond, Poll: time.Minute}, unread)
	switch {
	case errors.Is(err, settle.ErrTimeout):
		return ""
	case errors.Is(err, settle.ErrEvicted):
		return "evicted"
	case errors.Is(err, settle.ErrClosing):
		return "closing"
	case err != nil:
		t.Fatal(err)
	}
	return string(end.Result)
}

func TestModelL5RegistryAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L5/registry-against-model", func(outer *testing.T) int {
		cases := 0
		scope := sched.Scheduler{}.NewScope("model")
		defer scope.Close()
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			capacity := rapid.IntRange(1, 3).Draw(t, "capacity")
			m := &settleMachine{
				Judge: inventory.Judge{Test: outer, ID: "L5.model"}, scope: scope, registry: settle.New(sched.Scheduler{}, capacity),
				model: &models.Settlement{Capacity: capacity},
			}
			t.Repeat(map[string]func(*rapid.T){
				"register": m.register, "register again": m.register, "arm": m.arm, "arm again": m.arm,
				"drop": m.drop, "end": m.end, "close": m.close, "": m.check,
			})
		})
		return cases
	})
}
