package sim

import (
	"fmt"
	"os"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// stepsWritten writes the steps of the execution that MILLRACE_STEPS_OF names, and reports true when MILLRACE_STEPS is set:
// nothing else runs then. The executions before it run too, on one core, because what they leave behind may be what makes
// the difference.
func (c *checker) stepsWritten() bool {
	c.t.Helper()
	path := os.Getenv(inventory.StepsVar)
	if path == "" {
		return false
	}
	var id, strategy string
	var index int
	if _, err := fmt.Sscan(os.Getenv(inventory.StepsOfVar), &id, &strategy, &index); err != nil {
		c.t.Fatalf("%s: %v", inventory.StepsOfVar, err)
	}
	if id != c.id {
		return true
	}
	w := c.traceExecution(strategy, index)
	if w == nil {
		c.t.Fatalf("check %s has no execution %d of %s", id, index, strategy)
	}
	if err := inventory.WriteSteps(path, stepsOf(w.trace)); err != nil {
		c.t.Fatal(err)
	}
	return true
}

// traceExecution runs the first executions of a strategy and returns the world with the trace of the last, or nil when there
// are fewer.
func (c *checker) traceExecution(name string, index int) *World {
	w := newWorld(c.id, c.body, &c.opts)
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	if name == searchName {
		return traceSearch(w, index)
	}
	s, err := strategyNamed(name, measureFor(name, c.id, c.body, &c.opts))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range index + 1 {
		w.tracing = i == index
		execute(w, s, derive(c.opts.seed, name, i))
	}
	return w
}

func traceSearch(w *World, index int) *World {
	w.tracing = true
	s, count, more := &search{}, 0, true
	drive(w, func() bool {
		if more {
			w.reset(s, 0)
		}
		return more
	}, func() {
		if !w.pruned {
			count++
		}
		more = count <= index && !w.failed && s.advance(w)
	})
	if count <= index {
		return nil
	}
	return w
}

func stepsOf(events []event) []inventory.Step {
	steps := make([]inventory.Step, 0, len(events))
	for _, e := range events {
		if e.op == sched.OpEvent {
			continue
		}
		steps = append(steps, inventory.Step{
			Number: e.step, Task: e.task, Name: e.name, Op: e.op.String(), Object: e.object, Result: int64(e.result), At: placeOf(e.where),
		})
	}
	return steps
}
