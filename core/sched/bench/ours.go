package bench

import (
	"runtime"

	"github.com/millrace-dev/millrace/core/sched"
)

// This file and bare.go are the same code on two sets of primitives: what differs is what is measured. A task belongs to a scope,
// which joins it, where the bare side needs a wait group for that.

type ourNode struct {
	next *ourNode
	v    uint64
}

// ourStack is Treiber's stack.
type ourStack struct{ top sched.Pointer[ourNode] }

//go:noinline
func (x *ourStack) push(v uint64) {
	n := &ourNode{v: v}
	for {
		n.next = x.top.Load()
		if x.top.CompareAndSwap(n.next, n) {
			return
		}
	}
}

//go:noinline
func (x *ourStack) pop() uint64 {
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

func ourStackAlone() Loop {
	x := newOurStack()
	return func(n int) (s uint64) {
		for i := range n {
			x.push(uint64(i))
			s += x.pop()
		}
		return s
	}
}

func ourStackShared() Loop {
	x := newOurStack()
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

// ourRing is a ring for one producer and one consumer, each with a cache line of its own: its index, and where it last saw the
// other's, which it reads again only when that is not enough.
type ourRing struct {
	tail     sched.Uint64
	next     uint64
	headSeen uint64
	_        [64]byte
	head     sched.Uint64
	first    uint64
	tailSeen uint64
	_        [64]byte
	v        [ringSize]uint64
}

// fill puts values, each of them visible at once, until the ring is full, and returns how many.
//
//go:noinline
func (x *ourRing) fill(values []uint64) int {
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
func (x *ourRing) drain(values []uint64) int {
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

func ourRingAlone() Loop {
	x := newOurRing()
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

func ourRingShared() Loop {
	x := newOurRing()
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

// ourBuffer is a bounded buffer guarded by one mutex, with a condition for each side.
type ourBuffer struct {
	m        sched.Mutex
	notEmpty sched.Cond
	notFull  sched.Cond
	v        [bufferSize]uint64
	first, n int
}

//go:noinline
func (x *ourBuffer) put(v uint64) {
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
func (x *ourBuffer) take() uint64 {
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

func ourBufferAlone() Loop {
	x := newOurBuffer()
	return func(n int) (s uint64) {
		for i := range n {
			x.put(uint64(i))
			s += x.take()
		}
		return s
	}
}

func ourBufferShared() Loop {
	x := newOurBuffer()
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

// ourFanIn starts tasks that each do their share of work and waits for all: a scope is the wait group of its tasks.
func ourFanIn() Loop {
	work := shares()
	scope := runtimeSched.NewScope("scope")
	return func(n int) (s uint64) {
		for range n {
			var sums [fanIn]uint64
			for i := range fanIn {
				runtimeSched.Go(scope, "share", func() { sums[i] = sum(work[i][:]) })
			}
			scope.Join()
			s += sum(sums[:])
		}
		return s
	}
}

func ourPublishAlone() Loop {
	x := newOurPublished()
	return func(n int) (s uint64) {
		for i := range n {
			if i%observes == 0 {
				x.Publish(&table{generation: uint64(i)})
			}
			s += x.Observe().route(uint64(i))
		}
		return s
	}
}

func ourPublishShared() Loop {
	x := newOurPublished()
	return func(n int) (s uint64) {
		beside(func() {
			for i := range n / observes {
				x.Publish(&table{generation: uint64(i)})
			}
		}, func() {
			for i := range n {
				s += x.Observe().route(uint64(i))
			}
		})
		return s
	}
}

func newOurStack() *ourStack {
	return &ourStack{top: sched.NewPointer[ourNode](runtimeSched, "top", nil)}
}

func newOurRing() *ourRing {
	return &ourRing{head: sched.NewUint64(runtimeSched, "head", 0), tail: sched.NewUint64(runtimeSched, "tail", 0)}
}

func newOurBuffer() *ourBuffer {
	x := &ourBuffer{m: sched.NewMutex(runtimeSched, "m")}
	x.notEmpty, x.notFull = sched.NewCond(runtimeSched, "not empty", &x.m), sched.NewCond(runtimeSched, "not full", &x.m)
	return x
}

func newOurPublished() *sched.Publication[table] {
	x := sched.NewPublication(runtimeSched, "table", &table{})
	return &x
}
