package sim

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// must fails the execution when a step of a history did not do what it is there for.
func must(e *orderWorld, ok bool) {
	e.w.Require(ok, "step", "a step of the history does something else")
}

func send(c int) act { return func(e *orderWorld) { e.c[c].Send(1) } }
func recv(c int) act { return func(e *orderWorld) { _, ok := e.c[c].Receive(); must(e, ok) } }
func trySend(c int, ok bool) act {
	return func(e *orderWorld) { must(e, e.c[c].TrySend(1) == ok) }
}

func tryRecv(c int, want bool) act {
	return func(e *orderWorld) { _, _, ok := e.c[c].TryReceive(); must(e, ok == want) }
}
func closes(c int) act { return func(e *orderWorld) { e.c[c].Close() } }
func closed(c int) act { return func(e *orderWorld) { _, ok := e.c[c].Receive(); must(e, !ok) } }
func selectSend(c int) act {
	return func(e *orderWorld) { must(e, sched.Select2(e.c[c].OnSend(1), e.d.OnReceive()).Index == 0) }
}

func selectRecv(c int) act {
	return func(e *orderWorld) { must(e, sched.Select2(e.d.OnReceive(), e.c[c].OnReceive()).Index == 1) }
}

// by repeats a step of one actor.
func by(who string, acts ...act) (h []told) {
	for _, f := range acts {
		h = append(h, told{who, f})
	}
	return h
}

var chanEdges = []edge{
	{name: "send → receive", give: send(1), take: recv(1)},
	{name: "send → receive that waits", give: send(1), take: recv(1), waits: true},
	{name: "trysend → tryreceive", give: trySend(1, true), take: tryRecv(1, true)},
	{name: "send → receive in a select", give: selectSend(1), take: selectRecv(1)},
	{name: "send → receive in a select that waits", give: send(2), take: selectRecv(2), waits: true},
	{name: "send → receive, later in the ring", before: by("X", send(1), recv(1), send(1), recv(1)), give: send(1), take: recv(1)},
	{name: "second send → second receive", before: by("X", send(2)), give: send(2), between: by("X", recv(2)), take: recv(2)},
	{name: "second send, first receive", none: true, before: by("X", send(2)), give: send(2), take: recv(2)},
	{name: "first send, second receive", none: true, give: send(2), between: append(by("X", send(2)), by("Y", recv(2))...), take: recv(2)},
	{name: "send, send into free room", none: true, give: send(2), take: send(2)},
	{name: "receive → send of what was full", before: by("X", send(1)), give: recv(1), take: send(1)},
	{name: "receive → send that waits", before: by("X", send(1)), give: recv(1), take: send(1), waits: true},
	{name: "tryreceive → trysend", before: by("X", send(1)), give: tryRecv(1, true), take: trySend(1, true)},
	{name: "first receive → third send", before: by("X", send(2), send(2)), give: recv(2), take: send(2)},
	{name: "second receive → fourth send", before: by("X", send(2), send(2), recv(2)), give: recv(2), between: by("X", send(2)), take: send(2)},
	{name: "second receive, third send", none: true, before: by("X", send(2), send(2), recv(2)), give: recv(2), take: send(2)},
	{name: "first receive, second send", none: true, before: by("X", send(2)), give: recv(2), take: send(2)},
	{name: "receive, receive", none: true, before: by("X", send(2), send(2)), give: recv(2), take: recv(2)},
	{name: "trysend that fails, receive", none: true, before: by("X", send(1)), give: trySend(1, false), take: recv(1)},
	{name: "send, tryreceive that fails", none: true, give: send(1), between: by("X", recv(1)), take: tryRecv(1, false)},
	{name: "receive, trysend that fails", none: true, before: by("X", send(1)), give: recv(1), between: by("X", send(1)), take: trySend(1, false)},
	{name: "close → receive of nothing", give: closes(1), take: closed(1)},
	{name: "close → receive that waits", give: closes(2), take: closed(2), waits: true},
	{name: "close, receive of what was sent before", none: true, before: by("X", send(1)), give: closes(1), take: recv(1)},
	{name: "send, receive of nothing", none: true, give: send(1), between: append(by("X", recv(1)), by("Y", closes(1))...), take: closed(1)},
	{name: "send, length", none: true, give: send(1), take: func(e *orderWorld) { must(e, e.c[1].Len() == 1) }},
	{name: "close, length", none: true, give: closes(1), take: func(e *orderWorld) { must(e, e.c[1].Len() == 0) }},
	{name: "send, length, receive", none: true, before: by("X", send(1)), give: func(e *orderWorld) { e.c[1].Len() }, take: recv(1)},
}

