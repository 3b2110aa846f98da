package memory_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store {
		st, _ := memory.Open(sched.Scheduler{}, memory.Options{})
		return st
	})
}
