package bench

import (
	"context"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

func waits() []Pair {
	return []Pair{
		{Name: "buffered send and receive", Bare: bareChan, Ours: ourChan},
		{Name: "try send and try receive", Bare: bareTry, Ours: ourTry},
		{Name: "rendezvous, two tasks", Tasks: true, Bare: bareMeet, Ours: ourMeet},
		{Name: "select of two", Bare: bareSelect2, Ours: ourSelect2},
		{Name: "select of four", Bare: bareSelect4, Ours: ourSelect4},
		{Name: "notify one and wait / channel of one", Bare: bareSignal, Ours: ourNotify},
		{Name: "notify all of one / channel closed and made", Bare: bareBroadcast, Ours: ourBroadcast},
		{Name: "watch set and get / mutex and value", Bare: bareWatch, Ours: ourWatch},
		{Name: "timer start and stop", Bare: bareTimer, Ours: ourTimer},
		{Name: "ticker start and stop", Bare: bareTicker, Ours: ourTicker},
		{Name: "sleep of no time / timer of no time", Bare: bareSleep, Ours: ourSleep},
		{Name: "scope err / context err", Bare: bareContext, Ours: ourScope},
		{Name: "start and join a task", Bare: bareGo, Ours: ourGo},
		{Name: "fan-in by a scope / one count for all", Tasks: true, Bare: bareFanInAtOnce, Ours: ourFanIn},
	}
}

func bareChan() Loop {
	c := make(chan uint64, 4)
	return func(n int) (s uint64) {
		for i := range n {
			c <- uint64(i)
			s += <-c
		}
		return s
	}
}

func ourChan() Loop {
	c := sched.NewChan[uint64](runtimeSched, "c", 4)
	return func(n int) (s uint64) {
		for i := range n {
			c.Send(uint64(i))
			v, _ := c.Receive()
			s += v
		}
		return s
	}
}

func bareTry() Loop {
	c := make(chan uint64, 4)
	return func(n int) (s uint64) {
		for i := range n {
			select {
			case c <- uint64(i):
			default:
			}
			select {
			case v := <-c:
				s += v
			default:
			}
		}
		return s
	}
}

func ourTry() Loop {
	c := sched.NewChan[uint64](runtimeSched, "c", 4)
	return func(n int) (s uint64) {
		for i := range n {
			c.TrySend(uint64(i))
			v, _, _ := c.TryReceive()
			s += v
		}
		return s
	}
}

func bareMeet() Loop {
	c := make(chan uint64)
	return func(n int) (s uint64) {
		beside(func() {
			for i := range n {
				c <- uint64(i)
			}
		}, func() {
			for range n {
				s += <-c
			}
		})
		return s
	}
}

func ourMeet() Loop {
	c := sched.NewChan[uint64](runtimeSched, "c", 0)
	return func(n int) (s uint64) {
		beside(func() {
			for i := range n {
				c.Send(uint64(i))
			}
		}, func() {
			for range n {
				v, _ := c.Receive()
				s += v
			}
		})
		return s
	}
}

func bareSelect2() Loop {
	a, b := make(chan uint64, 1), make(chan uint64, 1)
	return func(n int) (s uint64) {
		for i := range n {
			a <- uint64(i)
			select {
			case v := <-a:
				s += v
			case v := <-b:
				s += v
			}
		}
		return s
	}
}

func ourSelect2() Loop {
	a, b := sched.NewChan[uint64](runtimeSched, "a", 1), sched.NewChan[uint64](runtimeSched, "b", 1)
	return func(n int) (s uint64) {
		for i := range n {
			a.Send(uint64(i))
			r := sched.Select2(a.OnReceive(), b.OnReceive())
			s += r.A + r.B
		}
		return s
	}
}

func bareSelect4() Loop {
	a, b, c, d := make(chan uint64, 1), make(chan uint64, 1), make(chan uint64, 1), make(chan struct{})
	return func(n int) (s uint64) {
		for i := range n {
			a <- uint64(i)
			select {
			case v := <-a:
				s += v
			case v := <-b:
				s += v
			case v := <-c:
				s += v
			case <-d:
			}
		}
		return s
	}
}

func ourSelect4() Loop {
	a, b, c := sched.NewChan[uint64](runtimeSched, "a", 1), sched.NewChan[uint64](runtimeSched, "b", 1), sched.NewChan[uint64](runtimeSched, "c", 1)
	scope := runtimeSched.NewScope("scope")
	return func(n int) (s uint64) {
		for i := range n {
			a.Send(uint64(i))
			r := sched.Select4(a.OnReceive(), b.OnReceive(), c.OnReceive(), scope.Done())
			s += r.A + r.B + r.C
		}
		return s
	}
}

func bareSignal() Loop {
	c := make(chan struct{}, 1)
	return func(n int) uint64 {
		for range n {
			select {
			case c <- struct{}{}:
			default:
			}
			<-c
		}
		return uint64(len(c))
	}
}

func ourNotify() Loop {
	v := sched.NewNotify(runtimeSched, "n")
	x := &v
	return func(n int) (failed uint64) {
		for range n {
			x.One()
			if x.Wait(nil) != nil {
				failed++
			}
		}
		return failed
	}
}

func bareTimer() Loop {
	return func(n int) (stopped uint64) {
		for range n {
			if time.NewTimer(time.Hour).Stop() {
				stopped++
			}
		}
		return stopped
	}
}

func ourTimer() Loop {
	return func(n int) (stopped uint64) {
		for range n {
			if sched.NewTimer(runtimeSched, "t", time.Hour).Stop() {
				stopped++
			}
		}
		return stopped
	}
}

func bareContext() Loop {
	ctx, cancel := context.WithCancel(context.Background())
	return func(n int) (failed uint64) {
		defer cancel()
		for range n {
			if ctx.Err() != nil {
				failed++
			}
		}
		return failed
	}
}

func ourScope() Loop {
	c := runtimeSched.NewScope("scope")
	return func(n int) (failed uint64) {
		for range n {
			if c.Err() != nil {
				failed++
			}
		}
		return failed
	}
}

func bareGo() Loop {
	var g sync.WaitGroup
	return func(n int) (s uint64) {
		for range n {
			g.Go(func() { s++ })
			g.Wait()
		}
		return s
	}
}

func ourGo() Loop {
	c := runtimeSched.NewScope("scope")
	return func(n int) (s uint64) {
		for range n {
			runtimeSched.Go(c, "task", func() { s++ })
			c.Join()
		}
		return s
	}
}

func bareBroadcast() Loop {
	c := make(chan struct{})
	return func(n int) uint64 {
		for range n {
			waits := c
			c = make(chan struct{})
			close(waits)
			<-waits
		}
		return uint64(len(c))
	}
}

func ourBroadcast() Loop {
	v := sched.NewNotify(runtimeSched, "n")
	x := &v
	return func(n int) (failed uint64) {
		for range n {
			r := x.Register()
			x.All()
			if r.Wait(nil) != nil {
				failed++
			}
		}
		return failed
	}
}

func bareWatch() Loop {
	m, x := new(sync.Mutex), new(uint64)
	return func(n int) (s uint64) {
		for i := range n {
			m.Lock()
			*x = uint64(i)
			m.Unlock()
			m.Lock()
			s += *x
			m.Unlock()
		}
		return s
	}
}

func ourWatch() Loop {
	v := sched.NewWatch(runtimeSched, "x", uint64(0))
	x := &v
	return func(n int) (s uint64) {
		for i := range n {
			x.Set(uint64(i))
			s += x.Get()
		}
		return s
	}
}

func bareTicker() Loop {
	return func(n int) uint64 {
		for range n {
			time.NewTicker(time.Hour).Stop()
		}
		return uint64(n)
	}
}

func ourTicker() Loop {
	return func(n int) uint64 {
		for range n {
			sched.NewTicker(runtimeSched, "t", time.Hour).Stop()
		}
		return uint64(n)
	}
}

func bareSleep() Loop {
	return func(n int) uint64 {
		for range n {
			<-time.NewTimer(0).C
		}
		return uint64(n)
	}
}

func ourSleep() Loop {
	return func(n int) (slept uint64) {
		for range n {
			if runtimeSched.Sleep(nil, "s", 0) == nil {
				slept++
			}
		}
		return slept
	}
}
