package sched

import "sync"

// Notify wakes waiters without a value.
//
// One hands one permit to the longest waiter, or stores it, at most one, for the next. All wakes everybody who is
// registered and stores nothing. The order that loses no wake-up is register → read → wait:
//
//	n := x.changed.Register()
//	if !x.ready.Load() {
//		err = n.Wait(scope)
//	} else {
//		n.Drop()
//	}
type Notify struct {
	h      *Hook
	mu     sync.Mutex // guards the rest
	permit bool
	q      waitQueue
}

// NewNotify returns a Notify without a permit.
func NewNotify(s Scheduler, name string) (n Notify) {
	n.h = s.object(KindNotify, name, 0)
	return
}

// One wakes the longest waiter, or stores one permit.
func (n *Notify) One() {
	n.point(OpSignal)
	n.mu.Lock()
	woken := n.pass()
	n.mu.Unlock()
	n.outcome(OpSignal, bit(woken))
}

// All wakes everybody who is registered.
func (n *Notify) All() {
	n.point(OpBroadcast)
	n.mu.Lock()
	for w := n.q.head; w != nil; w = w.next {
		w.weight = 0
	}
	woken := n.q.wakeAll(n.h)
	n.mu.Unlock()
	n.outcome(OpBroadcast, uint64(woken))
}

// Wait registers and waits: right where the condition cannot have come true before, or where its change stores
// a permit with One.
func (n *Notify) Wait(scope *Scope) error {
	r := n.register()
	return r.Wait(scope)
}

// Register takes the stored permit or queues a waiter. Every Notified must be waited for or dropped.
func (n *Notify) Register() *Notified {
	r := n.register()
	return &r
}

// register makes no waiter where a permit is stored: then it allocates nothing.
func (n *Notify) register() Notified {
	r := Notified{n: n}
	n.point(OpRegister)
	n.mu.Lock()
	r.woken = n.permit
	if n.permit {
		n.permit = false
	} else {
		r.w = newWaiter()
		r.w.weight = 1 // consumes a permit of One; All sets it to 0
		n.q.push(r.w)
	}
	n.mu.Unlock()
	n.outcome(OpRegister, bit(!r.woken))
	return r
}

// pass hands a permit on, or stores it. The caller holds the guard.
func (n *Notify) pass() bool {
	if n.q.wakeFirst(n.h) {
		return true
	}
	n.permit = true
	return false
}

func (n *Notify) point(op Op) {
	if n.h != nil {
		n.h.B.Point(n.h, op)
	}
}

func (n *Notify) outcome(op Op, result uint64) {
	if n.h != nil {
		n.h.B.Outcome(n.h, op, result)
	}
}

// Notified is one registration. It belongs to one task.
type Notified struct {
	n     *Notify
	w     *Waiter // nil when it took a stored permit
	woken bool    // took a stored permit at registration
}

// Wait returns nil when woken, or the cause of scope's end; a permit that arrived meanwhile is passed on.
func (r *Notified) Wait(scope *Scope) error {
	if r.woken {
		return nil
	}
	if await(r.n.h, OpWait, r.w, scope) {
		r.n.outcome(OpWait, 1)
		return nil
	}
	r.release()
	return scope.cause()
}

// Drop gives the registration up without waiting; a permit that it holds is passed on.
func (r *Notified) Drop() {
	r.n.point(OpDrop)
	r.release()
}

// release reports before it passes on: whoever gets the permit is ordered after the one who gave it first.
func (r *Notified) release() {
	r.n.mu.Lock()
	defer r.n.mu.Unlock()
	holds := r.woken || !r.n.q.remove(r.w) && r.w.weight == 1
	r.n.outcome(OpDrop, bit(holds))
	if holds {
		r.n.pass()
	}
}
