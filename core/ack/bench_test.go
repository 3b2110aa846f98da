package ack_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
)

// BenchmarkTree is one attempt: a root, three consumers, four resolutions.
func BenchmarkTree(b *testing.B) {
	b.ReportAllocs()
	var r told
	for b.Loop() {
		root := ack.New(sched.Scheduler{}, &r)
		shares := root.Attach(3)
		root.Ack()
		for i := range shares {
			shares[i].Ack()
		}
	}
}

// BenchmarkShare is what one more consumer of a running attempt costs.
func BenchmarkShare(b *testing.B) {
	b.ReportAllocs()
	root := ack.New(sched.Scheduler{}, nil)
	for b.Loop() {
		root.Attach(1)[0].Ack()
	}
}

// BenchmarkShareParallel has every processor attach and resolve on one tree: the worst case of its two words.
func BenchmarkShareParallel(b *testing.B) {
	b.ReportAllocs()
	root := ack.New(sched.Scheduler{}, nil)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			root.Attach(1)[0].Ack()
		}
	})
}
