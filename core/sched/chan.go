package sched

// Chan is a bounded channel. Capacity zero is a rendezvous.
type Chan[T any] struct {
	h *Hook
	c chan T
}

// NewChan returns an open channel with the given capacity.
func NewChan[T any](s Scheduler, name string, capacity int) *Chan[T] {
	return &Chan[T]{h: s.object(KindChan, name, capacity), c: make(chan T, capacity)}
}

// Send waits for room and puts v in. Sending on a closed channel panics.
func (c *Chan[T]) Send(v T) {
	if c.h != nil {
		c.send(v)
		return
	}
	c.c <- v
}

// Receive waits for a value. ok is false when the channel is closed and empty.
func (c *Chan[T]) Receive() (v T, ok bool) {
	if c.h != nil {
		return c.receive()
	}
	v, ok = <-c.c
	return
}

// TrySend puts v in if there is room at once, and reports whether it did.
func (c *Chan[T]) TrySend(v T) bool {
	if c.h != nil {
		return c.trySend(v)
	}
	select {
	case c.c <- v:
		return true
	default:
		return false
	}
}

// TryReceive takes a value if there is one at once. ready is false when nothing was taken; ok is false
// when the channel is closed and empty.
func (c *Chan[T]) TryReceive() (v T, ok, ready bool) {
	if c.h != nil {
		return c.tryReceive()
	}
	select {
	case v, ok = <-c.c:
		return v, ok, true
	default:
		return v, false, false
	}
}

// SendWithin waits for room until scope ends: then the error is its cause and nothing was sent.
func (c *Chan[T]) SendWithin(scope *Scope, v T) error {
	if Select2(c.OnSend(v), scope.Done()).Index == 1 {
		return scope.cause()
	}
	return nil
}

// ReceiveWithin waits for a value until scope ends: then the error is its cause.
func (c *Chan[T]) ReceiveWithin(scope *Scope) (v T, ok bool, err error) {
	got := Select2(c.OnReceive(), scope.Done())
	if got.Index == 1 {
		return v, false, scope.cause()
	}
	return got.A, got.OK, nil
}

// Close ends the channel: receivers get what is left, then ok false. Closing twice panics.
func (c *Chan[T]) Close() {
	if c.h != nil {
		c.h.B.Point(c.h, OpClose)
	}
	close(c.c)
	if c.h != nil {
		c.h.B.Outcome(c.h, OpClose, 1)
	}
}

// Len returns the number of values in the channel.
func (c *Chan[T]) Len() int {
	if c.h == nil {
		return len(c.c)
	}
	c.h.B.Point(c.h, OpLen)
	n := len(c.c)
	c.h.B.Outcome(c.h, OpLen, uint64(n))
	return n
}

// Cap returns the capacity.
func (c *Chan[T]) Cap() int { return cap(c.c) }

// PeekLen returns the number of values without announcing a read. For invariants only.
func (c *Chan[T]) PeekLen() int { return len(c.c) }

func (c *Chan[T]) send(v T) {
	k := c.OnSend(v)
	k.finishSend(c.h.B.Block(k.arm()))
}

func (c *Chan[T]) receive() (T, bool) {
	k := c.OnReceive()
	return k.finishReceive(c.h.B.Block(k.arm()))
}

func (c *Chan[T]) trySend(v T) bool {
	k := c.OnSend(v)
	g := c.h.B.Try(k.arm())
	switch g.Index {
	case NotReady:
		c.h.B.Outcome(c.h, OpSend, 0)
		return false
	case Native:
		select {
		case c.c <- v:
			c.h.B.Outcome(c.h, OpSend, 1)
			return true
		default:
			c.h.B.Outcome(c.h, OpSend, 0)
			return false
		}
	}
	k.finishSend(g)
	return true
}

func (c *Chan[T]) tryReceive() (v T, ok, ready bool) {
	k := c.OnReceive()
	g := c.h.B.Try(k.arm())
	switch g.Index {
	case NotReady:
		c.h.B.Outcome(c.h, OpRecv, 2)
		return v, false, false
	case Native:
		select {
		case v, ok = <-c.c:
			c.h.B.Outcome(c.h, OpRecv, bit(ok))
			return v, ok, true
		default:
			c.h.B.Outcome(c.h, OpRecv, 2)
			return v, false, false
		}
	}
	v, ok = k.finishReceive(g)
	return v, ok, true
}
