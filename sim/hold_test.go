package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// held is what tasks of a paused node wait for: it is there before the pause, and comes to be during it.
type held struct {
	w     *sim.World
	s     sched.Scheduler
	n     *sim.Node
	m     sched.Mutex
	rw    sched.RWMutex
	c, d  *sched.Chan[int] // with room for one; without a buffer
	wg    sched.WaitGroup
	note  sched.Notify
	sem   sched.Semaphore
	cond  sched.Cond
	watch sched.Watch[int]
	seen  *sched.Watcher[int]
	once  sched.Once
	set   sched.WriteOnce[int]
	scope *sched.Scope
	x     sched.Int64
}

func newHeld(w *sim.World) *held {
	s := w.Scheduler()
	h := &held{w: w, s: s, n: w.Node("n")}
	h.m, h.rw, h.wg, h.note = sched.NewMutex(s, "m"), sched.NewRWMutex(s, "rw"), sched.NewWaitGroup(s, "wg"), sched.NewNotify(s, "note")
	h.c, h.d, h.sem = sched.NewChan[int](s, "c", 1), sched.NewChan[int](s, "d", 0), sched.NewSemaphore(s, "sem", 1)
	h.cond, h.watch, h.once = sched.NewCond(s, "cond", &h.m), sched.NewWatch(s, "watch", 0), sched.NewOnce(s, "once")
	h.set, h.scope, h.x = sched.NewWriteOnce[int](s, "set"), s.NewScope("scope"), sched.NewInt64(s, "x", 0)
	h.seen = h.watch.Subscribe()
	return h
}

// holdCases are waits of a task of the node. before runs before it begins to wait, free while the node is paused.
var holdCases = []struct {
	name   string
	before func(h *held)
	waits  func(h *held)
	free   func(h *held)
}{
	{"a step", nil, func(h *held) { h.x.Load() }, nil},
	{"lock", func(h *held) { h.m.Lock() }, func(h *held) { h.m.Lock(); h.m.Unlock() }, func(h *held) { h.m.Unlock() }},
	{"read lock", func(h *held) { h.rw.Lock() }, func(h *held) { h.rw.RLock(); h.rw.RUnlock() }, func(h *held) { h.rw.Unlock() }},
	{"write lock", func(h *held) { h.rw.Lock() }, func(h *held) { h.rw.Lock(); h.rw.Unlock() }, func(h *held) { h.rw.Unlock() }},
	{"write lock behind a reader", func(h *held) { h.rw.RLock() }, func(h *held) { h.rw.Lock(); h.rw.Unlock() }, func(h *held) { h.rw.RUnlock() }},
	{"receive", nil, func(h *held) { h.c.Receive() }, func(h *held) { h.c.Send(1) }},
	{"send", func(h *held) { h.c.Send(1) }, func(h *held) { h.c.Send(2) }, func(h *held) { h.c.Receive() }},
	{"receive of a close", nil, func(h *held) { h.d.Receive() }, func(h *held) { h.d.Close() }},
	{"select", nil, func(h *held) { sched.Select2(h.c.OnReceive(), h.d.OnSend(1)) }, func(h *held) { h.c.Send(1) }},
	{"done", nil, func(h *held) { sched.Select2(h.d.OnReceive(), h.scope.Done()) }, func(h *held) { h.scope.Cancel(nil) }},
	{"wait group", func(h *held) { h.wg.Add(1) }, func(h *held) { h.wg.Wait() }, func(h *held) { h.wg.Done() }},
	{"notify", nil, func(h *held) { h.w.NoError(h.note.Wait(nil)) }, func(h *held) { h.note.One() }},
	{"notify in a scope", nil, func(h *held) { h.w.NoError(h.note.Wait(h.scope)) }, func(h *held) { h.note.One() }},
	{
		"semaphore", func(h *held) { h.w.NoError(h.sem.Acquire(nil, 1)) }, func(h *held) { h.w.NoError(h.sem.Acquire(nil, 1)) },
		func(h *held) { h.sem.Release(1) },
	},
	{"condition", nil, func(h *held) {
		h.m.Lock()
		for h.x.Load() == 0 {
			h.cond.Wait()
		}
		h.m.Unlock()
	}, func(h *held) {
		h.m.Lock()
		h.x.Store(1)
		h.m.Unlock()
		h.cond.Signal()
	}},
	{"watch", nil, func(h *held) { h.w.NoError(h.seen.Changed(nil)) }, func(h *held) { h.watch.Set(1) }},
	{"value", nil, func(h *held) { _, err := h.set.Wait(nil); h.w.NoError(err) }, func(h *held) { h.set.Set(1) }},
	{"sleep", nil, func(h *held) { h.w.NoError(h.s.Sleep(nil, "nap", time.Second)) }, nil},
	{"join", func(h *held) {
		h.s.Go(h.scope, "joined", func() { h.w.NoError(h.s.Sleep(nil, "joined", 30*time.Second)) })
	}, func(h *held) { h.scope.Join() }, nil},
}

