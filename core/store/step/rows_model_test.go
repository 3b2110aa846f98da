package step_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// rowsMachine drives the named spaces of a store and their model side by side.
type rowsMachine struct {
	t     *testing.T
	st    *step.Store
	model models.Rows
	now   int64 // seconds
}

func at(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return due.Add(time.Duration(seconds) * time.Second)
}

func (m *rowsMachine) same(t *rapid.T, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		inventory.Violated(m.t, t, "L6.rows", "%s: got %v, model %v", what, got, want)
	}
}

// write writes one or two rows, often over earlier ones with another expiry.
func (m *rowsMachine) write(t *rapid.T) {
	var rows []store.Row
	for range rapid.IntRange(1, 2).Draw(t, "rows") {
		key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
		expires := rapid.SampledFrom([]int64{0, m.now + 1, m.now + 2, m.now + 4}).Draw(t, "expires")
		rows = append(rows, store.Row{Space: "s", Key: key, Expires: at(expires)})
		m.model.Write(key, expires)
	}
	_, err := m.st.Write(nil, rows)
	m.same(t, "write error", err, nil)
}

func (m *rowsMachine) pass(t *rapid.T) { m.now += rapid.Int64Range(1, 3).Draw(t, "seconds") }

// expire removes in steps of one or all; entries of rows that were written again count too, so it goes on until none is left.
func (m *rowsMachine) expire(t *rapid.T) {
	limit := rapid.SampledFrom([]int{1, 2, 100}).Draw(t, "limit")
	for round := 0; ; round++ {
		m.same(t, fmt.Sprintf("expiring ends after %d rounds", round), round < 100, true)
		n, _, err := m.st.Expire(nil, "s", at(m.now), limit)
		m.same(t, "expire error", err, nil)
		if n < limit {
			break
		}
	}
	m.model.Expire(m.now)
}

func (m *rowsMachine) check(t *rapid.T) {
	rows, _, err := m.st.Rows(nil, "s", "", 100)
	m.same(t, "rows error", err, nil)
	got := models.NewRows()
	for _, r := range rows {
		expires := int64(0)
		if !r.Expires.IsZero() {
			expires = int64(r.Expires.Sub(due) / time.Second)
		}
		got[r.Key] = expires
	}
	m.same(t, "rows", got, m.model)
}

func TestModelL6RowsAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L6/rows-against-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			st, _ := memory.Open(sched.Scheduler{}, memory.Options{})
			m := &rowsMachine{t: outer, st: st, model: models.NewRows(), now: 1}
			t.Repeat(map[string]func(*rapid.T){"write": m.write, "pass": m.pass, "expire": m.expire, "": m.check})
		})
		return cases
	})
}
