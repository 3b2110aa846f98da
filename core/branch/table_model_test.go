package branch_test

import (
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// branchMachine drives a table and its model side by side. It is quiet between two operations: virtual time passes only when
// every lane is idle.
type branchMachine struct {
	w     *sim.World
	g     *group
	model models.Branches
	held  []*lane  // what is under way outside, oldest first
	ended []string // what should have ended, in order
	works map[string]int
}

// heldWork is the work that leaves something under way.
const heldWork = 1000

func newBranchMachine(w *sim.World) *branchMachine {
	opts := branch.Options{Max: 1 + w.Choose("max", 3), Queue: 1, TTL: time.Duration(w.Choose("ttl", 2)) * 10 * time.Second}
	m := &branchMachine{
		w: w, g: newGroup(w, opts, 1), works: map[string]int{},
		model: models.Branches{TTL: int64(opts.TTL), Max: opts.Max},
	}
	m.g.does = func(l *lane, _ *state, work int) {
		if work >= heldWork {
			l.Hold()
			m.held = append(m.held, l)
		}
	}
	return m
}

func (m *branchMachine) now() int64 { return m.w.Scheduler().Now().UnixNano() }

func (m *branchMachine) pass(d time.Duration) {
	m.w.NoError(m.w.Scheduler().Sleep(m.w.Scope(), "pass", d))
}

func (m *branchMachine) admit() {
	key := string(rune('a' + m.w.Choose("branch", 4)))
	ended, ok := m.model.Admit(m.now(), key)
	if !ok {
		return // it would wait for what comes back
	}
	work, held := len(m.works), m.w.Choose("held", 3) == 0
	if held {
		work = heldWork
	}
	admit := m.g.table.Admit
	if m.w.Choose("try", 2) == 0 {
		admit = m.g.table.TryAdmit
	}
	m.w.NoError(admit(m.w.Scope(), key, work))
	m.pass(time.Millisecond)
	if held {
		m.model.Hold(key, 1)
	}
	m.works[key]++
	m.ended = append(m.ended, ended...)
}

func (m *branchMachine) complete() {
	if len(m.held) == 0 {
		return
	}
	l := m.held[0]
	m.held = m.held[1:]
	m.works[l.Key()]++
	m.model.Hold(l.Key(), -1)
	l.Complete(0)
	m.pass(time.Millisecond)
}

func (m *branchMachine) sweep() {
	ended, due, ok := m.model.Sweep(m.now())
	m.ended = append(m.ended, ended...)
	next, got := m.g.table.Sweep()
	m.w.Require(got == ok && (!ok || next.UnixNano() == due), "E1.model", "next due %v, %t; model %v, %t", next, got, time.Unix(0, due).UTC(), ok)
}

// check compares who is alive and who has ended.
func (m *branchMachine) check() {
	m.w.Require(m.g.table.Len() == len(m.model.Alive) && slices.Equal(m.g.ended, m.ended), "E1.model",
		"%d branches, ended %v; model %+v, ended %v", m.g.table.Len(), m.g.ended, m.model.Alive, m.ended)
}

// Whatever is admitted, held, completed and swept in whichever order: the branch that ends is the one that was used least
// recently among the idle ones, or those whose time is over; and every work is done by then.
func TestModelE1(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "E1/branches", func(t *testing.T) int {
		return sim.Judge(t, "E1/branches", func(w *sim.World) {
			m := newBranchMachine(w)
			for range 20 {
				switch w.Choose("operation", 5) {
				case 0, 1:
					m.admit()
				case 2:
					m.complete()
				case 3:
					m.pass(time.Duration(1+w.Choose("seconds", 6)) * time.Second)
				default:
					m.sweep()
				}
				m.check()
			}
			for len(m.held) > 0 {
				m.complete()
			}
			for _, u := range m.model.Alive {
				m.ended = append(m.ended, u.Key)
			}
			w.NoError(m.g.table.Close(w.Scope()))
			m.model.Alive = nil
			m.check()
			for key, n := range m.works { //order:each is compared alone
				w.Require(len(m.g.done[key]) == n, "E1.I5", "branch %s did %v, want %d works", key, m.g.done[key], n)
			}
		}, sim.Runs(300))
	})
}
