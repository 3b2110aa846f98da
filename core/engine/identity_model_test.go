package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/models/oneactor"
	"github.com/millrace-dev/millrace/models/program"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// differs runs a program on the engine and says where it does otherwise than the reference.
func differs(p *program.Program, lanes int, restarts bool) (string, error) {
	want, err := p.Expected()
	if err != nil {
		return "", err
	}
	flows, err := load(p)
	if err != nil {
		return "", err
	}
	var got [][]string
	result, err := sim.Explore("identity", "random", func(w *sim.World) { got = perform(w, p, flows, lanes, restarts) },
		sim.Runs(1), sim.Steps(400_000), sim.Seed(p.Seed), sim.WithoutRaces(), sim.Cores(1))
	if err != nil {
		return "", err
	}
	if f := result.Failure; f != nil {
		return fmt.Sprintf("%s %s: %s", f.Kind, f.ID, f.Message), nil
	}
	for i, lines := range want {
		if lines = ordered(lines); !slices.Equal(lines, got[i]) {
			return fmt.Sprintf("delivery %d, %+v\nthe reference:\n%s\nthe engine:\n%s", i, p.Deliveries[i], strings.Join(lines, "\n"), strings.Join(got[i], "\n")), nil
		}
	}
	return "", nil
}

// identical draws programs and compares; a difference is told for the smallest program that shows it. Options may change a program
// before it runs.
func identical(t *testing.T, check, verdict string, lanes func(seed uint64) int, restarts bool, change func(*program.Program)) {
	inventory.Run(t, inventory.LaneModel, check, func(t *testing.T) int {
		cases := 0
		rapid.Check(t, func(rt *rapid.T) {
			seed := uint64(0)
			for range 6 { // a single number would often be a small one
				seed = seed<<8 | uint64(rapid.Byte().Draw(rt, "seed"))
			}
			cases++
			p, err := program.Draw(seed)
			if err != nil {
				t.Fatal(err)
			}
			change(p)
			difference, err := differs(p, lanes(seed), restarts)
			if err != nil {
				t.Fatal(err)
			}
			if difference == "" {
				return
			}
			q := p.Shrink(func(q *program.Program) bool {
				d, err := differs(q, lanes(seed), restarts)
				if err == nil && d != "" {
					difference = d
				}
				return err == nil && d != ""
			})
			inventory.Observe(t, inventory.Verdict{Kind: inventory.KindMismatch, ID: verdict, Message: difference})
			t.Fatalf("program %d: %s\n%s%+v", seed, difference, program.BPMN(q.Root), q.Deliveries)
		})
		return cases
	})
}

func one(uint64) int { return 0 } // the default

// With one lane, which is the default, every outcome, every commit with the state that it writes, and every acknowledgement is that
// of an engine that is one actor and was written without knowledge of this one: byte for byte, in the same order.
func TestModelL14OneLaneIsOneActor(t *testing.T) {
	identical(t, "L14/one-lane-is-one-actor", "L14.reference", one, false, func(*program.Program) {})
}

// The same holds when the engine is stopped after every delivery and another one goes on over its store. Who holds a connection
// until the end loses it then, so everything is acknowledged when it is durable.
func TestModelL14AnotherEngineAfterEveryDelivery(t *testing.T) {
	identical(t, "L14/another-engine-after-every-delivery", "L14.restarted", one, true, func(p *program.Program) {
		p.Options.Start, p.Options.Messages = oneactor.OnPersist, oneactor.OnPersist
	})
}

// Deliveries that come one after the other have the same effects on any number of lanes: lanes change what happens at the same
// time, and nothing else.
func TestModelL14LanesInTurn(t *testing.T) {
	identical(t, "L14/lanes-in-turn", "L14.lanes", func(seed uint64) int { return 2 + int(seed%7) }, false, func(*program.Program) {})
}

// Who says nothing gets one lane.
func TestDefaultIsOneLane(t *testing.T) {
	result, err := sim.Explore("default", "random", func(w *sim.World) {
		x := newOutside(w, nil, memory.Options{})
		life := w.Scheduler().NewScope("life")
		e := x.node(life, engine.Options{})
		w.Require(e.Lanes() == 1, "L14.default", "an engine without options has %d lanes", e.Lanes())
		e.Close()
		life.Close()
	}, sim.Runs(1))
	if err != nil || result.Failure != nil {
		t.Fatalf("%v %+v", err, result.Failure)
	}
}
