package branch_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
)

// void is a disk and a store that keep nothing: what is left is the cost of the owners.
type void struct{}

func (void) Open(string) (vfs.File, error)                { return &hole{}, nil }
func (void) WaitDurable(*sched.Scope, store.Ticket) error { return nil }

func (void) Write(*sched.Scope, []store.Row) (store.Ticket, error) { return 0, nil }

func (void) Row(*sched.Scope, string, string) (store.Row, store.Ticket, error) {
	return store.Row{}, 0, store.ErrNotFound
}

func (void) Rows(*sched.Scope, string, string, int) ([]store.Row, store.Ticket, error) {
	return nil, 0, nil
}

// hole is a file that knows its length.
type hole struct{ size int64 }

func (h *hole) WriteAt(data []byte, offset int64) (int, error) {
	h.size = offset + int64(len(data))
	return len(data), nil
}

func (h *hole) Truncate(size int64) error {
	h.size = size
	return nil
}

func (h *hole) Size() (int64, error)   { return h.size, nil }
func (h *hole) Sync() error            { return nil }
func (h *hole) Present() (bool, error) { return true, nil }
func (h *hole) Close() error           { return nil }

// BenchmarkPipeline sends batches of new keys from a relay through a deduplicator and a file sink to the commit point,
// one at a time, and waits for each: ns and allocations per row are those divided by the rows.
func BenchmarkPipeline(b *testing.B) {
	for _, rows := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(rows), func(b *testing.B) {
			s := sched.Scheduler{}
			n := &node{o: &outside{s: s}, scope: s.NewScope("node")}
			n.in, n.out = relay.New[*batch](s, "in"), relay.New[*batch](s, "out")
			n.point = sink.NewPoint(s, void{}, void{}, sink.Options{Files: []string{output}})
			if err := n.point.Open(n.scope); err != nil {
				b.Fatal(err)
			}
			n.intake = n.in.Attach("dedupe", 2)
			n.dedupe = branch.NewDeduplicator(s, branch.DedupeOptions[*batch]{
				Name: "dedupe", Keep: time.Nanosecond, From: n.intake, To: n.out, Point: n.point, Store: void{},
				Key:    func(b *batch, row int) (string, error) { return b.rows()[row], nil },
				Select: pickRecords, Branches: branch.Options{Queue: 2},
			})
			n.start()
			batches := make([]records, 64) // enough for keys to be over before they come again
			for i := range batches {
				for row := range rows {
					batches[i] = append(batches[i], fmt.Sprintf("order-%d-%d", i, row))
				}
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if o, err := n.send(batches[i%len(batches)]); err != nil || o.Err != nil {
					b.Fatal(o.Err, err)
				}
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
			if err := n.stop(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkReserve is one key that passes and is committed, among many.
func BenchmarkReserve(b *testing.B) {
	b.ReportAllocs()
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Hour)
	now := time.Now()
	for i := 0; b.Loop(); i++ {
		r := &branch.Reservation{}
		now = now.Add(time.Second)
		k.Reserve(now, strconv.Itoa(i), r)
		k.Commit(r)
		k.Expire(now, 1)
	}
}