// A task of a paused node goes on neither with what it could do before nor with what comes to be possible meanwhile, and with all of it
// after the pause, wherever the pause met it. It holds back nobody else.
func TestAPausedTaskWaitsWhereverItIs(t *testing.T) {
	for _, c := range holdCases {
		for _, strategy := range []string{"random", "pos", "pct3"} {
			r, err := sim.Explore("hold", strategy, func(w *sim.World) {
				h := newHeld(w)
				paused, went := false, false
				if c.before != nil {
					c.before(h)
				}
				h.n.Go("waits", func() {
					c.waits(h)
					w.Require(!paused, "still", "it went on")
					went = true
				})
				w.Go("operator", func() {
					h.n.Pause()
					h.n.Pause() // is the same pause
					paused = true
					if c.free != nil && !went {
						w.Go("frees", func() { c.free(h) })
					}
					w.NoError(h.s.Sleep(nil, "long", time.Minute))
					paused = false
					h.n.Resume()
				})
				w.Finally(func() { w.Require(went, "went", "it never went on") })
			}, sim.Runs(60))
			if err != nil || r.Failure != nil {
				t.Errorf("%s, %s: %+v, %v", c.name, strategy, r.Failure, err)
			}
		}
	}
}

// A paused task is nobody's partner, and one again after the pause.
func TestAPausedTaskIsNotMet(t *testing.T) {
	for name, waits := range map[string]func(w *sim.World, d, e *sched.Chan[int]){ //order:each is judged alone
		"receive": func(_ *sim.World, d, _ *sched.Chan[int]) { d.Receive() },
		"select":  func(_ *sim.World, d, e *sched.Chan[int]) { sched.Select2(e.OnReceive(), d.OnReceive()) },
	} {
		got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
			s, n := w.Scheduler(), w.Node("n")
			d, e := sched.NewChan[int](s, "d", 0), sched.NewChan[int](s, "e", 0)
			n.Go("receives", func() { waits(w, d, e) })
			w.Go("operator", func() {
				w.NoError(s.Sleep(nil, "settle", time.Second))
				n.Pause()
				first := d.TrySend(1)
				n.Resume()
				report("%s: %t, %t", name, first, d.TrySend(2))
			})
		})
		wantOutcomes(t, got, name+": false, true")
	}
}

// A pause is of one node: the end of another's does not end it, and what is started on it waits as well.
func TestAPauseIsOfOneNode(t *testing.T) {
	for _, late := range []bool{false, true} {
		got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
			s, a, b := w.Scheduler(), w.Node("a"), w.Node("b")
			paused := false
			task := func() { w.Require(!paused, "still", "a task of a paused node went on") }
			if !late {
				b.Go("task", task)
			}
			a.Pause()
			b.Pause()
			paused = true
			if late {
				b.Go("late", task)
			}
			a.Resume()
			w.NoError(s.Sleep(nil, "long", time.Minute))
			paused = false
			b.Resume()
			w.Join()
			report("over")
		})
		wantOutcomes(t, got, "over")
	}
}

