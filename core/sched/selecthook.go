package sched

// arms collects the alternatives that are switched on, with the index of each.
type arms struct {
	list  [4]Arm
	index [4]int
	n     int
	b     Backend
}

func addArm[T any](s *arms, k *Case[T], index int) {
	if !k.on() {
		return
	}
	s.list[s.n], s.index[s.n] = k.arm(), index
	s.n++
	if k.h != nil {
		s.b = k.h.B
	}
}

// choose asks the backend; the index is that of the case, or Native.
func (s *arms) choose() (Grant, int) {
	g := s.b.Select(s.list[:s.n])
	if g.Index == Native {
		return g, Native
	}
	return g, s.index[g.Index]
}

func select2[A, B any](a *Case[A], b *Case[B]) (r Chosen2[A, B]) {
	var s arms
	addArm(&s, a, 0)
	addArm(&s, b, 1)
	g, i := s.choose()
	r.Index = i
	switch i {
	case 0:
		r.A, r.OK = a.finish(g)
	case 1:
		r.B, r.OK = b.finish(g)
	default:
		ca, cb := a.bare(), b.bare()
		r = Select2(ca, cb)
		s.report(a.h, a.op, r.Index == 0)
		s.report(b.h, b.op, r.Index == 1)
	}
	return r
}

func select3[A, B, C any](a *Case[A], b *Case[B], c *Case[C]) (r Chosen3[A, B, C]) {
	var s arms
	addArm(&s, a, 0)
	addArm(&s, b, 1)
	addArm(&s, c, 2)
	g, i := s.choose()
	r.Index = i
	switch i {
	case 0:
		r.A, r.OK = a.finish(g)
	case 1:
		r.B, r.OK = b.finish(g)
	case 2:
		r.C, r.OK = c.finish(g)
	default:
		r = Select3(a.bare(), b.bare(), c.bare())
		s.report(a.h, a.op, r.Index == 0)
		s.report(b.h, b.op, r.Index == 1)
		s.report(c.h, c.op, r.Index == 2)
	}
	return r
}

func select4[A, B, C, D any](a *Case[A], b *Case[B], c *Case[C], d *Case[D]) (r Chosen4[A, B, C, D]) {
	var s arms
	addArm(&s, a, 0)
	addArm(&s, b, 1)
	addArm(&s, c, 2)
	addArm(&s, d, 3)
	g, i := s.choose()
	r.Index = i
	switch i {
	case 0:
		r.A, r.OK = a.finish(g)
	case 1:
		r.B, r.OK = b.finish(g)
	case 2:
		r.C, r.OK = c.finish(g)
	case 3:
		r.D, r.OK = d.finish(g)
	default:
		r = Select4(a.bare(), b.bare(), c.bare(), d.bare())
		s.report(a.h, a.op, r.Index == 0)
		s.report(b.h, b.op, r.Index == 1)
		s.report(c.h, c.op, r.Index == 2)
		s.report(d.h, d.op, r.Index == 3)
	}
	return r
}

// bare is the case without its hook: the real select of a backend that only watches.
func (k *Case[T]) bare() Case[T] {
	c := *k
	c.h = nil
	return c
}

func (s *arms) report(h *Hook, op Op, taken bool) {
	if taken && h != nil {
		h.B.Outcome(h, op, 1)
	}
}
