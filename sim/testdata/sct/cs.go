package sct

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// twoStage: writers set the first value under one lock and the second under another; a reader between both sees one without
// the other.
func twoStage(writers, readers int) func(*sim.World) {
	return func(w *sim.World) {
		m := newMachine(w)
		first, second := m.shared("data1", 0), m.shared("data2", 0)
		firstLock, secondLock := m.mutex("data1Lock"), m.mutex("data2Lock")
		under := func(x *mutex, f func()) {
			m.local(1)
			x.lock()
			f()
			m.local(1)
			x.release()
		}
		joinWriters := m.pool(writers, "write", func() {
			under(firstLock, func() { first.Store(1) })
			under(secondLock, func() { second.Store(first.Load() + 1) })
		})
		joinReaders := m.pool(readers, "read", func() {
			t1, t2 := int64(0), int64(0)
			m.local(2)
			under(firstLock, func() {
				if first.Load() != 0 {
					t1 = first.Load()
					m.local(1)
				}
			})
			if t1 == 0 {
				m.local(2)
				return
			}
			under(secondLock, func() {
				t2 = second.Load()
				m.local(1)
			})
			m.local(2)
			w.Require(t2 == t1+1, "twostage", "read %d, then %d", t1, t2)
			m.local(2)
		})
		joinWriters()
		joinReaders()
	}
}

// reorder: setters write a, then b; a checker that reads in between sees one of them alone. Every setter must be in between.
func reorder(setters, checkers int) func(*sim.World) {
	return func(w *sim.World) {
		m := newMachine(w)
		a, b := m.shared("a", 0), m.shared("b", 0)
		joinSetters := m.pool(setters, "set", func() {
			a.Store(1)
			b.Store(-1)
		})
		joinCheckers := m.pool(checkers, "check", func() {
			neither := a.Load() == 0 && b.Load() == 0
			both := !neither && a.Load() == 1 && b.Load() == -1
			w.Require(neither || both, "reorder", "one of two stores is visible alone")
		})
		joinSetters()
		joinCheckers()
	}
}

// stack: a consumer believes a flag that says "something was pushed", not that something is there.
func stack(w *sim.World) {
	const size = 10
	m := newMachine(w)
	mutex, top, flag := m.mutex("m"), m.shared("top", 0), m.shared("flag", 0)
	var slots [size]*sched.Int64
	for i := range slots {
		slots[i] = m.shared("arr", 0)
	}
	each := func(f func(i int64)) {
		m.local(1)
		for i := range int64(size) {
			m.local(1)
			mutex.lock()
			f(i)
			mutex.release()
			m.local(2)
		}
		m.local(1)
	}
	push := m.start("push", func() {
		each(func(i int64) {
			m.local(3)
			w.Require(top.Load() != size, "overflow", "push onto a full stack")
			m.local(4)
			at := top.Load()
			m.local(2)
			slots[at].Store(i)
			add(top, 1)
			m.local(2)
			flag.Store(1)
		})
	})
	pop := m.start("pop", func() {
		each(func(int64) {
			if flag.Load() == 0 {
				return
			}
			m.local(1)
			w.Require(top.Load() != 0, "underflow", "pop from an empty stack")
			add(top, -1)
			m.local(2)
			at := top.Load()
			m.local(1)
			slots[at].Load()
			m.local(2)
		})
	})
	m.joinAll(push, pop)
}

// tokenRing: three threads copy a value around a ring; a fourth expects that it went around in order.
func tokenRing(w *sim.World) {
	m := newMachine(w)
	mutex := m.mutex("atomic")
	var x, flag [3]*sched.Int64
	for i, v := range []int64{1, 2, 1} {
		x[i], flag[i] = m.shared([]string{"x1", "x2", "x3"}[i], v), m.shared([]string{"flag1", "flag2", "flag3"}[i], 0)
	}
	step := func(i int, f func()) *thread {
		return m.start("step", func() {
			mutex.lock()
			f()
			flag[i].Store(1)
			mutex.release()
		})
	}
	first := step(0, func() { x[0].Store((x[2].Load() + 1) % 4) })
	second := step(1, func() { x[1].Store(x[0].Load()) })
	third := step(2, func() { x[2].Store(x[1].Load()) })
	check := m.start("check", func() {
		mutex.lock()
		if flag[0].Load() == 1 && flag[1].Load() == 1 && flag[2].Load() == 1 {
			same := x[0].Load() == x[1].Load() && x[1].Load() == x[2].Load()
			w.Require(same, "token-ring", "the values differ")
		}
		mutex.release()
	})
	m.joinAll(check, third, second, first)
}

