package sct

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// stringBuffer: an append asks another buffer for its length and then for that many characters, with its lock freed in
// between.
func stringBuffer(w *sim.World) {
	m := newMachine(w)
	mutex, count := m.mutex("buffer"), m.shared("count", 3)
	m.create("erase and append", func() {
		m.local(5)
		mutex.lock()
		m.local(4)
		end := min(count.Load(), 3)
		m.local(8)
		count.Load()
		m.local(4)
		add(count, -end)
		m.local(1)
		mutex.unlock()
		m.local(8)
		mutex.lock()
		m.local(6)
		n := count.Load() + 3
		m.local(10)
		count.Store(n)
		m.local(1)
		mutex.unlock()
		m.local(1)
	})
	m.local(1)
	m.create("append", func() {
		own := m.mutex("own")
		m.local(13)
		own.lock()
		m.local(5)
		mutex.lock()
		length := count.Load()
		m.local(2)
		mutex.unlock()
		m.local(12)
		mutex.lock()
		m.local(4)
		w.Require(length <= count.Load(), "stringbuffer", "%d characters of a buffer of %d", length, count.Peek())
		m.local(10)
		mutex.unlock()
		m.local(4)
		own.unlock()
	})
	w.Join()
}

// ring is a bounded buffer with a mutex and two conditions.
type ring struct {
	m                 *machine
	mutex             *mutex
	notFull, notEmpty sched.Cond
	head, rear        *sched.Int64
	producers         *sched.Int64 // that wait
	consumers         *sched.Int64
	slots             [3]*sched.Int64
}

func newRing(m *machine) *ring {
	r := &ring{m: m, mutex: m.mutex("mutex"), head: m.shared("head", 0), rear: m.shared("rear", 0)}
	r.producers, r.consumers = m.shared("p_wait", 0), m.shared("c_wait", 0)
	r.notFull, r.notEmpty = sched.NewCond(m.s, "not_full", &r.mutex.Mutex), sched.NewCond(m.s, "not_empty", &r.mutex.Mutex)
	for i := range r.slots {
		r.slots[i] = m.shared("buf", 0)
	}
	return r
}

func (r *ring) next(x *sched.Int64) int64 { return (x.Load() + 1) % int64(len(r.slots)) }

func (r *ring) full() bool {
	r.m.local(3)
	return r.next(r.rear) == r.head.Load()
}

func (r *ring) empty() bool {
	r.m.local(2)
	return r.head.Load() == r.rear.Load()
}

func (r *ring) store(v int64) {
	r.m.local(4)
	r.slots[r.rear.Load()].Store(v)
	r.rear.Store(r.next(r.rear))
}

func (r *ring) load() int64 {
	r.m.local(4)
	v := r.slots[r.head.Load()].Load()
	r.head.Store(r.next(r.head))
	return v
}

// bbuf is one producer and one consumer with a signal after every item: it is correct.
func bbuf(w *sim.World) {
	m := newMachine(w)
	r := newRing(m)
	const items = 10
	m.loop(1, "producer", func() {
		for i := range int64(items) {
			m.local(8)
			r.mutex.lock()
			for r.full() {
				r.notFull.Wait()
			}
			r.store(i)
			r.notEmpty.Signal()
			r.mutex.unlock()
		}
	})
	m.loop(1, "consumer", func() {
		for range items {
			m.local(6)
			r.mutex.lock()
			for r.empty() {
				r.notEmpty.Wait()
			}
			r.load()
			r.notFull.Signal()
			r.mutex.unlock()
		}
	})
	w.Join()
}

// boundedBuffer is two producers and two consumers; a consumer frees the lock after it saw an item, and believes afterwards that
// the item is still there.
func boundedBuffer(w *sim.World) {
	m := newMachine(w)
	r := newRing(m)
	const items = 4
	m.loop(2, "producer", func() {
		for i := range int64(items) {
			m.local(8)
			r.mutex.lock()
			if r.full() {
				add(r.producers, 1)
				for r.full() {
					r.notFull.Wait()
				}
				add(r.producers, -1)
			}
			r.store(i)
			m.local(1)
			if r.consumers.Load() > 0 {
				r.notEmpty.Signal()
			}
			r.mutex.unlock()
		}
	})
	m.loop(2, "consumer", func() {
		for range items {
			m.local(6)
			r.get(w)
		}
	})
	w.Join()
}

func (r *ring) get(w *sim.World) {
	m := r.m
	r.mutex.lock()
	if r.empty() {
		add(r.consumers, 1)
		for r.empty() {
			r.notEmpty.Wait()
		}
		add(r.consumers, -1)
	}
	m.local(1)
	r.mutex.unlock()
	r.mutex.lock()
	m.local(1)
	w.Require(!r.empty(), "boundedBuffer", "the item is gone")
	r.load()
	m.local(1)
	if r.producers.Load() > 0 {
		r.notFull.Signal()
	}
	r.mutex.unlock()
}
