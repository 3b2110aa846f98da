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