var rendezvousEdges = []edge{
	{name: "unbuffered send → receive", give: send(0), take: recv(0), twoWay: true},
	{name: "unbuffered send → receive that waits", give: send(0), take: recv(0), twoWay: true, waits: true},
	{name: "unbuffered receive → send done", give: recv(0), take: send(0), twoWay: true},
	{name: "unbuffered receive → send that waits", give: recv(0), take: send(0), twoWay: true, waits: true},
	{name: "unbuffered trysend → receive that waits", give: trySend(0, true), take: recv(0), twoWay: true, waits: true},
	{name: "unbuffered tryreceive → send that waits", give: tryRecv(0, true), take: send(0), twoWay: true, waits: true},
	{name: "unbuffered select, select", give: selectSend(0), take: selectRecv(0), twoWay: true},
	{name: "unbuffered select, select that waits", give: selectRecv(0), take: selectSend(0), twoWay: true, waits: true},
	{name: "unbuffered close → receive", give: closes(0), take: closed(0)},
	{name: "unbuffered close → receive that waits", give: closes(0), take: closed(0), waits: true},
	{name: "unbuffered send to another, receive", none: true, before: by("X", recv(0)), give: send(0), between: by("Y", send(0)), take: recv(0)},
	{name: "unbuffered trysend that fails", none: true, give: trySend(0, false), between: by("X", send(0)), take: recv(0)},
}

func lock(e *orderWorld)    { e.m.Lock() }
func unlock(e *orderWorld)  { e.m.Unlock() }
func lockW(e *orderWorld)   { e.rw.Lock() }
func unlockW(e *orderWorld) { e.rw.Unlock() }
func lockR(e *orderWorld)   { e.rw.RLock() }
func unlockR(e *orderWorld) { e.rw.RUnlock() }
func tryLock(ok bool) act   { return func(e *orderWorld) { must(e, e.m.TryLock() == ok) } }
func tryW(ok bool) act      { return func(e *orderWorld) { must(e, e.rw.TryLock() == ok) } }
func tryR(ok bool) act      { return func(e *orderWorld) { must(e, e.rw.TryRLock() == ok) } }
func acquire(n int64) act {
	return func(e *orderWorld) { must(e, e.sem.Acquire(nil, n) == nil) }
}
func units(n int64) act { return func(e *orderWorld) { e.sem.Release(n) } }
func tryAcquire(n int64, ok bool) act {
	return func(e *orderWorld) { must(e, e.sem.TryAcquire(n) == ok) }
}

