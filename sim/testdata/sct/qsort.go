package sct

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// States of a worker of the parallel quicksort.
const (
	idle int64 = iota
	work
	term
)

// sortWorkers and forkElements are what the published runs start it with: four threads, parts of more than four elements are farmed
// out.
const (
	sortWorkers  = 4
	forkElements = 4
)

// sortInput is what the original draws: the first 32 numbers of the C library's generator, modulo 32.
var sortInput = [...]int64{
	7, 6, 9, 19, 17, 31, 10, 12, 9, 13, 26, 11, 18, 27, 3, 6, 28, 2, 20, 24, 27, 8, 7, 13, 22, 26, 14, 3, 19, 31, 9, 26,
}

// sorter is a pool of threads that sort. Handing out a part marks its worker as working before it takes the worker's lock and
// says which part: a worker that wakes in between sorts another one, or misses the signal.
type sorter struct {
	m       *machine
	elems   []*sched.Int64
	pool    []*sortWorker
	alloc   *mutex
	waiting *sched.Int64 // idle workers
}

type sortWorker struct {
	state, from, n *sched.Int64
	mutex          *mutex
	changed        *cond
}

func quickSort(w *sim.World) {
	m := newMachine(w)
	s := &sorter{m: m, alloc: m.mutex("mtx_al"), waiting: m.shared("idlethreads", sortWorkers)}
	for _, v := range sortInput {
		s.elems = append(s.elems, m.shared("elem", v))
	}
	for range sortWorkers {
		q := &sortWorker{state: m.shared("st", idle), from: m.shared("a", 0), n: m.shared("n", 0), mutex: m.mutex("mtx_st")}
		q.changed = q.mutex.cond()
		s.pool = append(s.pool, q)
	}
	var threads []*thread
	m.local(1)
	for _, q := range s.pool {
		m.local(10)
		threads = append(threads, m.create("sort", func() { s.run(w, q) }))
		m.local(2)
	}
	first := s.pool[0]
	m.local(20)
	s.locked(first.mutex, func() {
		m.local(2)
		first.from.Store(0)
		m.local(2)
		first.n.Store(int64(len(s.elems)))
		m.local(1)
		first.state.Store(work)
		m.local(1)
		add(s.waiting, -1)
		s.signal(first)
	})
	m.local(1)
	for _, t := range threads {
		m.local(8)
		t.join()
		m.local(7)
	}
	for i := 1; i < len(s.elems); i++ {
		w.Require(s.elems[i-1].Peek() <= s.elems[i].Peek(), "qsort", "element %d is larger than the next", i-1)
	}
}

// locked runs f with a lock. Every call of the thread library loads its argument and stores its result.
func (s *sorter) locked(x *mutex, f func()) {
	s.lock(x)
	f()
	s.unlock(x)
}

func (s *sorter) lock(x *mutex) {
	s.m.local(1)
	x.lock()
	s.m.local(1)
}

func (s *sorter) unlock(x *mutex) {
	s.m.local(1)
	x.unlock()
	s.m.local(1)
}

func (s *sorter) signal(q *sortWorker) {
	s.m.local(1)
	q.changed.signal()
	s.m.local(1)
}

// run waits for parts and sorts them. The last one to become idle ends the others.
func (s *sorter) run(w *sim.World, q *sortWorker) {
	m := s.m
	m.local(8)
	for range len(s.elems) * sortWorkers { // never so often
		s.locked(q.mutex, func() {
			for m.local(1); q.state.Load() == idle; m.local(1) {
				m.local(2)
				q.changed.wait()
				m.local(1)
			}
		})
		m.local(1)
		if q.state.Load() == term {
			m.local(2)
			return
		}
		m.local(1)
		w.Require(q.state.Load() == work, "qsort-state", "a worker is in state %d", q.state.Peek())
		s.part(q)
		s.lock(s.alloc)
		m.local(1)
		q.state.Store(idle)
		m.local(1)
		add(s.waiting, 1)
		m.local(1)
		last := s.waiting.Load() == sortWorkers
		m.local(2)
		if last {
			s.end(q)
		}
		s.unlock(s.alloc)
		if last {
			m.local(2)
			return
		}
	}
}

func (s *sorter) end(q *sortWorker) {
	s.m.local(1)
	for _, other := range s.pool {
		s.m.local(9)
		if other != q {
			s.locked(other.mutex, func() {
				s.m.local(1)
				other.state.Store(term)
				s.signal(other)
			})
		}
		s.m.local(2)
	}
	s.m.local(3)
}

// allocate finds an idle worker and returns it locked, or nil.
func (s *sorter) allocate() *sortWorker {
	m := s.m
	m.local(1)
	s.lock(s.alloc)
	m.local(1)
	for _, q := range s.pool {
		m.local(6)
		if q.state.Load() != idle {
			m.local(2)
			continue
		}
		m.local(1)
		add(s.waiting, -1)
		m.local(3)
		q.state.Store(work)
		m.local(2)
		s.lock(q.mutex)
		s.unlock(s.alloc)
		m.local(5)
		return q
	}
	m.local(3)
	s.unlock(s.alloc)
	m.local(2)
	return nil
}

// part sorts what q was told to.
func (s *sorter) part(q *sortWorker) {
	s.m.local(18)
	a := q.from.Load()
	s.m.local(2)
	n := q.n.Load()
	s.m.local(1)
	s.sort(q, a, n)
}

// sort is Bentley and McIlroy's quicksort, which farms out its left part where it can.
func (s *sorter) sort(q *sortWorker, a, n int64) {
	for s.m.local(2); n >= 7; s.m.local(2) {
		left, right, swapped := s.partition(a, n)
		if !swapped {
			break
		}
		s.m.local(6)
		s.left(q, a, left, left > forkElements && right > forkElements)
		s.m.local(1)
		if right == 0 {
			return
		}
		s.m.local(5)
		a, n = a+n-right, right
	}
	s.insertion(a, n)
}

// left sorts the left part: on another worker when it is to be farmed out and one is idle.
func (s *sorter) left(q *sortWorker, a, n int64, farm bool) {
	if farm {
		if other := s.allocate(); other != nil {
			s.m.local(3)
			other.from.Store(a)
			s.m.local(2)
			other.n.Store(n)
			s.signal(other)
			s.unlock(other.mutex)
			return
		}
	}
	s.m.local(1)
	if n > 0 {
		s.m.local(2)
		q.from.Store(a)
		s.m.local(2)
		q.n.Store(n)
		s.part(q)
	}
}
