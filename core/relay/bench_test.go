package relay_test

import (
	"strconv"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// BenchmarkFanOut publishes one batch, lets every consumer take and acknowledge it, and resolves the attempt.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 3, 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			s := sched.Scheduler{}
			r := relay.New[rows](s, "orders")
			consumers := make([]*relay.Consumer[rows], n)
			for i := range consumers {
				consumers[i] = r.Attach("c", 8)
			}
			var told noReceiver
			x := batch(s, 1)
			for b.Loop() {
				root := ack.New(s, told)
				if err := r.Publish(nil, root, x); err != nil {
					b.Fatal(err)
				}
				root.Ack()
				for _, c := range consumers {
					d, err := c.Receive(nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					d.Rows.Release()
					d.Share.Ack()
				}
			}
		})
	}
}

type noReceiver struct{}

func (noReceiver) Resolved(ack.Outcome) {}

// BenchmarkQueue compares a push and a take with the same on a channel of the standard library.
func BenchmarkQueue(b *testing.B) {
	b.Run("queue", func(b *testing.B) {
		b.ReportAllocs()
		q := relay.NewQueue[int](sched.Scheduler{}, "q", 8)
		for b.Loop() {
			if ok, _ := q.TryPush(1); !ok {
				b.Fatal("full")
			}
			q.Take()
		}
	})
	b.Run("channel", func(b *testing.B) {
		b.ReportAllocs()
		c := make(chan int, 8)
		for b.Loop() {
			c <- 1
			<-c
		}
	})
}