var lockEdges = []edge{
	{name: "unlock → lock", before: by("A", lock), give: unlock, take: lock},
	{name: "unlock → lock that waits", before: by("A", lock), give: unlock, take: lock, waits: true},
	{name: "unlock → trylock", before: by("A", lock), give: unlock, take: tryLock(true)},
	{name: "trylock, unlock → lock", before: by("A", tryLock(true)), give: unlock, take: lock},
	{name: "unlock → lock of another, lock", before: by("A", lock), give: unlock, between: by("X", lock, unlock), take: lock},
	{name: "unlock, trylock that fails", none: true, before: by("A", lock), give: unlock, between: by("X", lock), take: tryLock(false)},
	{name: "lock, trylock that fails", none: true, give: lock, take: tryLock(false)},
	{name: "trylock that fails, lock", none: true, before: by("X", lock), give: tryLock(false), between: by("X", unlock), take: lock},

	{name: "write unlock → write lock", before: by("A", lockW), give: unlockW, take: lockW},
	{name: "write unlock → write lock that waits", before: by("A", lockW), give: unlockW, take: lockW, waits: true},
	{name: "write unlock → read lock", before: by("A", lockW), give: unlockW, take: lockR},
	{name: "write unlock → read lock that waits", before: by("A", lockW), give: unlockW, take: lockR, waits: true},
	{name: "write unlock → read trylock", before: by("A", lockW), give: unlockW, take: tryR(true)},
	{name: "write unlock → write trylock", before: by("A", lockW), give: unlockW, take: tryW(true)},
	{name: "write trylock, unlock → lock", before: by("A", tryW(true)), give: unlockW, take: lockW},
	{name: "read unlock → write lock", before: by("A", lockR), give: unlockR, take: lockW},
	{name: "read unlock → write lock that waits", before: by("A", lockR), give: unlockR, take: lockW, waits: true},
	{name: "read unlock → write trylock", before: by("A", lockR), give: unlockR, take: tryW(true)},
	{name: "read trylock, unlock → write lock", before: by("A", tryR(true)), give: unlockR, take: lockW},
	{
		name: "read unlock before that of another → write lock", before: append(by("A", lockR), by("X", lockR)...), give: unlockR,
		between: by("X", unlockR), take: lockW,
	},
	{name: "read unlock, read lock", none: true, before: by("A", lockR), give: unlockR, take: lockR},
	{name: "read unlock, read trylock", none: true, before: by("A", lockR), give: unlockR, take: tryR(true)},
	{name: "write unlock, write trylock that fails", none: true, before: by("A", lockW), give: unlockW, between: by("X", lockR), take: tryW(false)},
	{name: "write unlock, read trylock that fails", none: true, before: by("A", lockW), give: unlockW, between: by("X", lockW), take: tryR(false)},

	{name: "release → acquire", before: by("A", acquire(2)), give: units(2), take: acquire(1)},
	{name: "release → acquire that waits", before: by("A", acquire(2)), give: units(1), take: acquire(1), waits: true},
	{name: "release → tryacquire", before: by("A", acquire(2)), give: units(2), take: tryAcquire(2, true)},
	{name: "first of two releases → acquire that waits", before: by("A", acquire(2)), give: units(1), between: by("X", units(1)), take: acquire(2), waits: true},
	{name: "acquire, acquire", none: true, give: acquire(1), take: acquire(1)},
	{name: "release, tryacquire that fails", none: true, before: by("A", acquire(2)), give: units(1), take: tryAcquire(2, false)},
	{name: "tryacquire that fails, acquire", none: true, before: by("X", acquire(2)), give: tryAcquire(1, false), between: by("X", units(2)), take: acquire(1)},
}

func add(n int) act           { return func(e *orderWorld) { e.wg.Add(n) } }
func waitGroup(e *orderWorld) { e.wg.Wait() }
func one(e *orderWorld)       { e.note.One() }
func all(e *orderWorld)       { e.note.All() }
func waitNote(e *orderWorld)  { must(e, e.note.Wait(nil) == nil) }
func condWait(e *orderWorld) {
	e.m.Lock()
	e.cond.Wait()
	e.m.Unlock()
}
func signal(e *orderWorld)    { e.cond.Signal() }
func broadcast(e *orderWorld) { e.cond.Broadcast() }
func register(e *orderWorld)  { e.held = e.note.Register() }
func drop(e *orderWorld)      { e.held.Drop() }

