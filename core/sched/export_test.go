package sched

// length is how many waiters stand in the queue.
func (q *waitQueue) length() int {
	n := 0
	for w := q.head; w != nil; w = w.next {
		n++
	}
	return n
}

// Waiting is how many waiters stand in the queue of x.
func (x *Watch[T]) Waiting() int { return x.q.length() }

// Waiting is how many waiters stand in the queue of o.
func (o *WriteOnce[T]) Waiting() int { return o.q.length() }

// Waiting is how many waiters stand in the queue of n.
func (n *Notify) Waiting() int { return n.q.length() }

// Waiting is how many waiters stand in the queue of x.
func (x *Semaphore) Waiting() int { return x.q.length() }

// Waiting is how many waiters stand in the queue of c.
func (c *Cond) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.q.length()
}

// SignalLate is a Signal that has seen a waiter which somebody else has woken meanwhile.
func (c *Cond) SignalLate() { c.signal() }

// BroadcastLate is a Broadcast that has seen a waiter which somebody else has woken meanwhile.
func (c *Cond) BroadcastLate() { c.broadcast() }

// Children is how many scopes the end of c would end.
func (c *Scope) Children() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for k := c.first; k != nil; k = k.next {
		n++
	}
	return n
}

// Armed reports whether the clock of c on the real runtime is armed, and disarms it.
func (c *Scope) Armed() bool { return c.clock.Stop() }
