package conform

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

func sprint(values ...any) string {
	text := fmt.Sprintln(values...)
	return text[:len(text)-1]
}

func locks() []Script {
	return []Script{
		{Name: "mutex", Run: mutexScript, Want: []string{"try true", "try again false", "held true", "held false", "exclusive 2"}},
		{Name: "rwmutex", Run: rwmutexScript, Want: []string{
			"readers together true", "no writer beside a reader false", "a try takes it true",
			"no reader after a try false, no writer false", "no reader beside a writer false", "no second writer false",
			"a waiting writer keeps readers out", "writers are exclusive 2",
		}},
		{Name: "cond", Run: condScript, Want: []string{"nobody to signal", "signal wakes the longest waiter first [1 2]", "broadcast wakes both"}},
		{Name: "once", Run: onceScript, Want: []string{"ran 1", "both saw it true true", "a panic counts", "planted, then nothing"}},
		{Name: "wait group", Run: waitGroupScript, Want: []string{"waited for 2", "empty returns", "sync: negative WaitGroup counter"}},
		{Name: "semaphore", Run: semaphoreScript, Want: []string{
			"take 2 of 3, 1 free", "try 2 false", "first come first served [3 1]", "ended: scope canceled, 3 free",
			"who gives up lets the next one in", "not more than there are false, 1 free",
			"too much: sched: acquire 4 of a semaphore of size 3", "too often: sched: semaphore released more than was acquired",
		}},
	}
}

func mutexScript(r *Run) {
	m := sched.NewMutex(r.S, "m")
	r.Say("try %t", m.TryLock())
	r.Say("try again %t", m.TryLock())
	r.Say("held %t", m.Held())
	m.Unlock()
	r.Say("held %t", m.Held())
	n := 0
	inc := func() {
		m.Lock()
		n++
		m.Unlock()
	}
	r.Both(inc, inc)
	r.Say("exclusive %d", n)
}

func rwmutexScript(r *Run) {
	m := sched.NewRWMutex(r.S, "m")
	m.RLock()
	r.Say("readers together %t", m.TryRLock())
	m.RUnlock()
	r.Say("no writer beside a reader %t", m.TryLock())
	n := 0
	inc := func() {
		m.Lock()
		n++
		m.Unlock()
	}
	join := r.Beside("writer", inc)
	r.Await("the writer waits", func() bool {
		if m.TryRLock() {
			m.RUnlock()
			return false
		}
		return true
	})
	m.RUnlock()
	join()
	r.Say("a try takes it %t", m.TryLock())
	r.Say("no reader after a try %t, no writer %t", m.TryRLock(), m.TryLock())
	m.Unlock()
	m.Lock()
	r.Say("no reader beside a writer %t", m.TryRLock())
	r.Say("no second writer %t", m.TryLock())
	m.Unlock()
	r.Say("a waiting writer keeps readers out")
	r.Beside("writer", inc)()
	m.RLock()
	r.Say("writers are exclusive %d", n)
	m.RUnlock()
}

// condScript: signals reach waiters in the order in which they began to wait. A task holds the mutex from before it counts
// itself until it waits, so whoever sees the count under the mutex knows that it waits.
func condScript(r *Run) {
	m := sched.NewMutex(r.S, "m")
	c := sched.NewCond(r.S, "c", &m)
	c.Signal()
	c.Broadcast()
	r.Say("nobody to signal")
	waiting, turns, order := 0, 0, []int{}
	wait := func(id int) func() {
		return func() {
			m.Lock()
			waiting++
			c.Wait()
			order = append(order, id)
			turns++
			m.Unlock()
		}
	}
	reached := func(counter *int, n int) func() bool {
		return func() bool {
			m.Lock()
			defer m.Unlock()
			return *counter == n
		}
	}
	two := func() (join func()) {
		waiting, turns = 0, 0
		first := r.Beside("first", wait(1))
		r.Await("the first waits", reached(&waiting, 1))
		second := r.Beside("second", wait(2))
		r.Await("the second waits", reached(&waiting, 2))
		return func() {
			first()
			second()
		}
	}
	join := two()
	c.Signal()
	r.Await("one woke", reached(&turns, 1))
	c.Signal()
	join()
	r.Say("signal wakes the longest waiter first %v", order)
	join = two()
	c.Broadcast()
	join()
	r.Say("broadcast wakes both")
}