var waiterEdges = []edge{
	{name: "done → wait", before: by("X", add(1)), give: add(-1), take: waitGroup},
	{name: "done → wait that waits", before: by("X", add(1)), give: add(-1), take: waitGroup, waits: true},
	{name: "first of two dones → wait", before: by("X", add(2)), give: add(-1), between: by("X", add(-1)), take: waitGroup, waits: true},
	{name: "add, wait", none: true, give: add(1), between: by("X", add(-1)), take: waitGroup},
	{name: "wait, wait", none: true, before: by("X", add(1), add(-1)), give: waitGroup, take: waitGroup},

	{name: "one → wait", give: one, take: waitNote, waits: true},
	{name: "one → permit", give: one, take: waitNote},
	{name: "one that changed nothing → permit", before: by("X", one), give: one, take: waitNote},
	{name: "all → wait", give: all, take: waitNote, waits: true},
	{name: "all → second of two waits", before: by("X", waitNote), give: all, take: waitNote, waits: true},
	{name: "one → drop → wait", before: by("X", register), give: one, between: by("X", drop), take: waitNote, waits: true},
	{name: "one → drop → permit", before: by("X", register), give: one, between: by("X", drop), take: waitNote},
	{name: "drop → wait", before: append(by("A", register), by("X", one)...), give: drop, take: waitNote},
	{name: "one for another, one", none: true, before: by("X", waitNote), give: one, between: by("Y", one), take: waitNote, waits: true},
	{name: "drop → wait that waits", before: append(by("A", register), by("X", one)...), give: drop, take: waitNote, waits: true},
	{name: "drop that held nothing, permit", none: true, before: by("A", register), give: drop, between: by("Y", one), take: waitNote},
	{name: "one for another, register", none: true, before: by("X", waitNote), give: one, take: register},
	{name: "drop that held nothing", none: true, before: by("A", register), give: drop, between: by("Y", one), take: waitNote, waits: true},

	{name: "signal → wait", give: signal, take: condWait, waits: true},
	{name: "broadcast → wait", give: broadcast, take: condWait, waits: true},
	{name: "signal for nobody", none: true, give: signal, between: by("B", lock, unlock), take: func(*orderWorld) {}},
}

func do(e *orderWorld) { e.once.Do(func() {}) }
func set(first bool) act {
	return func(e *orderWorld) { must(e, e.written.Set(1) == first) }
}

func get(ok bool) act { return func(e *orderWorld) { _, got := e.written.Get(); must(e, got == ok) } }

func await(e *orderWorld) {
	_, err := e.written.Wait(nil)
	must(e, err == nil)
}

var valueEdges = []edge{
	{name: "once → once", give: do, take: do},
	{name: "second once, third once", none: true, before: by("X", do), give: do, take: do},
	{name: "set → get", give: set(true), take: get(true)},
	{name: "set → second set", give: set(true), take: set(false)},
	{name: "set → wait", give: set(true), take: await},
	{name: "set → wait that waits", give: set(true), take: await, waits: true},
	{name: "second set, get", none: true, before: by("X", set(true)), give: set(false), take: get(true)},
	{name: "second set, wait", none: true, before: by("X", set(true)), give: set(false), take: await},
	{name: "get, get", none: true, before: by("X", set(true)), give: get(true), take: get(true)},
	{name: "get of nothing, set", none: true, give: get(false), take: set(true)},

	{name: "watch set → get", give: func(e *orderWorld) { e.watch.Set(1) }, take: func(e *orderWorld) { must(e, e.watch.Get() == 1) }},
	{name: "watch set → subscribe", give: func(e *orderWorld) { e.watch.Set(1) }, take: func(e *orderWorld) { e.watch.Subscribe() }},
	{name: "watch set → changed", give: func(e *orderWorld) { e.watch.Set(1) }, take: changed},
	{name: "watch set → changed that waits", give: func(e *orderWorld) { e.watch.Set(1) }, take: changed, waits: true},
	{name: "watch set → watcher's get", give: func(e *orderWorld) { e.watch.Set(1) }, take: func(e *orderWorld) { e.watcher.Get() }},
	{name: "watch set → update", give: func(e *orderWorld) { e.watch.Set(1) }, take: func(e *orderWorld) {
		e.watch.Update(func(v int) int { return v + 1 })
	}},
	{name: "watch get, get", none: true, give: func(e *orderWorld) { e.watch.Get() }, take: func(e *orderWorld) { e.watch.Get() }},
	{name: "watch get, set", none: true, give: func(e *orderWorld) { e.watch.Get() }, take: func(e *orderWorld) { e.watch.Set(1) }},
	{name: "subscribe, get", none: true, give: func(e *orderWorld) { e.watch.Subscribe() }, take: func(e *orderWorld) { e.watch.Get() }},
}

func changed(e *orderWorld) { must(e, e.watcher.Changed(nil) == nil) }
func cancel(e *orderWorld)  { e.scope.Cancel(nil) }
func scopeEnds(e *orderWorld) {
	must(e, sched.Select2(e.d.OnReceive(), e.scope.Done()).Index == 1)
}
func belowEnds(e *orderWorld) { must(e, sched.Select2(e.d.OnReceive(), e.below.Done()).Index == 1) }
func errOf(c func(*orderWorld) *sched.Scope, open bool) act {
	return func(e *orderWorld) { must(e, (c(e).Err() == nil) == open) }
}
func top(e *orderWorld) *sched.Scope { return e.scope }
func low(e *orderWorld) *sched.Scope { return e.below }

