package pebble_test

import (
	"encoding/json"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// waiters is how many wait for the commit section when the engine halts.
const waiters = 64

type sectionReport struct{ Passed int64 }

// The engine halts while others wait for the commit section. The section becomes free, and nobody goes on in it.
func TestLinearS1NobodyEntersAfterAHalt(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S1/nobody-enters-after-a-halt", func(t *testing.T) int {
		var r sectionReport
		inChild(t, "wait for the section", &r)
		if r.Passed > 0 {
			inventory.Violated(t, t, "S1.P4", "%d of %d who waited have read from an engine that had halted", r.Passed, waiters)
		}
		return waiters
	})
}

// waitAtHalt reports how many of those who waited for the section were let in after the halt.
func waitAtHalt() int {
	_, e, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: crashfs.New()})
	if err != nil {
		return fail(err)
	}
	var reads sync.WaitGroup
	var passed, begun atomic.Int64
	_, err = e.Update(nil, "halts", false, func(step.Tx) error {
		for range waiters {
			reads.Go(func() {
				begun.Add(1)
				if _, err := e.Glance(nil, "waits", func(step.Reader) error { return nil }); !errors.Is(err, store.ErrHalted) {
					passed.Add(1)
				}
			})
		}
		for begun.Load() < waiters {
			linger()
		}
		linger() // who has not come to the section by now is refused before it
		e.Halt(errInjected)
		return errInjected
	})
	if !errors.Is(err, errInjected) {
		return fail(errors.Join(errors.New("the update that halted the engine ended otherwise"), err))
	}
	reads.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(sectionReport{passed.Load()}); err != nil {
		return fail(err)
	}
	return 0
}
