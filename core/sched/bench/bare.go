package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// This file and ours.go are the same code on two sets of primitives: what differs is what is measured.

type bareNode struct {
	next *bareNode
	v    uint64
}

// bareStack is Treiber's stack.
type bareStack struct{ top atomic.Pointer[bareNode] }

//go:noinline
func (x *bareStack) push(v uint64) {
	n := &bareNode{v: v}
	for {
		n.next = x.top.Load()
		if x.top.CompareAndSwap(n.next, n) {
			return
		}
	}
}

//go:noinline
func (x *bareStack) pop() uint64 {
	for {
		n := x.top.Load()
		if n == nil {
			return 0
		}
		if x.top.CompareAndSwap(n, n.next) {
			return n.v
		}
	}
}

func bareStackAlone() Loop {
	x := newBareStack()
	return func(n int) (s uint64) {
		for i := range n {
			x.push(uint64(i))
			s += x.pop()
		}
		return s
	}
}

func bareStackShared() Loop {
	x := newBareStack()
	return func(n int) (s uint64) {
		half := func(out *uint64) func() {
			return func() {
				for i := range n / 2 {
					x.push(uint64(i))
					*out += x.pop()
				}
			}
		}
		var a, b uint64
		beside(half(&a), half(&b))
		return a + b
	}
}

// bareRing is a ring for one producer and one consumer, each with a cache line of its own: its index, and where it last saw the
// other's, which it reads again only when that is not enough.
type bareRing struct {
	tail     atomic.Uint64
	next     uint64
	headSeen uint64
	_        [64]byte
	head     atomic.Uint64
	first    uint64
	tailSeen uint64
	_        [64]byte
	v        [ringSize]uint64
}

// fill puts values, each of them visible at once, until the ring is full, and returns how many.
//
//go:noinline
func (x *bareRing) fill(values []uint64) int {
	for i, v := range values {
		t := x.next
		if t-x.headSeen == ringSize {
			if x.headSeen = x.head.Load(); t-x.headSeen == ringSize {
				return i
			}
		}
		x.v[t%ringSize] = v
		x.next = t + 1
		x.tail.Store(t + 1)
	}
	return len(values)
}

// drain takes into values until the ring is empty, and returns how many.
//
//go:noinline
func (x *bareRing) drain(values []uint64) int {
	for i := range values {
		h := x.first
		if h == x.tailSeen {
			if x.tailSeen = x.tail.Load(); h == x.tailSeen {
				return i
			}
		}
		values[i] = x.v[h%ringSize]
		x.first = h + 1
		x.head.Store(h + 1)
	}
	return len(values)
}

func bareRingAlone() Loop {
	x := newBareRing()
	return func(n int) (s uint64) {
		var in, out [ringBatch]uint64
		for done := 0; done < n; done += ringBatch {
			in[0] = uint64(done)
			x.fill(in[:])
			s += sum(out[:x.drain(out[:])])
		}
		return s
	}
}

func bareRingShared() Loop {
	x := newBareRing()
	return func(n int) (s uint64) {
		beside(func() {
			var in [ringBatch]uint64
			for done := 0; done < n; {
				in[0] = 1
				put := x.fill(in[:min(ringBatch, n-done)])
				if done += put; put == 0 {
					runtime.Gosched()
				}
			}
		}, func() {
			var out [ringBatch]uint64
			for done := 0; done < n; {
				got := x.drain(out[:])
				if done += got; got == 0 {
					runtime.Gosched()
				}
			}
			s = x.first
		})
		return s
	}
}

// bareBuffer is a bounded buffer guarded by one mutex, with a condition for each side.
type bareBuffer struct {
	m        sync.Mutex
	notEmpty *sync.Cond
	notFull  *sync.Cond
	v        [bufferSize]uint64
	first, n int
}

//go:noinline
func (x *bareBuffer) put(v uint64) {
	x.m.Lock()
	for x.n == bufferSize {
		x.notFull.Wait()
	}
	x.v[(x.first+x.n)%bufferSize] = v
	x.n++
	x.notEmpty.Signal()
	x.m.Unlock()
}

//go:noinline
func (x *bareBuffer) take() uint64 {
	x.m.Lock()
	for x.n == 0 {
		x.notEmpty.Wait()
	}
	v := x.v[x.first]
	x.first = (x.first + 1) % bufferSize
	x.n--
	x.notFull.Signal()
	x.m.Unlock()
	return v
}

func bareBufferAlone() Loop {
	x := newBareBuffer()
	return func(n int) (s uint64) {
		for i := range n {
			x.put(uint64(i))
			s += x.take()
		}
		return s
	}
}

func bareBufferShared() Loop {
	x := newBareBuffer()
	return func(n int) (s uint64) {
		beside(func() {
			for i := range n {
				x.put(uint64(i))
			}
		}, func() {
			for range n {
				s += x.take()
			}
		})
		return s
	}
}

// bareFanIn starts tasks that each do their share of work and waits for all. WaitGroup.Go counts each task as it starts it and again
// when it ends, as a scope does.
func bareFanIn() Loop {
	work := shares()
	g := new(sync.WaitGroup)
	return func(n int) (s uint64) {
		for range n {
			var sums [fanIn]uint64
			for i := range fanIn {
				g.Go(func() { sums[i] = sum(work[i][:]) })
			}
			g.Wait()
			s += sum(sums[:])
		}
		return s
	}
}

// bareFanInAtOnce counts all tasks before it starts the first: what a scope cannot do, because it does not know how many will come.
func bareFanInAtOnce() Loop {
	work := shares()
	g := new(sync.WaitGroup)
	return func(n int) (s uint64) {
		for range n {
			var sums [fanIn]uint64
			g.Add(fanIn)
			for i := range fanIn {
				go func() {
					sums[i] = sum(work[i][:])
					g.Done()
				}()
			}
			g.Wait()
			s += sum(sums[:])
		}
		return s
	}
}

func barePublishAlone() Loop {
	x := newBarePublished()
	return func(n int) (s uint64) {
		for i := range n {
			if i%observes == 0 {
				x.Store(&table{generation: uint64(i)})
			}
			s += x.Load().route(uint64(i))
		}
		return s
	}
}

func barePublishShared() Loop {
	x := newBarePublished()
	return func(n int) (s uint64) {
		beside(func() {
			for i := range n / observes {
				x.Store(&table{generation: uint64(i)})
			}
		}, func() {
			for i := range n {
				s += x.Load().route(uint64(i))
			}
		})
		return s
	}
}

func newBareStack() *bareStack { return &bareStack{} }

func newBareRing() *bareRing { return &bareRing{} }

func newBareBuffer() *bareBuffer {
	x := &bareBuffer{}
	x.notEmpty, x.notFull = sync.NewCond(&x.m), sync.NewCond(&x.m)
	return x
}

func newBarePublished() *atomic.Pointer[table] {
	x := new(atomic.Pointer[table])
	x.Store(&table{})
	return x
}
