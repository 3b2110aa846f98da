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

// sortWorkers and forkElements are what the original is started with: four threads, parts of more than four elements are farmed out. Comparing
// and swapping count the elements only, and no locals: with them an execution would be ten times as long, and the published random
// walk is no control here (sim/bench says why).
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
	changed        sched.Cond
}

func quickSort(w *sim.World) {
	m := newMachine(w)
	s := &sorter{m: m, alloc: m.mutex("mtx_al"), waiting: m.shared("idlethreads", sortWorkers)}
	for _, v := range sortInput {
		s.elems = append(s.elems, m.shared("elem", v))
	}
	for range sortWorkers {
		q := &sortWorker{state: m.shared("st", idle), from: m.shared("a", 0), n: m.shared("n", 0), mutex: m.mutex("mtx_st")}
		q.changed = sched.NewCond(m.s, "cond_st", &q.mutex.Mutex)
		s.pool = append(s.pool, q)
	}
	for _, q := range s.pool {
		m.local(10)
		m.create("sort", func() { s.run(w, q) })
		m.local(4)
	}
	first := s.pool[0]
	m.local(8)
	first.mutex.lock()
	first.from.Store(0)
	first.n.Store(int64(len(s.elems)))
	first.state.Store(work)
	add(s.waiting, -1)
	m.local(4)
	first.changed.Signal()
	first.mutex.unlock()
	w.Join()
	for i := 1; i < len(s.elems); i++ {
		w.Require(s.elems[i-1].Peek() <= s.elems[i].Peek(), "qsort", "element %d is larger than the next", i-1)
	}
}

// run waits for parts and sorts them. The last one to become idle ends the others.
func (s *sorter) run(w *sim.World, q *sortWorker) {
	m := s.m
	m.local(6)
	for range len(s.elems) * sortWorkers { // never so often
		q.mutex.lock()
		for m.local(1); q.state.Load() == idle; m.local(2) {
			q.changed.Wait()
		}
		m.local(2)
		q.mutex.unlock()
		m.local(2)
		if q.state.Load() == term {
			return
		}
		w.Require(q.state.Load() == work, "qsort-state", "a worker is in state %d", q.state.Peek())
		m.local(10)
		s.sort(q, q.from.Load(), q.n.Load())
		s.alloc.lock()
		m.local(2)
		q.state.Store(idle)
		add(s.waiting, 1)
		m.local(3)
		if s.waiting.Load() == sortWorkers {
			s.end(q)
			s.alloc.unlock()
			return
		}
		s.alloc.unlock()
	}
}

func (s *sorter) end(q *sortWorker) {
	for _, other := range s.pool {
		s.m.local(6)
		if other == q {
			continue
		}
		other.mutex.lock()
		other.state.Store(term)
		s.m.local(2)
		other.changed.Signal()
		other.mutex.unlock()
	}
}

// allocate finds an idle worker and returns it locked, or nil.
func (s *sorter) allocate() *sortWorker {
	s.m.local(2)
	s.alloc.lock()
	for _, q := range s.pool {
		s.m.local(6)
		if q.state.Load() != idle {
			continue
		}
		add(s.waiting, -1)
		s.m.local(3)
		q.state.Store(work)
		s.m.local(3)
		q.mutex.lock()
		s.alloc.unlock()
		return q
	}
	s.alloc.unlock()
	return nil
}

func (s *sorter) compare(i, j int64) int64 {
	x, y := s.elems[i].Load(), s.elems[j].Load()
	return x - y
}

func (s *sorter) swap(i, j int64) {
	x, y := s.elems[i].Load(), s.elems[j].Load()
	s.elems[i].Store(y)
	s.elems[j].Store(x)
}

func (s *sorter) insertion(a, n int64) {
	for i := a + 1; i < a+n; i++ {
		for j := i; j > a && s.compare(j-1, j) > 0; j-- {
			s.swap(j, j-1)
		}
	}
}

func (s *sorter) median(a, b, c int64) int64 {
	if s.compare(a, b) < 0 {
		if s.compare(b, c) < 0 {
			return b
		}
		if s.compare(a, c) < 0 {
			return c
		}
		return a
	}
	if s.compare(b, c) > 0 {
		return b
	}
	if s.compare(a, c) < 0 {
		return a
	}
	return c
}

// sort is Bentley and McIlroy's quicksort, which farms out its left part where it can.
func (s *sorter) sort(q *sortWorker, a, n int64) {
	for n >= 7 {
		left, right, swapped := s.partition(a, n)
		if !swapped {
			break
		}
		s.left(q, a, left, left > forkElements && right > forkElements)
		if right == 0 {
			return
		}
		a, n = a+n-right, right
	}
	s.insertion(a, n)
}

// left sorts the left part: on another worker when it is to be farmed out and one is idle.
func (s *sorter) left(q *sortWorker, a, n int64, farm bool) {
	if farm {
		if other := s.allocate(); other != nil {
			s.m.local(2)
			other.from.Store(a)
			other.n.Store(n)
			s.m.local(2)
			other.changed.Signal()
			other.mutex.unlock()
			return
		}
	}
	if n > 0 {
		q.from.Store(a)
		q.n.Store(n)
		s.m.local(10)
		s.sort(q, a, n)
	}
}

// partition moves what is smaller than a pivot to the left and what is larger to the right, and returns how many.
func (s *sorter) partition(a, n int64) (left, right int64, swapped bool) {
	middle := a + n/2
	if n > 7 {
		middle = s.median(a, middle, a+n-1)
	}
	s.swap(a, middle)
	pa, pb, pc, pd := a+1, a+1, a+n-1, a+n-1
	for {
		for pb <= pc {
			r := s.compare(pb, a)
			if r > 0 {
				break
			}
			if r == 0 {
				swapped = true
				s.swap(pa, pb)
				pa++
			}
			pb++
		}
		for pb <= pc {
			r := s.compare(pc, a)
			if r < 0 {
				break
			}
			if r == 0 {
				swapped = true
				s.swap(pc, pd)
				pd--
			}
			pc--
		}
		if pb > pc {
			break
		}
		s.swap(pb, pc)
		swapped = true
		pb++
		pc--
	}
	if !swapped {
		return 0, 0, false
	}
	s.exchange(a, pb, min(pa-a, pb-pa))
	s.exchange(pb, a+n, min(pd-pc, a+n-pd-1))
	return pb - pa, pd - pc, true
}

// exchange swaps the n elements from i on with the n before end.
func (s *sorter) exchange(i, end, n int64) {
	for k := range n {
		s.swap(i+k, end-n+k)
	}
}
