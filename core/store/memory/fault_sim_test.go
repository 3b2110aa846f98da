package memory_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var (
	_ = inventory.Planted("fault/commit-landed", "a commit of unknown outcome that is taken for a failure")
	_ = inventory.Planted("fault/commit-never", "a commit of unknown outcome that is taken for a success")
	_ = inventory.Planted("fault/commit-late", "a commit of unknown outcome that is decided by one look")
	_ = inventory.Planted("fault/commit-refused", "a commit that is taken for done although it was refused")
	_ = inventory.Planted("fault/commit-unsynced", "a commit that is taken for durable because it is visible")
)

// Each way in which a commit can end breaks the program that forgets it, and the schedule that shows it replays.
func TestSimEveryCommitFaultIsFoundAndReplays(t *testing.T) {
	landed := func(w *sim.World, e *memory.Engine) (there bool) {
		_, err := e.View(nil, "look", func(v step.View) error { // an operation: a search must see that it conflicts with a commit
			_, found, err := v.Get([]byte("k"))
			there = found
			return err
		})
		w.NoError(err)
		return there
	}
	lossy := memory.Options{Lose: 2}
	sim.Planted(t, "fault/commit-landed", "assertion failed", func(w *sim.World) {
		e := memory.New(w.Scheduler(), lossy)
		_, err := put(e, "k", false)
		w.Require(err == nil || !landed(w, e), "failed", "it landed: %v", err)
	})
	sim.Planted(t, "fault/commit-never", "assertion succeeded", func(w *sim.World) {
		e := memory.New(w.Scheduler(), lossy)
		_, err := put(e, "k", false)
		w.Require(!errors.Is(err, store.ErrUnknown) || landed(w, e), "succeeded", "it never landed")
	})
	sim.Planted(t, "fault/commit-late", "assertion decided", func(w *sim.World) {
		e := memory.New(w.Scheduler(), memory.Options{Lose: 2, Scope: w.Scope()})
		_, err := put(e, "k", false)
		there := err == nil || landed(w, e)
		for range 4 {
			w.Scheduler().Yield()
		}
		w.Require(there == landed(w, e), "decided", "it landed later")
	})
	sim.Planted(t, "fault/commit-refused", "assertion refused", func(w *sim.World) {
		e := memory.New(w.Scheduler(), memory.Options{Refuse: 2})
		_, err := put(e, "k", false)
		w.Require(!errors.Is(err, store.ErrUnavailable), "refused", "%v", err)
	})
	sim.Planted(t, "fault/commit-unsynced", "assertion durable", func(w *sim.World) {
		e := memory.New(w.Scheduler(), memory.Options{})
		_, err := put(e, "k", false)
		w.NoError(err)
		w.Go("power", func() { e.Crash() })
		w.Join()
		w.Require(landed(w, e), "durable", "a crash took it")
	})
}

// neededFaults are those without which the planted programs do not fail.
var neededFaults = map[string][]string{
	"fault/commit-landed":   {"store put lost"},
	"fault/commit-never":    {"store put lost"},
	"fault/commit-late":     {"store put lost"},
	"fault/commit-refused":  {"store put refused"},
	"fault/commit-unsynced": {"store crash takes 1"},
}

// So it does in another process, whatever strategy found it, and shrunk to the one fault that the program forgets.
func TestCommitFaultsReplayInAFreshProcess(t *testing.T) {
	sim.RoundTrip(t, "TestSimEveryCommitFaultIsFoundAndReplays", neededFaults)
}

// What goes wrong in the engine is among the faults that an exploration says it took.
func TestFaultsOfTheEngineAreCounted(t *testing.T) {
	r, err := sim.Explore("store/counted", "random", func(w *sim.World) {
		e := memory.New(w.Scheduler(), memory.Options{Lose: 2, Refuse: 2, Halt: 2})
		_, err := put(e, "k", true)
		w.Require(err == nil || errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrUnavailable), "known", "%v", err)
	}, sim.Runs(40))
	if err != nil || r.Failure != nil {
		t.Fatal(r.Failure, err)
	}
	for _, kind := range []string{"lost", "refused", "halted"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.Faults)), func(what string) bool { return strings.HasSuffix(what, " "+kind) }) {
			t.Errorf("none was %s: %v", kind, r.Faults)
		}
	}
}
