package pebble_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Goroutines race for one instance; comparing and writing must be one step. The failpoint between them makes room.
func TestLinearS1CompareAndWrite(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S1/compare-and-write-is-one-step", func(t *testing.T) int {
		const histories = 40
		for range histories {
			st, _ := open(t, pebble.Options{Dir: "/data", FS: crashfs.New(), Failpoint: func(string) { linger() }})
			given := spawning("i", 0)
			given.Snapshot = nil
			_, err := st.Commit(nil, given)
			ok(t, err)
			calls := &linearizability.Calls{}
			var tasks sync.WaitGroup
			for lane := range uint32(4) {
				tasks.Go(func() {
					for i := range 8 {
						end := calls.Begin(int(lane), linearizability.LaneInput{Instance: "i"})
						n, err := storetest.Increment(st, store.Owner{Replica: "a", Lane: lane, Incarnation: 2}, fmt.Sprint(i))
						if err != nil {
							n = -1 // nobody sweeps here: a claim that is lost was held twice
						}
						end(n)
					}
				})
			}
			tasks.Wait()
			_, err = calls.Judge(linearizability.LaneModel())
			ok(t, st.Close())
			if err != nil {
				inventory.Violated(t, t, "S1.linear", "%v", err)
			}
		}
		return histories
	})
}

// linger lets everybody else run for a while, also on a machine that does much else.
func linger() {
	for range 20 {
		runtime.Gosched()
	}
}
