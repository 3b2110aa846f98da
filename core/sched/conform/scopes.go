package conform

import (
	"context"
	"errors"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

func scopes() []Script {
	return []Script{
		{Name: "scope", Run: scopeScript, Want: []string{
			"open <nil>", "first cause counts: planted", "below: planted", "born ended: planted", "sibling <nil>", "nil never ends <nil>",
			"close: scope canceled", "again: scope canceled", "name top",
			"whoever is left of some ends: planted planted planted",
		}},
		{Name: "tasks", Run: tasksScript, Want: []string{"joined 2", "nested 1", "closed after its task: scope canceled"}},
		{Name: "context", Run: contextScript, Want: []string{"open true", "canceled true", "value true", "no deadline false"}},
	}
}

func clocks() []Script {
	return []Script{
		{Name: "timer", Timed: true, Run: timerScript, Want: []string{
			"fired after 1s", "stopped true, then false", "reset to 3s", "nothing stale true", "a reset forgets what fired: 8s", "a nil timer is off: 1",
		}},
		{Name: "ticker", Timed: true, Run: tickerScript, Want: []string{"ticks 1s 2s", "missed ticks are dropped: 5s 6s", "none after the stop true", "a ticker needs a period: sched: ticker t with a period that is not positive"}},
		{Name: "sleep", Timed: true, Run: sleepScript, Want: []string{"slept 2s", "woken at 1s: planted", "in order [1 2 3]"}},
		{Name: "timeout", Timed: true, Run: timeoutScript, Want: []string{
			"timed out after 1s: scope timed out", "closed before its time: scope canceled", "context deadline exceeded true 1s",
			"parent first: planted", "a wait ends with its scope: scope timed out",
		}},
	}
}

var errPlanted = errors.New("planted")

func scopeScript(r *Run) {
	top := r.S.NewScope("top")
	low := top.Child("low")
	sibling := top.Child("sibling")
	r.Say("open %v", low.Err())
	low.Cancel(errPlanted)
	low.Cancel(sched.ErrTimeout)
	r.Say("first cause counts: %v", low.Err())
	below := low.Child("below")
	sched.Select2(below.Done(), low.Done())
	r.Say("below: %v", below.Err())
	r.Say("born ended: %v", below.Child("late").Err())
	r.Say("sibling %v", sibling.Err())
	var none *sched.Scope
	r.Say("nil never ends %v", none.Err())
	top.Close()
	r.Say("close: %v", sibling.Err())
	top.Close()
	r.Say("again: %v", top.Err())
	r.Say("name %s", top.Name())
	many := r.S.NewScope("many")
	one, two, three := many.Child("one"), many.Child("two"), many.Child("three")
	three.Close() // the last of them
	four := many.Child("four")
	two.Close() // in the middle
	five := many.Child("five")
	many.Cancel(errPlanted)
	r.Say("whoever is left of some ends: %v %v %v", one.Err(), four.Err(), five.Err())
	many.Close()
}

func tasksScript(r *Run) {
	scope := r.S.NewScope("scope")
	n := sched.NewInt64(r.S, "n", 0)
	for range 2 {
		r.S.Go(scope, "task", func() { n.Add(1) })
	}
	scope.Join()
	r.Say("joined %d", n.Load())
	n.Store(0)
	r.S.Go(scope, "outer", func() {
		r.S.Go(scope.Child("inner"), "inner", func() { n.Add(1) })
	})
	scope.Join() // of everything below, too
	r.Say("nested %d", n.Load())
	var why error
	r.S.Go(scope, "until the end", func() {
		sched.Select2(scope.Done(), sched.Case[int]{})
		why = scope.Err()
	})
	scope.Close()
	r.Say("closed after its task: %v", why)
}

func contextScript(r *Run) {
	scope := r.S.NewScope("scope")
	ctx := scope.Context()
	r.Say("open %t", ctx.Err() == nil)
	scope.Cancel(errPlanted)
	r.Say("canceled %t", errors.Is(ctx.Err(), context.Canceled) && ctx.Done() != nil)
	r.Say("value %t", ctx.Value("key") == nil)
	_, has := ctx.Deadline()
	r.Say("no deadline %t", has)
	scope.Close()
}

// fired waits for a timer and returns how long that was after start.
func (r *Run) fired(start time.Time, c sched.Case[time.Time]) time.Duration {
	sched.Select2(c, r.Scope.Done())
	return r.S.Now().Sub(start)
}

func timerScript(r *Run) {
	start := r.S.Now()
	t := sched.NewTimer(r.S, "t", time.Second)
	r.Say("fired after %s", r.fired(start, t.Fired()))
	t.Reset(time.Hour)
	r.Say("stopped %t, then %t", t.Stop(), t.Stop())
	t.Reset(time.Second)
	t.Reset(2 * time.Second)
	r.Say("reset to %s", r.fired(start, t.Fired()))
	t.Reset(time.Second)
	r.report(r.S.Sleep(nil, "past", 2*time.Second))
	t.Stop()
	stale := sched.Select2(t.Fired(), r.endedScope().Done())
	r.Say("nothing stale %t", stale.Index == 1)
	t.Reset(time.Second)
	r.report(r.S.Sleep(nil, "past", 2*time.Second))
	t.Reset(time.Second)
	r.Say("a reset forgets what fired: %s", r.fired(start, t.Fired()))
	var none *sched.Timer
	r.Say("a nil timer is off: %d", sched.Select2(none.Fired(), r.endedScope().Done()).Index)
}

func tickerScript(r *Run) {
	start := r.S.Now()
	t := sched.NewTicker(r.S, "t", time.Second)
	r.Say("ticks %s %s", r.fired(start, t.Fired()), r.fired(start, t.Fired()))
	r.report(r.S.Sleep(nil, "late", 3500*time.Millisecond))
	sched.Select2(t.Fired(), r.Scope.Done()) // one of the three that were due is kept
	late := r.S.Now().Sub(start).Truncate(time.Second)
	r.Say("missed ticks are dropped: %s %s", late, r.fired(start, t.Fired()))
	t.Stop()
	r.report(r.S.Sleep(nil, "past", 2*time.Second))
	r.Say("none after the stop %t", sched.Select2(t.Fired(), r.endedScope().Done()).Index == 1)
	r.Say("a ticker needs a period: %s", Panic(func() { sched.NewTicker(r.S, "t", 0) }))
}

func sleepScript(r *Run) {
	start := r.S.Now()
	r.report(r.S.Sleep(nil, "s", 2*time.Second))
	r.Say("slept %s", r.S.Now().Sub(start))
	start = r.S.Now()
	scope := r.Scope.Child("scope")
	join := r.Beside("waker", func() {
		r.report(r.S.Sleep(nil, "w", time.Second))
		scope.Cancel(errPlanted)
	})
	err := r.S.Sleep(scope, "long", time.Hour)
	r.Say("woken at %s: %v", r.S.Now().Sub(start), err)
	join()
	woke := sched.NewChan[int](r.S, "woke", 3)
	all := r.Scope.Child("all")
	for _, d := range []int{3, 1, 2} {
		r.S.Go(all, "sleeper", func() {
			if r.S.Sleep(all, "nap", time.Duration(d)*time.Second) == nil {
				woke.Send(d)
			}
		})
	}
	all.Join()
	var order [3]int
	for i := range order {
		order[i], _ = woke.Receive()
	}
	r.Say("in order %v", order)
}

func timeoutScript(r *Run) {
	start := r.S.Now()
	scope := r.Scope.ChildTimeout("scope", time.Second)
	sched.Select2(scope.Done(), sched.Case[int]{})
	r.Say("timed out after %s: %v", r.S.Now().Sub(start), scope.Err())
	scope.Close()
	quick := r.Scope.ChildTimeout("quick", time.Second)
	quick.Close()
	r.report(r.S.Sleep(nil, "past", 2*time.Second))
	r.Say("closed before its time: %v", quick.Err())
	start = r.S.Now()
	timed := r.Scope.ChildTimeout("timed", time.Second)
	deadline, has := timed.Context().Deadline()
	sched.Select2(timed.Done(), sched.Case[int]{})
	r.Say("%v %t %s", timed.Context().Err(), has, deadline.Sub(start))
	parent := r.Scope.Child("parent")
	child := parent.ChildTimeout("child", time.Hour)
	parent.Cancel(errPlanted)
	r.Say("parent first: %v", child.Err())
	never := sched.NewNotify(r.S, "never")
	short := r.Scope.ChildTimeout("short", time.Second)
	r.Say("a wait ends with its scope: %v", never.Wait(short))
	short.Close()
	timed.Close()
	parent.Close()
}
