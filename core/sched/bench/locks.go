package bench

import (
	"sync"

	"github.com/millrace-dev/millrace/core/sched"
)

func locks() []Pair {
	return []Pair{
		{Name: "mutex lock and unlock", Bare: bareMutex, Ours: ourMutex},
		{Name: "rwmutex read lock and unlock", Bare: bareRead, Ours: ourRead},
		{Name: "rwmutex lock and unlock", Bare: bareWrite, Ours: ourWrite},
		{Name: "once", Bare: bareOnce, Ours: ourOnce},
		{Name: "wait group add and done", Bare: bareGroup, Ours: ourGroup},
		{Name: "cond wait and signal, two tasks", Tasks: true, Bare: bareCond, Ours: ourCond},
		{Name: "semaphore / channel of tokens", Bare: bareTokens, Ours: ourSemaphore},
	}
}

func bareMutex() Loop {
	m := new(sync.Mutex)
	return func(n int) (s uint64) {
		for range n {
			m.Lock()
			s++
			m.Unlock()
		}
		return s
	}
}

func ourMutex() Loop {
	v := sched.NewMutex(runtimeSched, "m")
	m := &v
	return func(n int) (s uint64) {
		for range n {
			m.Lock()
			s++
			m.Unlock()
		}
		return s
	}
}

func bareRead() Loop {
	m := new(sync.RWMutex)
	return func(n int) (s uint64) {
		for range n {
			m.RLock()
			s++
			m.RUnlock()
		}
		return s
	}
}

func ourRead() Loop {
	v := sched.NewRWMutex(runtimeSched, "m")
	m := &v
	return func(n int) (s uint64) {
		for range n {
			m.RLock()
			s++
			m.RUnlock()
		}
		return s
	}
}

func bareOnce() Loop {
	o := new(sync.Once)
	return func(n int) (s uint64) {
		for range n {
			o.Do(func() { s++ })
		}
		return s
	}
}

func ourOnce() Loop {
	v := sched.NewOnce(runtimeSched, "o")
	o := &v
	return func(n int) (s uint64) {
		for range n {
			o.Do(func() { s++ })
		}
		return s
	}
}

func bareGroup() Loop {
	g := new(sync.WaitGroup)
	return func(n int) uint64 {
		for range n {
			g.Add(1)
			g.Done()
		}
		g.Wait()
		return uint64(n)
	}
}

func ourGroup() Loop {
	v := sched.NewWaitGroup(runtimeSched, "g")
	g := &v
	return func(n int) uint64 {
		for range n {
			g.Add(1)
			g.Done()
		}
		g.Wait()
		return uint64(n)
	}
}

// beside runs f in a goroutine of its own beside g and joins it. Both sides of a pair use it.
func beside(f, g func()) {
	var join sync.WaitGroup
	join.Go(f)
	g()
	join.Wait()
}

func bareCond() Loop {
	m := new(sync.Mutex)
	c := sync.NewCond(m)
	return func(n int) uint64 {
		turn := 0
		play := func(me int) func() {
			return func() {
				m.Lock()
				for range n {
					for turn != me {
						c.Wait()
					}
					turn = 1 - me
					c.Signal()
				}
				m.Unlock()
			}
		}
		beside(play(0), play(1))
		return uint64(turn)
	}
}

func ourCond() Loop {
	x := sched.NewMutex(runtimeSched, "m")
	m := &x
	y := sched.NewCond(runtimeSched, "c", m)
	c := &y
	return func(n int) uint64 {
		turn := 0
		play := func(me int) func() {
			return func() {
				m.Lock()
				for range n {
					for turn != me {
						c.Wait()
					}
					turn = 1 - me
					c.Signal()
				}
				m.Unlock()
			}
		}
		beside(play(0), play(1))
		return uint64(turn)
	}
}

func bareTokens() Loop {
	c := make(chan struct{}, 4)
	return func(n int) uint64 {
		for range n {
			c <- struct{}{}
			<-c
		}
		return uint64(len(c))
	}
}

func ourSemaphore() Loop {
	v := sched.NewSemaphore(runtimeSched, "x", 4)
	x := &v
	return func(n int) (failed uint64) {
		for range n {
			if x.Acquire(nil, 1) != nil {
				failed++
			}
			x.Release(1)
		}
		return failed
	}
}

func bareWrite() Loop {
	m := new(sync.RWMutex)
	return func(n int) (s uint64) {
		for range n {
			m.Lock()
			s++
			m.Unlock()
		}
		return s
	}
}

func ourWrite() Loop {
	v := sched.NewRWMutex(runtimeSched, "m")
	m := &v
	return func(n int) (s uint64) {
		for range n {
			m.Lock()
			s++
			m.Unlock()
		}
		return s
	}
}