// within is a wait that the end of the scope ends.
func within(f func(e *orderWorld) error) act {
	return func(e *orderWorld) { must(e, f(e) != nil) }
}

func fired(t func(*orderWorld) *sched.Timer) act {
	return func(e *orderWorld) { must(e, sched.Select2(t(e).Fired(), e.d.OnReceive()).Index == 0) }
}
func fast(e *orderWorld) *sched.Timer { return e.fast }
func slow(e *orderWorld) *sched.Timer { return e.slow }
func resetFast(e *orderWorld)         { e.fast.Reset(time.Minute) }

var scopeEdges = []edge{
	{name: "cancel → done", give: cancel, take: scopeEnds},
	{name: "cancel → done that waits", give: cancel, take: scopeEnds, waits: true},
	{name: "cancel → done below", give: cancel, take: belowEnds},
	{name: "cancel → done below that waits", give: cancel, take: belowEnds, waits: true},
	{name: "cancel → err", give: cancel, take: errOf(top, false)},
	{name: "cancel → err below", give: cancel, take: errOf(low, false)},
	{name: "cancel → err of a late child", give: cancel, take: func(e *orderWorld) { must(e, e.scope.Child("late").Err() != nil) }},
	{name: "cancel below, err above", none: true, give: func(e *orderWorld) { e.below.Cancel(nil) }, take: errOf(top, true)},
	{name: "second cancel, done", none: true, before: by("X", cancel), give: cancel, take: scopeEnds},
	{name: "err, err", none: true, before: by("X", cancel), give: errOf(top, false), take: errOf(top, false)},
	{name: "child, cancel", none: true, give: func(e *orderWorld) { e.scope.Child("k") }, take: cancel},
	{name: "cancel → notify that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error { return e.note.Wait(e.scope) })},
	{
		name: "cancel → acquire that ends", before: by("X", acquire(2)), give: cancel, waits: true,
		take: within(func(e *orderWorld) error { return e.sem.Acquire(e.scope, 1) }),
	},
	{name: "cancel → watch that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error { return e.watcher.Changed(e.scope) })},
	{name: "cancel → value that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error {
		_, err := e.written.Wait(e.scope)
		return err
	})},
	{name: "cancel → receive that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error {
		_, _, err := e.c[1].ReceiveWithin(e.scope)
		return err
	})},
	{name: "cancel → send that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error { return e.c[0].SendWithin(e.scope, 1) })},
	{name: "cancel → sleep that ends", give: cancel, waits: true, take: within(func(e *orderWorld) error {
		return e.s.Sleep(e.scope, "nap", time.Hour)
	})},
	{
		name: "release of too few, acquire that ends", none: true, before: by("A", acquire(2)), give: units(1), between: by("X", cancel), waits: true,
		take: within(func(e *orderWorld) error { return e.sem.Acquire(e.scope, 2) }),
	},

	{name: "arm → fire", give: resetFast, take: fired(fast)},
	{name: "arm → fire that waits", give: resetFast, take: fired(fast), waits: true},
	{name: "arm, fire of another timer", none: true, give: resetFast, take: fired(slow)},
	{
		name: "stop, fire of another arming", none: true, before: by("X", resetFast), give: func(e *orderWorld) { e.fast.Stop() },
		between: by("X", resetFast), take: fired(fast),
	},
	{name: "fired by name", none: true, give: func(e *orderWorld) { must(e, e.w.Fire("slow")) }, take: fired(slow)},
	{
		name: "external, external", none: true, give: func(e *orderWorld) { e.s.External("x", func() {}) },
		take: func(e *orderWorld) { e.s.External("x", func() {}) },
	},
	{name: "yield, yield", none: true, give: func(e *orderWorld) { e.s.Yield() }, take: func(e *orderWorld) { e.s.Yield() }},
	{name: "now, now", none: true, give: func(e *orderWorld) { e.s.Now() }, take: func(e *orderWorld) { e.s.Now() }},
}
