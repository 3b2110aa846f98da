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
	change := m.create("erase and append", func() {
		m.local(6)
		mutex.lock()
		m.local(3)
		end := min(count.Load(), 3)
		m.local(12)
		count.Load()
		m.local(3)
		add(count, -end)
		m.local(1)
		mutex.release()
		m.local(6)
		mutex.lock()
		m.local(4)
		n := count.Load() + 3
		m.local(6)
		count.Load()
		m.local(4)
		count.Store(n)
		mutex.release()
		m.local(1)
	})
	m.local(1)
	read := m.create("append", func() {
		own := m.mutex("own")
		m.local(18)
		own.lock()
		m.local(5)
		mutex.lock()
		m.local(1)
		length := count.Load()
		m.local(1)
		mutex.release()
		m.local(21)
		mutex.lock()
		m.local(4)
		w.Require(length <= count.Load(), "stringbuffer", "%d characters of a buffer of %d", length, count.Peek())
		m.local(10)
		mutex.release()
		m.local(3)
		own.release()
		m.local(1)
	})
	m.local(1)
	m.joinAll(change, read)
}

// ring is a bounded buffer with a mutex and two conditions.
type ring struct {
	m                 *machine
	mutex             *mutex
	notFull, notEmpty *cond
	head, rear        *sched.Int64
	producers         *sched.Int64 // that wait
	consumers         *sched.Int64
	slots             [3]*sched.Int64
}

func newRing(m *machine) *ring {
	r := &ring{m: m, mutex: m.mutex("mutex"), head: m.shared("head", 0), rear: m.shared("rear", 0)}
	r.producers, r.consumers = m.shared("p_wait", 0), m.shared("c_wait", 0)
	r.notFull, r.notEmpty = r.mutex.cond(), r.mutex.cond()
	for i := range r.slots {
		r.slots[i] = m.shared("buf", 0)
	}
	return r
}

// load is an access through the pointer to the buffer.
func (r *ring) load(x *sched.Int64) int64 {
	r.m.local(1)
	return x.Load()
}

func (r *ring) next(x *sched.Int64) int64 {
	v := r.load(x)
	r.m.local(2)
	return (v + 1) % int64(len(r.slots))
}

func (r *ring) full() bool { return r.next(r.rear) == r.load(r.head) }

func (r *ring) empty() bool { return r.load(r.head) == r.load(r.rear) }

func (r *ring) move(x *sched.Int64) {
	v := r.next(x)
	r.m.local(1)
	x.Store(v)
}

func (r *ring) store(v int64) {
	r.m.local(4)
	r.slots[r.rear.Load()].Store(v)
	r.move(r.rear)
}

func (r *ring) take() {
	r.m.local(3)
	r.slots[r.head.Load()].Load()
	r.m.local(2)
	r.move(r.head)
}

// increase is x += v through the pointer.
func (r *ring) increase(x *sched.Int64, v int64) {
	r.m.local(1)
	add(x, v)
}

// await waits while the condition holds. Between the waits the status is looked at.
func (r *ring) await(c *cond, holds func() bool, looks int) {
	for holds() {
		r.m.local(2)
		c.wait()
		r.m.local(looks)
	}
}

// threads is the creation of n threads, each with a record, and returns the loop that joins them.
func (r *ring) threads(n int, name string, f func()) (join func()) {
	m := r.m
	var threads []*thread
	m.local(1)
	for range n {
		m.local(8)
		threads = append(threads, m.start(name, f))
		m.local(2)
	}
	m.local(1)
	return func() {
		m.local(1)
		for _, t := range threads {
			m.local(3)
			t.join()
			m.local(3)
		}
		m.local(1)
	}
}

// bbuf is one producer and one consumer with a signal after every item: it is correct.
func bbuf(w *sim.World) {
	m := newMachine(w)
	r := newRing(m)
	const items = 10
	joinProducers := r.threads(1, "producer", func() {
		m.local(4)
		for i := range int64(items) {
			m.local(16)
			r.mutex.lock()
			r.await(r.notFull, r.full, 0)
			r.store(i)
			m.local(1)
			r.notEmpty.signal()
			m.local(1)
			r.mutex.unlock()
			m.local(12)
		}
	})
	joinConsumers := r.threads(1, "consumer", func() {
		m.local(4)
		for range items {
			m.local(13)
			r.mutex.lock()
			r.await(r.notEmpty, r.empty, 0)
			r.take()
			m.local(1)
			r.notFull.signal()
			m.local(1)
			r.mutex.unlock()
			m.local(14)
		}
	})
	joinProducers()
	joinConsumers()
}

// boundedBuffer is two producers and two consumers; a consumer frees the lock after it saw an item, and believes afterwards that
// the item is still there.
func boundedBuffer(w *sim.World) {
	m := newMachine(w)
	r := newRing(m)
	const items = 4
	joinProducers := r.threads(2, "producer", func() {
		m.local(4)
		for i := range int64(items) {
			m.local(16)
			r.mutex.lock()
			m.local(2)
			if r.full() {
				r.increase(r.producers, 1)
				r.await(r.notFull, r.full, 2)
				r.increase(r.producers, -1)
			}
			m.local(1)
			r.store(i)
			if r.load(r.consumers) > 0 {
				m.local(1)
				r.notEmpty.signal()
				m.local(1)
			}
			m.local(1)
			r.mutex.unlock()
			m.local(13)
		}
	})
	joinConsumers := r.threads(2, "consumer", func() {
		m.local(4)
		for range items {
			m.local(13)
			r.get(w)
			m.local(16)
		}
	})
	joinProducers()
	joinConsumers()
}

func (r *ring) get(w *sim.World) {
	m := r.m
	r.mutex.lock()
	m.local(2)
	if r.empty() {
		r.increase(r.consumers, 1)
		r.await(r.notEmpty, r.empty, 2)
		r.increase(r.consumers, -1)
	}
	m.local(1)
	r.mutex.unlock()
	m.local(2)
	r.mutex.lock()
	m.local(2)
	w.Require(!r.empty(), "boundedBuffer", "the item is gone")
	r.take()
	if r.load(r.producers) > 0 {
		m.local(1)
		r.notFull.signal()
		m.local(1)
	}
	m.local(1)
	r.mutex.unlock()
}
