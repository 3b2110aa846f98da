package sim

import (
	"sync/atomic"
	"testing"
)

// A fixed share of the executions of a sampled check is checked against specifications, the same for the same seeds; the
// environment makes it all or none.
func TestShareOfTracedExecutions(t *testing.T) {
	const runs = 400
	traced := func(environment string) int64 {
		t.Setenv("MILLRACE_SIM", environment)
		var n atomic.Int64
		r, err := Explore("share", "random", func(w *World) {
			if w.Traced() {
				n.Add(1)
			}
		}, Runs(runs), func(o *options) {
			if err := o.fromEnvironment(); err != nil {
				t.Error(err)
			}
		})
		if err != nil || r.Failure != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		return n.Load()
	}
	share := traced("seed=7")
	if share < runs/traceShare/2 || share > 2*runs/traceShare {
		t.Errorf("%d of %d executions, want about one in %d", share, runs, traceShare)
	}
	if again := traced("seed=7"); again != share {
		t.Errorf("%d, then %d executions of the same seeds", share, again)
	}
	if all := traced("traces=1"); all < runs {
		t.Errorf("traces=1 checked %d of %d", all, runs)
	}
	if none := traced("traces=0"); none != 0 {
		t.Errorf("traces=0 checked %d", none)
	}
}
