package main

import (
	"fmt"
	"runtime"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
)

// heap is what is reachable while a number of instances is parked.
type heap struct {
	Parked int    `json:"parked"`
	Bytes  uint64 `json:"bytes"`
}

// parkedStages is how often the heap is measured.
const parkedStages = 5

// park starts instances, which wait for a message that never comes, and measures the heap in between.
func park(scope *sched.Scope, e *engine.Engine, r *result, n int) error {
	r.Instances = n
	for stage := range parkedStages {
		from, to := n*stage/parkedStages, n*(stage+1)/parkedStages
		err := each(to-from, r.InFlight, func(i int) error { return deliver(scope, e, "begin", fmt.Sprint("p-", from+i)) })
		if err != nil {
			return err
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.Heap = append(r.Heap, heap{Parked: to, Bytes: m.HeapAlloc})
	}
	return nil
}