// Timers of a paused node fire at their time; its tasks see that later.
func TestTimersOfAPausedNodeFire(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, n := w.Scheduler(), w.Node("n")
		start := s.Now()
		n.Go("sleeps", func() {
			timer := sched.NewTimer(s, "nap", time.Second)
			at := sched.Select2(timer.Fired(), sched.Case[int]{}).A
			report("fired at %s, seen at %s", at.Sub(start), s.Now().Sub(start))
		})
		w.Go("operator", func() {
			w.NoError(s.Sleep(nil, "first", 500*time.Millisecond))
			n.Pause()
			w.NoError(s.Sleep(nil, "long", time.Minute))
			n.Resume()
		})
	})
	wantOutcomes(t, got, "fired at 1s, seen at 1m0.5s")
}

// A jump moves what the node's tasks read, at once: also the tasks that they start, the values of the node's timers and the deadlines that
// are reckoned from them. It moves no timer, and ends with the incarnation.
func TestAClockJumpReachesWhateverTheNodeReads(t *testing.T) {
	got := outcomes(t, func(w *sim.World, report func(string, ...any)) {
		s, n := w.Scheduler(), w.Node("n")
		start := s.Now()
		since := func() time.Duration { return s.Now().Sub(start) }
		n.JumpClock(-time.Hour)
		n.Go("task", func() {
			child, deadline := time.Duration(0), time.Duration(0)
			s.Go(w.Scope(), "child", func() { child = since() })
			k := w.Scope().ChildTimeout("k", time.Minute)
			if at, ok := k.Context().Deadline(); ok {
				deadline = at.Sub(start)
			}
			sched.Select2(k.Done(), sched.Case[int]{})
			timer := sched.NewTimer(s, "timer", time.Second)
			at := sched.Select2(timer.Fired(), sched.Case[int]{}).A.Sub(start)
			report("child %s, deadline %s, fired %s, own %s", child, deadline, at, since())
			k.Close()
		})
		w.Join()
		outside := since()
		next := w.Node("n")
		next.Go("next", func() { report("outside %s, next %s", outside, since()) })
	})
	wantOutcomes(t, got, "child -1h0m0s, deadline -59m0s, fired -58m59s, own -58m59s", "outside 1m1s, next 1m1s")
}

// The budget of faults is one for all tasks and places. What a check does to nodes is counted and not limited by it, nor ended with the faults.
func TestTheBudgetOfFaultsIsShared(t *testing.T) {
	for _, budget := range []int{0, 1, 2, 3} {
		seen, most := map[string]bool{}, 0
		r, err := sim.Explore("budget", "dfs", func(w *sim.World) {
			n, taken := w.Node("n"), 0
			for i := range 2 {
				w.Go("task", func() {
					for k := range 2 {
						w.Scheduler().Yield()
						if v := w.Fault(fmt.Sprint("place", i), "one", "two"); v > 0 {
							taken++
							seen[fmt.Sprint(i, k, v)] = true
						}
					}
				})
			}
			w.Join()
			n.Pause()
			w.StopFaults()
			w.Require(w.Fault("late", "one") == 0, "stopped", "a fault after they stopped")
			n.Resume()
			n.Crash()
			most = max(most, taken)
		}, sim.Faults(budget))
		if err != nil || !r.Complete || most != budget || len(seen) != min(budget, 1)*8 {
			t.Errorf("budget %d: at most %d were taken, in %d ways, complete %t, %+v, %v", budget, most, len(seen), r.Complete, r.Failure, err)
		}
	}
	r, err := sim.Explore("budget", "random", func(w *sim.World) {
		n := w.Node("n")
		n.Pause()
		n.Resume()
		n.Resume() // it is up: taken, though nothing changes
		n.JumpClock(time.Second)
		n.Crash()
		n.Crash()
		n.Pause() // it is down
		for range 9 {
			w.Fault("here", "kind")
		}
	}, sim.Runs(400))
	want := map[string]int{"pause node n": 400, "resume node n": 800, "jump the clock of node n": 400, "crash node n": 400}
	for what, n := range want { //order:each is judged alone
		if r.Faults[what] != n {
			t.Errorf("%s: counted %d times, want %d", what, r.Faults[what], n)
		}
	}
	if drawn := r.Faults["here kind"]; err != nil || drawn < 1100 || drawn > 1200 { // three at most by default, of nine draws
		t.Errorf("%d faults were drawn in 400 executions, %v", drawn, err)
	}
}
