package deadlock

import (
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// What watching costs, beside the real runtime: a lock taken and freed, and a value through a channel.
//
//	go test -run '^$' -bench . ./deadlock
func BenchmarkLock(b *testing.B) {
	watched(b, func(b *testing.B, s sched.Scheduler) {
		m := sched.NewMutex(s, "m")
		for b.Loop() {
			m.Lock()
			m.Unlock()
		}
	})
}

func BenchmarkChannel(b *testing.B) {
	watched(b, func(b *testing.B, s sched.Scheduler) {
		c := sched.NewChan[int](s, "c", 1)
		for b.Loop() {
			c.Send(1)
			c.Receive()
		}
	})
}

func BenchmarkAtomic(b *testing.B) {
	watched(b, func(b *testing.B, s sched.Scheduler) {
		n := sched.NewInt64(s, "n", 0)
		for b.Loop() {
			n.Add(1)
		}
	})
}

// watched runs loop on the real runtime, under the monitor, and with go-deadlock's locks too.
func watched(b *testing.B, loop func(b *testing.B, s sched.Scheduler)) {
	b.Helper()
	b.Run("real", func(b *testing.B) { loop(b, sched.Scheduler{}) })
	for _, second := range []bool{false, true} {
		name := "watched"
		if second {
			name = "second"
		}
		b.Run(name, func(b *testing.B) {
			m := newMonitor(1)
			m.second = second
			done := make(chan struct{})
			go m.run(m.begin("main"), func() {
				defer close(done)
				loop(b, m.Scheduler())
			})
			<-done
			if found := m.found(); len(found) > 0 {
				b.Error(found)
			}
		})
	}
}
