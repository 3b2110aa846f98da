package sim

import (
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// storeOf is two tasks around one atomic; only the value stored differs.
func storeOf(v uint64) func(*World) {
	return func(w *World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		w.Go("store", func() { x.Store(v) })
		w.Go("load", func() { x.Load() })
	}
}

func TestOneResultValueChangesTheHash(t *testing.T) {
	o := newOptions(nil)
	first := newWorld("x", storeOf(1), &o)
	defer first.drain()
	execute(first, &randomWalk{}, 3)
	choices := Choices{first.schedule, first.data}
	same, _ := again("x", storeOf(1), &o, choices, false)
	other, _ := again("x", storeOf(2), &o, choices, false)
	if same.failed || other.failed {
		t.Fatal(same.verdict, other.verdict)
	}
	if same.hash != first.hash {
		t.Errorf("the same schedule: hash %x, then %x", first.hash, same.hash)
	}
	if other.hash == first.hash {
		t.Error("another stored value leaves the hash unchanged")
	}
}

// Bodies that differ in one part of one step, under the same schedule: each part is in the hash by itself.
func TestEachPartOfAStepIsInTheHash(t *testing.T) {
	type shared struct{ x, y sched.Uint64 }
	for _, row := range []struct {
		part  string
		steps [2]func(*shared)
	}{
		{part: "operation", steps: [2]func(*shared){func(v *shared) { v.x.Load() }, func(v *shared) { v.x.Add(0) }}},
		{part: "object", steps: [2]func(*shared){func(v *shared) { v.x.Store(7) }, func(v *shared) { v.y.Store(7) }}},
		{part: "result", steps: [2]func(*shared){func(v *shared) { v.x.Store(7) }, func(v *shared) { v.x.Store(8) }}},
	} {
		o := newOptions(nil)
		body := func(step func(*shared)) func(*World) {
			return func(w *World) {
				v := &shared{x: sched.NewUint64(w.Scheduler(), "x", 0), y: sched.NewUint64(w.Scheduler(), "y", 0)}
				w.Go("step", func() { step(v) })
				w.Go("beside", w.Scheduler().Yield)
			}
		}
		first := newWorld("x", body(row.steps[0]), &o)
		execute(first, &randomWalk{}, 3)
		choices, hash := Choices{first.schedule, first.data}, first.hash
		first.drain()
		same, _ := again("x", body(row.steps[0]), &o, choices, false)
		other, _ := again("x", body(row.steps[1]), &o, choices, false)
		if same.failed || other.failed || same.hash != hash {
			t.Fatal(row.part, same.verdict, other.verdict, same.hash, hash)
		}
		if other.hash == hash {
			t.Errorf("another %s leaves the hash unchanged", row.part)
		}
	}
}

// Which task took a step is in the hash: the two orders of two like steps are two traces.
func TestTheTaskIsInTheHash(t *testing.T) {
	o := newOptions(nil)
	w := newWorld("x", func(w *World) {
		x := sched.NewUint64(w.Scheduler(), "x", 0)
		for range 2 {
			w.Go("t", func() { x.Load(); x.Load() })
		}
	}, &o)
	defer w.drain()
	hashes := map[uint64]string{}
	for seed := range uint64(64) {
		execute(w, &randomWalk{}, seed)
		order := Choices{w.schedule, w.data}.String()
		if before, taken := hashes[w.hash]; taken && before != order {
			t.Fatalf("schedules %s and %s have one hash", before, order)
		}
		hashes[w.hash] = order
	}
	if len(hashes) < 4 {
		t.Fatalf("%d schedules drawn", len(hashes))
	}
}

// A drawn value is in the hash, also when nothing depends on it.
func TestADrawnValueIsInTheHash(t *testing.T) {
	o := newOptions(nil)
	w := newWorld("x", func(w *World) {
		r := sched.NewRand(w.Scheduler(), "r")
		w.Go("draw", func() { r.IntN(1000) })
	}, &o)
	defer w.drain()
	values := map[uint64]uint64{} // of each hash
	for seed := range uint64(8) {
		execute(w, &randomWalk{}, seed)
		if before, taken := values[w.hash]; taken && before != w.data[0] {
			t.Fatalf("values %d and %d have one hash", before, w.data[0])
		}
		values[w.hash] = w.data[0]
	}
	if len(values) < 2 {
		t.Fatalf("%d values drawn", len(values))
	}
}

func TestStrictReplayStopsWhereTheScheduleIsNotPossible(t *testing.T) {
	o := newOptions(nil)
	for _, row := range []struct{ text, want string }{
		{"7", "choice 1"},
		{"1 2 1 7", "choice 4"},
		{"=3", "choice 1"},
	} {
		c, err := ParseChoices(row.text)
		if err != nil {
			t.Fatal(err)
		}
		body := func(w *World) {
			s := w.Scheduler()
			for range 2 {
				w.Go("t", func() { s.Yield(); s.Yield() })
			}
		}
		w, _ := again("x", body, &o, c, false)
		if !w.failed || w.verdict.kind != "divergence" || !strings.Contains(w.verdict.message, row.want) {
			t.Errorf("%q: verdict %s %s", row.text, w.verdict, w.verdict.message)
		}
		if w, r := again("x", body, &o, c, true); w.failed || r.diverged == 0 {
			t.Errorf("%q leniently: verdict %s, diverged at %d", row.text, w.verdict, r.diverged)
		}
	}
}

// What a body keeps outside of itself makes the same schedule go another way; running the first executions twice shows it.
func TestHiddenStateIsNondeterminism(t *testing.T) {
	var executions atomic.Uint64
	c := &checker{t: t, id: "hidden", opts: newOptions([]Option{Cores(1)}), body: func(w *World) {
		storeOf(executions.Add(1))(w)
	}}
	c.twice("random")
	if c.failure == nil || c.failure.Kind != "nondeterminism" || !strings.Contains(c.failure.Message, `"store" store atomic x#`) {
		t.Fatalf("verdict %+v", c.failure)
	}
}

func TestChoicesRoundTrip(t *testing.T) {
	c := Choices{tasks: []int32{0, 0, 0, dataChoice, -1, 3, dataChoice, dataChoice, 3, 3}, data: []uint64{5, 0, 1 << 63}}
	got, err := ParseChoices(c.String())
	if err != nil || !slices.Equal(got.tasks, c.tasks) || !slices.Equal(got.data, c.data) {
		t.Fatalf("%q reads back as %v, %v", c, got, err)
	}
	for _, bad := range []string{"x", "=", "=-1", "-2", "1x", "1x1", "1x99999999999", "3x50000001"} {
		if _, err := ParseChoices(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// unfinished passes, and leaves behind whatever an execution can: a task that crashed inside a lock, one that sleeps in a scope that ends, a
// timer that nobody waits for, a value that nobody took.
func unfinished(w *World) {
	s := w.Scheduler()
	m, n, c := sched.NewMutex(s, "m"), w.Node("n"), sched.NewChan[int](s, "c", 1)
	scope := s.NewScope("own")
	n.Go("victim", func() {
		m.Lock()
		defer m.Unlock()
		s.Yield()
		c.TrySend(1)
	})
	s.Go(scope, "sleeper", func() { _ = s.Sleep(scope, "nap", time.Hour) })
	w.Go("operator", func() {
		scope.ChildTimeout("limit", time.Minute)
		n.Pause()
		n.Crash()
		scope.Cancel(nil)
	})
}

// Executions leave neither goroutines nor memory behind, however they end.
func TestExecutionsLeaveNothingBehind(t *testing.T) {
	body := func(w *World) {
		s := w.Scheduler()
		m, n := sched.NewMutex(s, "m"), w.Node("n")
		n.Go("victim", func() {
			m.Lock()
			defer m.Unlock()
			s.Yield()
		})
		w.Go("crash", n.Crash)
		w.Go("wait", func() { sched.NewChan[int](s, "never", 0).Receive() })
	}
	goroutines := runtime.NumGoroutine()
	o := newOptions(nil)
	w := newWorld("x", body, &o)
	walk := &randomWalk{}
	heap := func(executions int) uint64 {
		for i := range executions {
			execute(w, walk, uint64(i))
			if !w.failed {
				t.Fatal("the waiting task was not noticed")
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early := heap(1000)
	if late := heap(5000); late > early+1<<20 {
		t.Errorf("%d bytes of heap after 1,000 failing executions, %d after 6,000", early, late)
	}
	w.drain()

	clean := func(runs int) uint64 {
		r, err := Explore("x", "random", unfinished, Runs(runs), EarlyTimeouts())
		if err != nil || !r.Complete {
			t.Fatal(r, err)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early = clean(1000)
	if late := clean(100_000); late > early+1<<20 {
		t.Errorf("%d bytes of heap after 1,000 executions, %d after 100,000", early, late)
	}
	if now := runtime.NumGoroutine(); now > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, now)
	}
}
