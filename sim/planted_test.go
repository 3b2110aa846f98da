package sim_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"github.com/millrace-dev/millrace/sim/programs"
)

var (
	_ = inventory.Planted("planted/across-locks", "two locks taken in both orders")
	_ = inventory.Planted("planted/lost-wake-up", "a waiter reads before it registers")
	_ = inventory.Planted("planted/unguarded-cell", "plain memory written under a lock and read without")
	_ = inventory.Planted("planted/polite", "two tasks that give way to each other for ever")
	_ = inventory.Planted("sim/dekker", "two sides that need sequential consistency: they fail only with delayed stores")
	_ = inventory.Planted("sim/repeatable", "a check whose executions are compared between processes")
)

func TestSimPlanted(t *testing.T) {
	sim.Planted(t, "planted/across-locks", "deadlock b", programs.AcrossLocks)
	sim.Planted(t, "planted/lost-wake-up", "deadlock changed", programs.LostWakeUp)
	sim.Planted(t, "planted/unguarded-cell", "race total", programs.UnguardedCell)
}

// TestSimDekker passes, and fails where MILLRACE_SIM delays stores.
func TestSimDekker(t *testing.T) { sim.Check(t, "sim/dekker", dekker) }

// TestSimRepeatable uses what could differ between two runs: draws, timers, select, hand-offs.
func TestSimRepeatable(t *testing.T) {
	sim.Check(t, "sim/repeatable", func(w *sim.World) {
		s := w.Scheduler()
		random, c := sched.NewRand(s, "random"), sched.NewChan[uint64](s, "c", 3)
		note := sched.NewNotify(s, "note")
		for range 3 {
			w.Go("producer", func() {
				w.NoError(s.Sleep(nil, "pause", time.Duration(random.IntN(5))*time.Second))
				c.Send(random.Uint64())
				note.One()
			})
		}
		w.Go("consumer", func() {
			scope := w.Scope().ChildTimeout("limit", 3*time.Second)
			for range 3 {
				if _, _, err := c.ReceiveWithin(scope); err != nil {
					break
				}
			}
			_ = note.Wait(scope) // either way: only the traces matter
			scope.Close()
		})
	}, sim.EarlyTimeouts())
}

// TestSimLivelock has a test of its own: no search ends on a program that can go on for ever.
func TestSimLivelock(t *testing.T) {
	sim.Planted(t, "planted/polite", "livelock both-enter", polite(false), sim.Strategies("random", "pos"))
}
