package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// binder is one bound identifier, or one tuple of them, with its set.
type binder struct {
	set   Fn
	slots []int
	tuple bool
	at    *place
}

// assign puts an element into the slots of the binder.
func (b *binder) assign(c *Ctx, v value.Value) {
	c.tick(b.at)
	if !b.tuple {
		c.f.s[b.slots[0]] = v
		return
	}
	t, ok := v.(*value.Fcn)
	if !ok || t.Dom != nil || len(t.Vals) != len(b.slots) {
		c.fail(b.at, "expected a tuple of %d elements, found %s", len(b.slots), value.Short(v))
	}
	for i, x := range t.Vals {
		c.f.s[b.slots[i]] = x
	}
}

// binders compiles bounds; the sets are compiled in e, the identifiers bound in the returned env.
func (cp *compiler) binders(bounds []syntax.Bound, e env, whole *node) ([]binder, env) {
	var out []binder
	sc := e.sc.child()
	for _, b := range bounds {
		if b.Set == nil {
			loadFail(e.sc.file, b.P, "the quantifier has no set, and an unbounded one cannot be evaluated")
		}
		set := cp.compile(b.Set, e)
		whole.under(set)
		if b.Tuple {
			bd := binder{set: set.fn, tuple: true, at: e.place(b.P)}
			for _, n := range b.Names {
				s := cp.newSlot(e, n)
				sc.m[n] = s
				bd.slots = append(bd.slots, s.slot)
			}
			out = append(out, bd)
			continue
		}
		for _, n := range b.Names {
			s := cp.newSlot(e, n)
			sc.m[n] = s
			out = append(out, binder{set: set.fn, slots: []int{s.slot}, at: e.place(b.P)})
		}
	}
	return out, e.with(sc)
}

func (c *Ctx) set(v value.Value, at *place) value.Set {
	if s, ok := v.(value.Set); ok {
		return s
	}
	if x, ok := v.(*fault); ok {
		panic(x.err)
	}
	c.fail(at, "expected a set, found %s: %s", value.KindName(v), value.Short(v))
	return nil
}

// each visits the choices of the binders from i on; f returns false to stop.
func each(c *Ctx, bs []binder, i int, f func() bool) bool {
	if i == len(bs) {
		return f()
	}
	b := &bs[i]
	return c.set(b.set(c), b.at).Each(func(v value.Value) bool {
		b.assign(c, v)
		return each(c, bs, i+1, f)
	})
}

func (cp *compiler) quant(x *syntax.Quant, e env) node {
	switch x.Kind {
	case "CHOOSE":
		return cp.choose(x, e)
	case "\\AA", "\\EE":
		return failNode(e.place(x.P), 3, "temporal quantification cannot be evaluated")
	}
	mark := cp.mark()
	n := node{free: noFree}
	bs, e2 := cp.binders(x.Bounds, e, &n)
	body, bn := cp.pred(x.Body, e2)
	n.under(bn)
	p := body
	for i := len(bs) - 1; i >= 0; i-- {
		p = quantLevel(&bs[i], p, x.Kind == "\\E")
	}
	out := predNode(p, n)
	bound(&out, mark)
	return out
}

// quantLevel quantifies one identifier.
func quantLevel(b *binder, body Pred, exists bool) Pred {
	set := b.set
	if b.tuple {
		return func(c *Ctx) bool {
			all := c.set(set(c), b.at).Each(func(v value.Value) bool {
				b.assign(c, v)
				return body(c) != exists
			})
			return all != exists
		}
	}
	slot := b.slots[0]
	return func(c *Ctx) bool {
		switch s := c.set(set(c), b.at).(type) {
		case *value.Elems:
			for _, v := range s.E {
				c.tick(b.at)
				c.f.s[slot] = v
				if body(c) == exists {
					return exists
				}
			}
			return !exists
		default:
			all := s.Each(func(v value.Value) bool {
				c.tick(b.at)
				c.f.s[slot] = v
				return body(c) != exists
			})
			return all != exists
		}
	}
}

func (cp *compiler) choose(x *syntax.Quant, e env) node {
	at := e.place(x.P)
	if x.Bounds[0].Set == nil {
		return failNode(at, 0, "CHOOSE without a set cannot be evaluated; replace its definition in the configuration")
	}
	mark := cp.mark()
	n := node{free: noFree}
	bs, e2 := cp.binders(x.Bounds, e, &n)
	body, bn := cp.pred(x.Body, e2)
	n.under(bn)
	b := &bs[0]
	n.fn = func(c *Ctx) value.Value {
		var found value.Value
		c.set(b.set(c), at).Each(func(v value.Value) bool {
			b.assign(c, v)
			if body(c) {
				found = v
				return false
			}
			return true
		})
		if found == nil {
			c.fail(at, "CHOOSE finds no element that satisfies its condition")
		}
		return found
	}
	bound(&n, mark)
	return n
}

