package sim

import (
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// Arrows of a timeline are what the clocks say: start after spawn's task, lock after unlock, load after store, and nothing that
// follows from another arrow.
func TestArrowsFollowTheClocks(t *testing.T) {
	o := newOptions(nil)
	c, err := ParseChoices("1x9 2x9")
	if err != nil {
		t.Fatal(err)
	}
	w, _ := again("arrows", func(w *World) {
		s := w.Scheduler()
		m, x := sched.NewMutex(s, "m"), sched.NewInt64(s, "x", 0)
		use := func() {
			m.Lock()
			x.Store(1)
			m.Unlock()
		}
		w.Go("first", use)
		w.Go("second", use)
	}, &o, c, true)
	if w.failed {
		t.Fatal(w.verdict)
	}
	var got []string
	for _, e := range happensBefore(w.trace) {
		from, to := w.trace[e[0]], w.trace[e[1]]
		got = append(got, from.name+" "+from.op.String()+" → "+to.name+" "+to.op.String())
	}
	for _, want := range []string{"main wgadd → first start", "first unlock → second lock"} {
		if !slices.Contains(got, want) {
			t.Errorf("no arrow %q in %q", want, got)
		}
	}
	if slices.Contains(got, "first store → second store") || slices.Contains(got, "first store → second lock") {
		t.Errorf("an arrow that follows from another: %q", got)
	}
}
