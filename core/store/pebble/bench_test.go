package pebble_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
)

// BenchmarkSyncedCommits is steps per second on a real disk: take the claim, commit durably, with one committer and
// with many, whose syncs are merged.
func BenchmarkSyncedCommits(b *testing.B) {
	for _, committers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("committers=%d", committers), func(b *testing.B) {
			st, _ := open(b, pebble.Options{Dir: b.TempDir()})
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var tasks sync.WaitGroup
			for n := range committers {
				tasks.Go(func() {
					id := fmt.Sprintf("i%d", n)
					_, err := st.Commit(nil, spawning(id, 0))
					for epoch := store.Epoch(1); err == nil && left.Add(-1) >= 0; epoch += 2 {
						var c store.Claim
						if c, _, err = st.Take(nil, store.InstanceID(id), epoch, me); err == nil {
							_, err = st.Commit(nil, &store.Step{
								Cause: fmt.Sprint(epoch), Claim: c, Status: store.Running, Snapshot: make([]byte, 200),
							})
						}
					}
					if err != nil {
						b.Error(err)
					}
				})
			}
			tasks.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			ok(b, st.Close())
		})
	}
}