// lazy: the thread that is created first expects to look before both others have added.
func lazy(w *sim.World) {
	m := newMachine(w)
	mutex, data := m.mutex("mutex"), m.shared("data", 0)
	look := m.start("look", func() {
		mutex.lock()
		w.Require(data.Load() < 3, "lazy", "both had added")
		mutex.release()
		m.local(1)
	})
	adds := func(v int64) *thread {
		return m.start("add", func() {
			mutex.lock()
			add(data, v)
			mutex.release()
			m.local(1)
		})
	}
	two := adds(2)
	one := adds(1)
	m.joinAll(one, two, look)
}

// deadlock: two locks in both orders.
func deadlock(w *sim.World) {
	m := newMachine(w)
	a, b, counter := m.mutex("a"), m.mutex("b"), m.shared("counter", 1)
	both := func(first, second *mutex, v int64) func() {
		return func() {
			first.lock()
			m.local(1)
			second.lock()
			add(counter, v)
			second.release()
			first.unlock()
			m.local(1)
		}
	}
	one := m.start("a then b", both(a, b, 1))
	two := m.start("b then a", both(b, a, -1))
	m.joinAll(one, two)
}

// bluetooth: a driver is stopped between a request's look at the flag and its count.
func bluetooth(w *sim.World) {
	m := newMachine(w)
	mutex, pending := m.mutex("atomic"), m.shared("pendingIo", 1)
	stopping, event, stopped := m.shared("stoppingFlag", 0), m.shared("stoppingEvent", 0), m.shared("stopped", 0)
	change := func(v int64) {
		m.local(1)
		now := pending.Load()
		m.local(1)
		pending.Store(now + v)
	}
	decrement := func() {
		m.local(2)
		mutex.lock()
		change(-1)
		m.local(1)
		left := pending.Load()
		m.local(1)
		mutex.release()
		m.local(1)
		if left == 0 {
			m.local(1)
			event.Store(1)
		}
	}
	stop := m.start("stop", func() {
		m.local(3)
		stopping.Store(1)
		decrement()
		m.local(1)
		if event.Load() == 1 {
			stopped.Store(1)
		}
	})
	request := m.start("add", func() {
		m.local(3)
		if stopping.Load() == 0 {
			mutex.lock()
			change(1)
			mutex.release()
			m.local(4)
			w.Require(stopped.Load() == 0, "bluetooth", "the driver works after it was stopped")
		} else {
			m.local(4)
		}
		decrement()
	})
	m.joinAll(request, stop)
}

// account: the check that is created first assumes that the deposit was a withdrawal.
func account(w *sim.World) {
	m := newMachine(w)
	mutex, balance := m.mutex("m"), m.shared("balance", 1)
	deposited, withdrawn := m.shared("deposit_done", 0), m.shared("withdraw_done", 0)
	check := m.start("check", func() {
		mutex.lock()
		if deposited.Load() == 1 && withdrawn.Load() == 1 {
			now := balance.Load()
			m.local(3)
			w.Require(now == 1-2-4, "account", "the balance is %d", now)
		}
		mutex.release()
	})
	move := func(name string, v int64, done *sched.Int64) *thread {
		return m.start(name, func() {
			mutex.lock()
			now := balance.Load()
			m.local(1)
			balance.Store(now + v)
			done.Store(1)
			mutex.release()
		})
	}
	deposit := move("deposit", 2, deposited)
	withdraw := move("withdraw", -4, withdrawn)
	m.joinAll(withdraw, deposit, check)
}

// wrongLock: some increment under another lock than the one that checks.
func wrongLock(others int) func(*sim.World) {
	return func(w *sim.World) {
		m := newMachine(w)
		right, wrong, data := m.mutex("dataLock"), m.mutex("thisLock"), m.shared("dataValue", 0)
		locked := func(x *mutex, f func()) {
			m.local(3)
			x.lock()
			m.local(1)
			f()
			m.local(3)
			x.unlock()
			m.local(1)
		}
		joinRight := m.pool(1, "right", func() {
			locked(right, func() {
				x := data.Load()
				m.local(1)
				add(data, 1)
				now := data.Load()
				m.local(1)
				w.Require(now == x+1, "wronglock", "%d is followed by %d", x, now)
			})
		})
		joinWrong := m.pool(others, "wrong", func() { locked(wrong, func() { add(data, 1) }) })
		joinRight()
		joinWrong()
	}
}