func (cp *compiler) setFilter(x *syntax.SetFilter, e env) node {
	mark := cp.mark()
	n := node{free: noFree}
	bs, e2 := cp.binders([]syntax.Bound{x.B}, e, &n)
	body, bn := cp.pred(x.Body, e2)
	n.under(bn)
	b := &bs[0]
	n.fn = func(c *Ctx) value.Value {
		s := c.set(b.set(c), b.at)
		if s.Len() < 0 {
			return lazyFilter(c, s, b, body)
		}
		var out []value.Value
		s.Each(func(v value.Value) bool {
			b.assign(c, v)
			if body(c) {
				if out = append(out, v); len(out) > value.MaxElements {
					c.fail(b.at, "set has more than %d elements", value.MaxElements)
				}
			}
			return true
		})
		return value.NewSet(out)
	}
	bound(&n, mark)
	return n
}

func lazyFilter(c *Ctx, s value.Set, b *binder, body Pred) value.Value {
	f := c.capture()
	return &value.Filter{Base: s, P: func(v value.Value) bool {
		saved := c.f
		c.f = copyFrame(f)
		b.assign(c, v)
		ok := body(c)
		c.f = saved
		return ok
	}}
}

func (cp *compiler) setMap(x *syntax.SetMap, e env) node {
	mark := cp.mark()
	n := node{free: noFree}
	bs, e2 := cp.binders(x.Bounds, e, &n)
	body := cp.compile(x.Body, e2)
	n.under(body)
	fn := body.fn
	n.fn = func(c *Ctx) value.Value {
		var out []value.Value
		each(c, bs, 0, func() bool {
			if out = append(out, fn(c)); len(out) > value.MaxElements {
				value.Fail("set has more than %d elements", value.MaxElements)
			}
			return true
		})
		return value.NewSet(out)
	}
	bound(&n, mark)
	return n
}

// fcnDef compiles [x \in S |-> e].
func (cp *compiler) fcnDef(bounds []syntax.Bound, bodyX syntax.Expr, e env) node {
	mark := cp.mark()
	n := node{free: noFree}
	bs, e2 := cp.binders(bounds, e, &n)
	body := cp.compile(bodyX, e2)
	n.under(body)
	fn := body.fn
	if len(bs) == 1 {
		b := &bs[0]
		n.fn = func(c *Ctx) value.Value { return tabulate(c, b, fn) }
	} else {
		n.fn = func(c *Ctx) value.Value { return tabulateMany(c, bs, fn) }
	}
	bound(&n, mark)
	return n
}

func tabulate(c *Ctx, b *binder, fn Fn) value.Value {
	s := c.set(b.set(c), b.at)
	if s.Len() < 0 {
		f := c.capture()
		return &value.Lazy{Dom: s, At: func(ctx any, v value.Value) value.Value {
			c := ctx.(*Ctx)
			if !s.Contains(v) {
				value.Fail("function is applied to %s, which is not in its domain", value.Short(v))
			}
			saved := c.f
			c.f = copyFrame(f)
			b.assign(c, v)
			out := fn(c)
			c.f = saved
			return out
		}}
	}
	keys := value.List(s)
	vals := make([]value.Value, len(keys.E))
	for i, k := range keys.E {
		b.assign(c, k)
		vals[i] = c.force(fn(c))
	}
	return value.Over(keys, vals)
}

func tabulateMany(c *Ctx, bs []binder, fn Fn) value.Value {
	var keys, vals []value.Value
	each(c, bs, 0, func() bool {
		var k []value.Value
		for i := range bs {
			if bs[i].tuple {
				t := make([]value.Value, len(bs[i].slots))
				for j, s := range bs[i].slots {
					t[j] = c.f.s[s]
				}
				k = append(k, value.NewTuple(t))
				continue
			}
			k = append(k, c.f.s[bs[i].slots[0]])
		}
		if len(keys) >= value.MaxElements {
			value.Fail("function has more than %d values", value.MaxElements)
		}
		keys = append(keys, value.NewTuple(k))
		vals = append(vals, c.force(fn(c)))
		return true
	})
	return value.MakeFcn(keys, vals)
}

// force lists a lazy function with a finite domain.
func (c *Ctx) force(v value.Value) value.Value {
	if f, ok := v.(*value.Lazy); ok {
		if f.Listed != nil {
			return f.Listed
		}
		if n := f.Dom.Len(); n >= 0 && n <= value.MaxElements {
			t := f.List(c)
			if !f.Shared {
				f.Listed = t
			}
			return t
		}
	}
	return v
}
