package relay_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/relay"
	"github.com/millrace-dev/millrace/tla/specs"
)

// The events of every queue of every execution are steps of tla/relay/Relay.tla.
func TestTraceC6FreedRoom(t *testing.T) { sim.Trace(t, "C6/trace-of-freed-room", freedRoom) }

func TestTraceC6Shrinking(t *testing.T) { sim.Trace(t, "C6/trace-of-shrinking", shrinking) }

func TestTraceC6Removal(t *testing.T) { sim.Trace(t, "C6/trace-of-removal", removal) }

func TestTraceC6Snapshots(t *testing.T) { sim.Trace(t, "C6/trace-of-snapshots", snapshots) }

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	protocol, err := specs.Read("../../tla/relay")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"waiting-read-first": "mismatch Relay.FreePlace", "linked-behind-its-back": "mismatch Relay.Link",
		"room-read-first": "mismatch Relay.ReadCapacity", "place-is-kept": "mismatch Relay.FreePlace",
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
		r, err := sim.Explore("C6/wrong-specification", "random", func(w *sim.World) {
			spec.AttachTo(w, wrong)
			q := relay.NewQueue[int](w.Scheduler(), "q", 1)
			w.Go("receive", func() {
				for range 3 {
					_, err := q.Receive(w.Scope(), nil)
					w.NoError(err)
				}
			})
			for v := range 3 {
				w.NoError(q.Push(w.Scope(), v))
			}
		})
		if err != nil || r.Failure == nil || r.Failure.Verdict() != verdict {
			t.Errorf("%s: %+v, %v, want %s", m.Name, r.Failure, err, verdict)
		}
	}
	if len(want) > 0 {
		t.Errorf("no such mutants: %v", want)
	}
}
