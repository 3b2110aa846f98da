package linearizability

import (
	"fmt"
	"strings"
	"sync"

	"github.com/anishathalye/porcupine"
)

// Calls is a history that is being recorded: the order of calls and returns, by a counter and not by a clock, so that it works the
// same in a simulated world and on the real runtime. It adds no scheduling point.
type Calls struct {
	mu  sync.Mutex // guards the rest
	now int64
	ops []porcupine.Operation
}

// Begin records a call and returns what records its return. A call that never returns is not part of the history:
// use it for calls whose effect nobody can have seen.
func (c *Calls) Begin(client int, input any) (end func(output any)) {
	c.mu.Lock()
	c.now++
	called := c.now
	c.mu.Unlock()
	return func(output any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.now++
		c.ops = append(c.ops, porcupine.Operation{ClientId: client, Input: input, Call: called, Output: output, Return: c.now})
	}
}

// Judge returns how many operations were recorded, and an error with the history when it has no linearization.
func (c *Calls) Judge(model porcupine.Model) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if porcupine.CheckOperations(model, c.ops) {
		return len(c.ops), nil
	}
	var b strings.Builder
	for _, op := range c.ops {
		fmt.Fprintf(&b, "\n  [%d, %d] client %d: %+v → %+v", op.Call, op.Return, op.ClientId, op.Input, op.Output)
	}
	return len(c.ops), fmt.Errorf("history has no linearization:%s", b.String())
}
