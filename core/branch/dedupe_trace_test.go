package branch_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/dedupe"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/tracetest"
)

// traced is what the binding sees of the outside.
func (o *outside) traced() spec.Outside {
	return spec.Outside{Engine: o.engine, File: output, Content: func() []byte { return o.disk.Content(output) }}
}

// The events of every execution are steps of tla/dedupe/Dedupe.tla: of deliveries with common keys through a crash, of an output that
// fails, of a disk and a store that fail, and of a node that stops.
func TestTraceE2CrashAnywhere(t *testing.T) {
	sim.Trace(t, "E2/trace-of-a-crash", func(w *sim.World) { crashAnywhere(w, false) }, sim.Runs(300))
}

func TestTraceE2FailedOutput(t *testing.T) {
	sim.Trace(t, "E2/trace-of-a-failed-output", failedOutput)
}

func TestTraceE2Faults(t *testing.T) {
	sim.Trace(t, "E2/trace-of-faults", faultyDiskAndStore, sim.Runs(400))
}

// faultyDiskAndStore sends two deliveries with a common key until both are acknowledged, through lives that end by a fence.
func faultyDiskAndStore(w *sim.World) {
	o := newOutside(w.Scheduler(), memory.Options{Only: []string{"write"}, Refuse: 4, Lose: 4, Budget: 2})
	spec.Attach(w, o.traced())
	budget := 2
	o.disk.Fail = func(string, string) bool {
		if budget == 0 || w.Choose("fault", 4) > 0 {
			return false
		}
		budget--
		return true
	}
	o.disk.Torn = func(n int) int { return w.Choose("torn", n+1) }
	c := &clients{w: w, o: o, sends: []records{{"a", "b"}, {"b", "c"}}, acked: make([]bool, 2)}
	for life := 0; !c.acked[0] || !c.acked[1]; life++ {
		w.Require(life < 10, "E2.progress", "acknowledged %v after %d lives", c.acked, life)
		n := w.Node("node")
		n.Go("life", c.tolerant)
		w.Join()
		n.Crash()
		o.disk.Crash(w.Choose)
	}
	c.account(true)
}

// The other direction: code that is right does not follow a specification that is wrong.
func TestMutantsOfTheSpecificationAreCaughtByTraces(t *testing.T) {
	tracetest.Caught(t, "E2/wrong-specification", "../../tla/dedupe", spec.Load, map[string]string{
		"acknowledge-held": "mismatch Dedupe.E2I1_AckedIsKept", "start-empty": "mismatch Dedupe.Pass",
		"length-too-long": "mismatch Dedupe.Land", "keep-on-failure": "mismatch Dedupe.Pass",
	}, func(w *sim.World, wrong *trace.Spec) {
		o := newOutside(w.Scheduler(), memory.Options{})
		spec.AttachTo(w, wrong, o.traced())
		for range 2 {
			n, err := o.boot()
			w.NoError(err)
			refusing(n, 1)
			n.start()
			for range 2 {
				w.Go("client", func() {
					for range 3 {
						_, err := n.send(records{"a"})
						w.NoError(err)
					}
				})
			}
			w.Join()
			stopped(w, n)
		}
	})
}