func onceScript(r *Run) {
	o := sched.NewOnce(r.S, "o")
	ran := 0
	var saw [2]bool
	do := func(i int) func() {
		return func() {
			o.Do(func() { ran++ })
			saw[i] = ran == 1
		}
	}
	r.Both(do(0), do(1))
	r.Say("ran %d", ran)
	r.Say("both saw it %t %t", saw[0], saw[1])
	p := sched.NewOnce(r.S, "p")
	text := Panic(func() { p.Do(func() { panic("planted") }) })
	p.Do(func() { text = "ran again" })
	r.Say("a panic counts")
	r.Say("%s, then nothing", text)
}

func waitGroupScript(r *Run) {
	g := sched.NewWaitGroup(r.S, "g")
	g.Add(2)
	var done [2]bool
	finish := func(i int) func() {
		return func() {
			done[i] = true
			g.Done()
		}
	}
	first, second := r.Beside("first", finish(0)), r.Beside("second", finish(1))
	g.Wait()
	n := 0
	for _, d := range done {
		if d {
			n++
		}
	}
	first()
	second()
	r.Say("waited for %d", n)
	g.Wait()
	r.Say("empty returns")
	bad := sched.NewWaitGroup(r.S, "bad")
	r.Say("%s", Panic(func() { bad.Add(-1) }))
}

func semaphoreScript(r *Run) {
	x := sched.NewSemaphore(r.S, "x", 3)
	r.report(x.Acquire(nil, 2))
	r.Say("take 2 of 3, %d free", x.Free())
	r.Say("try 2 %t", x.TryAcquire(2))
	granted := sched.NewChan[int64](r.S, "granted", 2)
	take := func(n int64) func() {
		return func() {
			if err := x.Acquire(r.Scope, n); err == nil {
				granted.Send(n)
				x.Release(n)
			}
		}
	}
	large := r.Beside("large", take(3))
	r.Await("the large one waits", func() bool {
		if x.TryAcquire(1) {
			x.Release(1)
			return false
		}
		return true
	})
	// One unit is free, but a smaller request that came later does not overtake.
	small := r.Beside("small", take(1))
	x.Release(2)
	large()
	small()
	a, _ := granted.Receive()
	b, _ := granted.Receive()
	r.Say("first come first served %v", []int64{a, b})
	r.report(x.Acquire(nil, 3))
	err := x.Acquire(r.endedScope(), 1)
	x.Release(3)
	r.Say("ended: %v, %d free", err, x.Free())
	r.withdrawal()
	r.report(x.Acquire(nil, 2))
	r.Say("not more than there are %t, %d free", x.TryAcquire(2), x.Free())
	x.Release(2)
	r.Say("too much: %s", Panic(func() { r.report(x.Acquire(nil, 4)) }))
	r.Say("too often: %s", Panic(func() { x.Release(1) }))
}

// withdrawal: a large request waits, a small one behind it, for which there is room; when the large one gives up, the small one is served.
func (r *Run) withdrawal() {
	x := sched.NewSemaphore(r.S, "y", 2)
	r.report(x.Acquire(nil, 1))
	patience := r.Scope.Child("patience")
	large := r.Beside("large", func() {
		if x.Acquire(patience, 2) == nil {
			r.Say("the large one was served")
		}
	})
	r.Await("the large one waits", func() bool {
		if x.TryAcquire(1) {
			x.Release(1)
			return false
		}
		return true
	})
	small := r.Beside("small", func() {
		r.report(x.Acquire(r.Scope, 1))
		x.Release(1)
	})
	patience.Cancel(nil)
	large()
	small()
	patience.Close()
	r.Say("who gives up lets the next one in")
	x.Release(1)
}

func (r *Run) report(err error) {
	if err != nil {
		r.Say("%v", err)
	}
}
