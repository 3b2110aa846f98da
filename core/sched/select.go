package sched

// Case is one alternative of a select. The zero Case is switched off: it is never taken.
type Case[T any] struct {
	h    *Hook
	op   Op
	recv <-chan T
	send chan<- T
	v    T
	slot *T // operand of an unbuffered channel under a backend
}

// OnReceive is the alternative "a value can be received".
func (c *Chan[T]) OnReceive() Case[T] {
	k := Case[T]{h: c.h, op: OpRecv, recv: c.c}
	if c.h != nil && cap(c.c) == 0 {
		k.slot = new(T)
	}
	return k
}

// OnSend is the alternative "v can be sent".
func (c *Chan[T]) OnSend(v T) Case[T] {
	k := Case[T]{h: c.h, op: OpSend, send: c.c, v: v}
	if c.h != nil && cap(c.c) == 0 {
		k.slot = &v
	}
	return k
}

func (k *Case[T]) on() bool { return k.recv != nil || k.send != nil }

func (k *Case[T]) arm() Arm {
	a := Arm{H: k.h, Op: k.op}
	if k.slot != nil {
		a.Slot = k.slot
	}
	return a
}

// finish performs the operation that a backend granted.
func (k *Case[T]) finish(g Grant) (T, bool) {
	if k.send != nil {
		k.finishSend(g)
		return k.v, true
	}
	return k.finishReceive(g)
}

func (k *Case[T]) finishSend(g Grant) {
	switch {
	case g.Peer != nil:
		*g.Peer.(*T) = k.v
	case !g.Done:
		k.send <- k.v
	}
	k.h.B.Outcome(k.h, k.op, 1)
}

func (k *Case[T]) finishReceive(g Grant) (v T, ok bool) {
	switch {
	case g.Done:
		v, ok = *k.slot, true
	case g.Peer != nil:
		v, ok = *g.Peer.(*T), true
	default:
		v, ok = <-k.recv
	}
	k.h.B.Outcome(k.h, k.op, bit(ok))
	return v, ok
}

// Chosen2 is the result of Select2: the index of the alternative taken, the value that it received, and whether
// its channel was open.
type Chosen2[A, B any] struct {
	Index int
	OK    bool
	A     A
	B     B
}

// Chosen3 is the result of Select3.
type Chosen3[A, B, C any] struct {
	Index int
	OK    bool
	A     A
	B     B
	C     C
}

// Chosen4 is the result of Select4.
type Chosen4[A, B, C, D any] struct {
	Index int
	OK    bool
	A     A
	B     B
	C     C
	D     D
}

// Select2 waits until one of two alternatives can be taken and takes it. With several ready it takes any. With
// none switched on it waits for ever.
func Select2[A, B any](a Case[A], b Case[B]) (r Chosen2[A, B]) {
	if a.h != nil || b.h != nil {
		return select2(&a, &b)
	}
	if a.send == nil && b.send == nil { // half the arms for the common case
		select {
		case r.A, r.OK = <-a.recv:
		case r.B, r.OK = <-b.recv:
			r.Index = 1
		}
		return r
	}
	select {
	case r.A, r.OK = <-a.recv:
	case a.send <- a.v:
		r.OK = true
	case r.B, r.OK = <-b.recv:
		r.Index = 1
	case b.send <- b.v:
		r.Index, r.OK = 1, true
	}
	return r
}

// Select3 is Select2 with three alternatives.
func Select3[A, B, C any](a Case[A], b Case[B], c Case[C]) (r Chosen3[A, B, C]) {
	if a.h != nil || b.h != nil || c.h != nil {
		return select3(&a, &b, &c)
	}
	if a.send == nil && b.send == nil && c.send == nil {
		select {
		case r.A, r.OK = <-a.recv:
		case r.B, r.OK = <-b.recv:
			r.Index = 1
		case r.C, r.OK = <-c.recv:
			r.Index = 2
		}
		return r
	}
	select {
	case r.A, r.OK = <-a.recv:
	case a.send <- a.v:
		r.OK = true
	case r.B, r.OK = <-b.recv:
		r.Index = 1
	case b.send <- b.v:
		r.Index, r.OK = 1, true
	case r.C, r.OK = <-c.recv:
		r.Index = 2
	case c.send <- c.v:
		r.Index, r.OK = 2, true
	}
	return r
}

// Select4 is Select2 with four alternatives.
func Select4[A, B, C, D any](a Case[A], b Case[B], c Case[C], d Case[D]) (r Chosen4[A, B, C, D]) {
	if a.h != nil || b.h != nil || c.h != nil || d.h != nil {
		return select4(&a, &b, &c, &d)
	}
	if a.send == nil && b.send == nil && c.send == nil && d.send == nil {
		select {
		case r.A, r.OK = <-a.recv:
		case r.B, r.OK = <-b.recv:
			r.Index = 1
		case r.C, r.OK = <-c.recv:
			r.Index = 2
		case r.D, r.OK = <-d.recv:
			r.Index = 3
		}
		return r
	}
	select {
	case r.A, r.OK = <-a.recv:
	case a.send <- a.v:
		r.OK = true
	case r.B, r.OK = <-b.recv:
		r.Index = 1
	case b.send <- b.v:
		r.Index, r.OK = 1, true
	case r.C, r.OK = <-c.recv:
		r.Index = 2
	case c.send <- c.v:
		r.Index, r.OK = 2, true
	case r.D, r.OK = <-d.recv:
		r.Index = 3
	case d.send <- d.v:
		r.Index, r.OK = 3, true
	}
	return r
}
