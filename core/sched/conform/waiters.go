package conform

import "github.com/millrace-dev/millrace/core/sched"

func waiters() []Script {
	return []Script{
		{Name: "notify", Run: notifyScript, Want: []string{
			"a stored permit is taken", "two signals store one permit", "all stores nothing", "all wakes who registered before it",
			"one wakes the first of two", "a dropped permit goes to the second", "ended: scope canceled",
			"a permit beats an ended scope", "who was woken with all passes nothing on: scope canceled", "the last one leaves, another comes: both woken",
		}},
		{Name: "watch", Run: watchScript, Want: []string{
			"value 1", "the current version is seen: scope canceled", "changed to 3", "read 4, and it is seen: scope canceled", "woken for 5",
			"each version is new",
		}},
		{Name: "write-once", Run: writeOnceScript, Want: []string{
			"empty 0 false", "nothing to peek at true", "ended: scope canceled", "one of two sets won", "second set false", "waiters got 7 7", "get true peek true",
		}},
	}
}

// endedScope is a scope in which no wait waits.
func (r *Run) endedScope() *sched.Scope {
	c := r.Scope.Child("ended")
	c.Cancel(nil)
	return c
}

func notifyScript(r *Run) {
	n := sched.NewNotify(r.S, "n")
	n.One()
	r.report(n.Wait(nil))
	r.Say("a stored permit is taken")
	n.One()
	n.One()
	r.report(n.Wait(nil))
	if n.Wait(r.endedScope()) != nil {
		r.Say("two signals store one permit")
	}
	n.All()
	if n.Wait(r.endedScope()) != nil {
		r.Say("all stores nothing")
	}
	before := n.Register()
	n.All()
	r.report(before.Wait(r.Scope))
	r.Say("all wakes who registered before it")
	first, second := n.Register(), n.Register()
	n.One()
	r.report(first.Wait(r.Scope))
	r.Say("one wakes the first of two")
	third := n.Register()
	n.One() // for second, which is not going to wait
	second.Drop()
	r.report(third.Wait(r.Scope))
	r.Say("a dropped permit goes to the second")
	r.Say("ended: %v", n.Wait(r.endedScope()))
	n.One()
	r.report(n.Wait(r.endedScope()))
	r.Say("a permit beats an ended scope")
	woken := n.Register()
	n.All()
	woken.Drop()
	r.Say("who was woken with all passes nothing on: %v", n.Wait(r.endedScope()))
	stays, leaves := n.Register(), n.Register()
	leaves.Drop()
	comes := n.Register()
	n.One()
	n.One()
	r.report(stays.Wait(r.Scope))
	r.report(comes.Wait(r.Scope))
	r.Say("the last one leaves, another comes: both woken")
}

func watchScript(r *Run) {
	x := sched.NewWatch(r.S, "x", 1)
	w := x.Subscribe()
	r.Say("value %d", x.Get())
	r.Say("the current version is seen: %v", w.Changed(r.endedScope()))
	x.Set(2)
	x.Update(func(v int) int { return v + 1 })
	r.report(w.Changed(r.Scope)) // one wait for two versions: only the last counts
	r.Say("changed to %d", x.Get())
	x.Set(4)
	r.Say("read %d, and it is seen: %v", w.Get(), w.Changed(r.endedScope()))
	join := r.Beside("setter", func() { x.Set(5) })
	r.report(w.Changed(r.Scope))
	r.Say("woken for %d", w.Get())
	join()
	for v := range 3 {
		x.Set(v)
		r.report(w.Changed(r.endedScope()))
	}
	r.Say("each version is new")
}

func writeOnceScript(r *Run) {
	o := sched.NewWriteOnce[int](r.S, "o")
	v, ok := o.Get()
	r.Say("empty %d %t", v, ok)
	r.Say("nothing to peek at %t", o.Peek() == nil)
	_, err := o.Wait(r.endedScope())
	r.Say("ended: %v", err)
	var got [2]int
	wait := func(i int) func() {
		return func() { got[i], _ = o.Wait(r.Scope) }
	}
	first, second := r.Beside("first", wait(0)), r.Beside("second", wait(1))
	a := o.Set(7)
	b := o.Set(8)
	first()
	second()
	if a != b {
		r.Say("one of two sets won")
	}
	r.Say("second set %t", b)
	r.Say("waiters got %d %d", got[0], got[1])
	_, ok = o.Get()
	r.Say("get %t peek %t", ok, *o.Peek() == 7)
}
