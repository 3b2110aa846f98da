package relay_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// caller performs the calls of one task on a queue of capacity one and records them.
type caller struct {
	id    int
	calls *linearizability.Calls
	queue *relay.Queue[int]
}

func (c caller) push(v int) {
	end := c.calls.Begin(c.id, linearizability.QueueInput{Op: linearizability.QueuePush, Value: v})
	end(linearizability.QueueOutput{Closed: errors.Is(c.queue.Push(nil, v), relay.ErrClosed)})
}

func (c caller) receive() (closed bool) {
	end := c.calls.Begin(c.id, linearizability.QueueInput{Op: linearizability.QueueReceive})
	v, err := c.queue.Receive(nil, nil)
	closed = errors.Is(err, relay.ErrClosed)
	end(linearizability.QueueOutput{Value: v, Closed: closed})
	return closed
}

func (c caller) close() {
	end := c.calls.Begin(c.id, linearizability.QueueInput{Op: linearizability.QueueClose})
	c.queue.Close()
	end(nil)
}

// sessions starts two producers and one task that closes, and receives until the queue is drained.
func sessions(s sched.Scheduler, spawn func(f func())) *linearizability.Calls {
	calls := &linearizability.Calls{}
	q := relay.NewQueue[int](s, "q", 1)
	for id := range 2 {
		spawn(func() {
			c := caller{id, calls, q}
			c.push(id * 10)
			c.push(id*10 + 1)
			if id == 0 {
				c.close()
			}
		})
	}
	for c := (caller{2, calls, q}); !c.receive(); {
	}
	return calls
}

func TestLinearC6(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "C6/histories", func(t *testing.T) int {
		return sim.Judge(t, "C6/histories", func(w *sim.World) {
			calls := sessions(w.Scheduler(), func(f func()) { w.Go("produce", f) })
			w.Join()
			_, err := calls.Judge(linearizability.QueueModel(1))
			w.Require(err == nil, "C6.linear", "%v", err)
		}, sim.Runs(300))
	})
}

func TestLinearC6RealRuntime(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "C6/real-histories", func(t *testing.T) int {
		const histories = 200
		for range histories {
			var tasks sync.WaitGroup
			calls := sessions(sched.Scheduler{}, func(f func()) { tasks.Go(f) })
			tasks.Wait()
			if _, err := calls.Judge(linearizability.QueueModel(1)); err != nil {
				inventory.Violated(t, t, "C6.linear", "%v", err)
			}
		}
		return histories
	})
}
