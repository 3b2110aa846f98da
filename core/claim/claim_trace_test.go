package claim_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/claim"
	"github.com/millrace-dev/millrace/tla/specs"
)

// The events of every execution are steps of tla/claim/Claim.tla: of lanes that only compete, of lanes whose answers get
// lost and that crash beside an early sweep, and of holds that end in every way.
func TestTraceL3CompetingLanes(t *testing.T) {
	sim.Trace(t, "L3/trace-of-competing-lanes", oneHolder)
}

func TestTraceL3LostAnswersAndCrashes(t *testing.T) {
	sim.Trace(t, "L3/trace-of-lost-answers-and-crashes", lostAnswersAndCrashes, sim.Runs(500))
}

func TestTraceL3EveryExit(t *testing.T) {
	sim.Trace(t, "L3/trace-of-every-exit", everyExitFrees, sim.Runs(500))
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	protocol, err := specs.Read("../../tla/claim")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"sweep-keeps-epoch": "mismatch Claim.LandFree", "release-outside-commit": "mismatch Claim.LandCommit",
	}
	for _, m := range protocol.Mutants {
		verdict, chosen := want[m.Name]
		if !chosen {
			continue
		}
		delete(want, m.Name)
		replace, err := protocol.Sources(m)
		if err != nil {
			t.Fatal(err)
		}
		wrong, err := spec.Load(replace)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Explore("L3/wrong-specification", "random", func(w *sim.World) {
			r := newRig(w, memory.Options{Refuse: 2, Budget: 1, Only: []string{"commit"}}, instance)
			w.NoError(spec.AttachTo(w, wrong, r.engine))
			r.work(1, 0)
		})
		if err != nil || r.Failure == nil || r.Failure.Verdict() != verdict {
			t.Errorf("%s: %+v, %v, want %s", m.Name, r.Failure, err, verdict)
		}
	}
	if len(want) > 0 {
		t.Errorf("no such mutants: %v", want)
	}
}
