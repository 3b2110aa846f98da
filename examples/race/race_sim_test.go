// Package race_test is the README's ten-line race.
package race_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

func TestMain(m *testing.M) { sim.Main(m) }

var _ = inventory.Planted("readme/lost-update", "the README's race: two increments, one of them lost")

// Two tasks load a counter and store it plus one. The check is planted: it passes when the simulator finds the bug.
func TestSimLostUpdate(t *testing.T) {
	sim.Planted(t, "readme/lost-update", "assertion both-increments-count", func(w *sim.World) {
		counter := sched.NewInt64(w.Scheduler(), "counter", 0)
		for range 2 {
			w.Go("increment", func() {
				counter.Store(counter.Load() + 1)
			})
		}
		w.Join()
		w.Require(counter.Peek() == 2, "both-increments-count", "the counter is %d", counter.Peek())
	})
}
