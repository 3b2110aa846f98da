package sched

// Waiter is one parked operation in the queue of a primitive that hands over permits. A backend may keep
// its own state in Ready and Task.
type Waiter struct {
	// C receives the permit outside of a simulation; it has room for one.
	C chan struct{}
	// Ready is set by a simulator's Wake.
	Ready bool
	// Task is the simulator's parked task.
	Task any

	next, prev *Waiter
	queue      *waitQueue // where it stands; nil once woken or withdrawn
	weight     int64
}

func newWaiter() *Waiter { return &Waiter{C: make(chan struct{}, 1)} }

// waitQueue is a first-in first-out list of waiters, guarded by its primitive.
type waitQueue struct{ head, tail *Waiter }

func (q *waitQueue) push(w *Waiter) {
	w.queue, w.prev, w.next = q, q.tail, nil
	if q.tail == nil {
		q.head = w
	} else {
		q.tail.next = w
	}
	q.tail = w
}

// remove takes w out, and reports false when it was no longer queued: it has been woken.
func (q *waitQueue) remove(w *Waiter) bool {
	if w.queue != q {
		return false
	}
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.queue, w.next, w.prev = nil, nil, nil
	return true
}

// wakeFirst hands a permit to the longest waiter and reports whether there was one.
func (q *waitQueue) wakeFirst(h *Hook) bool {
	w := q.head
	if w == nil {
		return false
	}
	q.remove(w)
	wake(h, w)
	return true
}

func (q *waitQueue) wakeAll(h *Hook) int {
	n := 0
	for q.wakeFirst(h) {
		n++
	}
	return n
}

// wake never blocks: a waiter is woken at most once per registration.
func wake(h *Hook, w *Waiter) {
	if h != nil {
		h.B.Wake(h, w)
		return
	}
	w.C <- struct{}{}
}

// await parks the caller until w is woken, or until scope ends: then it reports false, and the caller must
// withdraw w under its primitive's guard. A nil scope never ends.
func await(h *Hook, op Op, w *Waiter, scope *Scope) bool {
	if h != nil {
		return awaitHooked(h, op, w, scope)
	}
	if scope == nil {
		<-w.C
		return true
	}
	select {
	case <-w.C:
		return true
	case <-scope.done:
		return false
	}
}

func awaitHooked(h *Hook, op Op, w *Waiter, scope *Scope) bool {
	if scope == nil {
		h.B.Block(Arm{H: h, Op: op, W: w})
		return true
	}
	arms := []Arm{{H: h, Op: op, W: w}, {H: scope.h, Op: OpDone}}
	woken := false
	if g := h.B.Select(arms); g.Index == Native {
		select {
		case <-w.C:
			woken = true
		case <-scope.done:
		}
	} else {
		woken = g.Index == 0
	}
	if !woken {
		h.B.Outcome(scope.h, OpDone, 0) // what ended the scope is ordered before what follows
	}
	return woken
}
