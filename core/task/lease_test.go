package task_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/task"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

func at(second int) time.Time { return time.Unix(int64(second), 0).UTC() }

// A lease through its life, with each refusal.
func TestLease(t *testing.T) {
	var l task.Lease
	if err := l.Check(0, at(1)); !errors.Is(err, task.ErrNotHeld) {
		t.Errorf("a task that was never locked: %v", err)
	}
	l, err := l.Lock("w", at(1), at(10))
	if err != nil || l.Number != 1 || l.Worker != "w" {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := l.Lock("v", at(9), at(20)); !errors.Is(err, task.ErrLocked) {
		t.Errorf("a held task was locked: %v", err)
	}
	if err := l.Check(1, at(10)); !errors.Is(err, task.ErrExpired) {
		t.Errorf("at its end: %v", err)
	}
	if l, err = l.Extend(1, at(5), at(30)); err != nil || !l.Held(at(29)) {
		t.Errorf("extended: %+v, %v", l, err)
	}
	if l, err = l.Release(1, at(20)); err != nil || l.Held(at(21)) || l.Number != 1 {
		t.Errorf("released: %+v, %v", l, err)
	}
	if l, err = l.Lock("v", at(21), at(40)); err != nil || l.Number != 2 {
		t.Errorf("locked again: %+v, %v", l, err)
	}
	for name, err := range map[string]error{
		"check": l.Check(1, at(22)), "extend": second(l.Extend(1, at(22), at(50))), "release": second(l.Release(1, at(22))),
	} {
		if !errors.Is(err, task.ErrNotHeld) {
			t.Errorf("%s by the first holder: %v", name, err)
		}
	}
}

func second(_ task.Lease, err error) error { return err }

// machine drives a lease and its model side by side.
type machine struct {
	t     *testing.T
	lease task.Lease
	model models.Task
	now   int
}

func (m *machine) same(t *rapid.T, what string, got, want any) {
	if got != want {
		inventory.Violated(m.t, t, "L12.model", "%s at %d: got %v, model %v, lease %+v, model %+v", what, m.now, got, want, m.lease, m.model)
	}
}

func (m *machine) number(t *rapid.T) uint64 {
	return m.model.Number - min(m.model.Number, uint64(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "behind")))
}

func (m *machine) until(t *rapid.T) int { return m.now + rapid.IntRange(1, 5).Draw(t, "for") }

// keep takes what an operation returned when it was accepted, and compares.
func (m *machine) keep(t *rapid.T, what string, l task.Lease, err error, want bool) {
	m.same(t, what, err == nil, want)
	if err == nil {
		m.lease = l
	}
}

func TestModelL12LeaseAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L12/model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			m := &machine{t: outer, now: 1}
			t.Repeat(map[string]func(*rapid.T){
				"lock": func(t *rapid.T) {
					until := m.until(t)
					l, err := m.lease.Lock("w", at(m.now), at(until))
					number := m.model.Lock(m.now, until)
					m.keep(t, "lock", l, err, number != 0)
				},
				"extend": func(t *rapid.T) {
					n, until := m.number(t), m.until(t)
					l, err := m.lease.Extend(n, at(m.now), at(until))
					m.keep(t, "extend", l, err, m.model.Extend(n, m.now, until))
				},
				"release": func(t *rapid.T) {
					n := m.number(t)
					l, err := m.lease.Release(n, at(m.now))
					m.keep(t, "release", l, err, m.model.Release(n, m.now))
				},
				"wait": func(t *rapid.T) { m.now += rapid.IntRange(1, 4).Draw(t, "seconds") },
				"": func(t *rapid.T) {
					m.same(t, "number", m.lease.Number, m.model.Number)
					m.same(t, "held", m.lease.Held(at(m.now)), m.model.Held(m.now))
					for n := range m.model.Number + 2 {
						m.same(t, "may settle", m.lease.Check(n, at(m.now)) == nil, m.model.Holds(n, m.now))
					}
				},
			})
		})
		return cases
	})
}
