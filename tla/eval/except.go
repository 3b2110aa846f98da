package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// argValue compiles the arguments of f[a, b] to one value: the argument, or a tuple of several.
func (cp *compiler) argValue(args []syntax.Expr, e env) node {
	if len(args) == 1 {
		return cp.compile(args[0], e)
	}
	return cp.tuple(args, e)
}

func (cp *compiler) fcnApp(x *syntax.FcnApp, e env) node {
	at := e.place(x.P)
	f, a := cp.compile(x.Fn, e), cp.argValue(x.Args, e)
	ff, fa := f.fn, a.fn
	return fnNode(func(c *Ctx) value.Value {
		fv, av := ff(c), fa(c)
		if fcn, ok := fv.(*value.Fcn); ok {
			c.at = at
			if i := fcn.Index(av); i >= 0 {
				return fcn.Vals[i]
			}
		}
		return applySlow(c, fv, av, at)
	}, f, a)
}

func applySlow(c *Ctx, fv, av value.Value, at *place) value.Value {
	switch f := fv.(type) {
	case *value.Fcn:
		av = c.force(av)
		if i := f.Index(av); i >= 0 {
			return f.Vals[i]
		}
		c.fail(at, "function is applied to %s, which is not in its domain %s", value.Short(av), value.Short(f.DomainSet()))
	case *value.Lazy:
		c.at = at
		return f.At(c, c.force(av))
	case *fault:
		panic(f.err)
	}
	c.fail(at, "expected a function to apply, found %s: %s", value.KindName(fv), value.Short(fv))
	return nil
}

// exceptSpec is one compiled replacement: the arguments along the path and the new value, which
// reads the old one from slot.
type exceptSpec struct {
	path []Fn
	x    Fn
	slot int
	at   *place
}

func (cp *compiler) except(x *syntax.Except, e env) node {
	mark := cp.mark()
	base := cp.compile(x.Fn, e)
	n := node{free: noFree}
	n.under(base)
	specs := make([]exceptSpec, len(x.Specs))
	for i, s := range x.Specs {
		sp := exceptSpec{at: e.place(s.P)}
		for _, st := range s.Path {
			var p node
			if st.Name != "" {
				p = constNode(cp.p.U.Str(st.Name))
			} else {
				p = cp.argValue(st.Args, e)
			}
			n.under(p)
			sp.path = append(sp.path, p.fn)
		}
		e2 := e
		e2.sc = e.sc.child()
		old := cp.newSlot(e, "@")
		e2.sc.m["@"] = old
		v := cp.compile(s.X, e2)
		n.under(v)
		sp.x, sp.slot = v.fn, old.slot
		specs[i] = sp
	}
	fn := base.fn
	n.fn = func(c *Ctx) value.Value {
		v := c.force(fn(c))
		for i := range specs {
			v = specs[i].update(c, v, 0)
		}
		return v
	}
	if len(specs) == 1 {
		n.late = func(c *Ctx, p *value.Pending) value.Value { return specs[0].late(c, c.force(fn(c)), p) }
	}
	bound(&n, mark)
	return n
}

// late is update of a whole function, which need not be made at once.
func (s *exceptSpec) late(c *Ctx, v value.Value, p *value.Pending) value.Value {
	f, ok := v.(*value.Fcn)
	if !ok {
		return s.update(c, v, 0)
	}
	k := c.force(s.path[0](c))
	c.at = s.at
	j := f.Index(k)
	if j < 0 {
		return f
	}
	nv := s.update(c, f.Vals[j], 1)
	c.at = s.at
	return p.Replace(f, j, nv)
}

func (s *exceptSpec) update(c *Ctx, v value.Value, i int) value.Value {
	if i == len(s.path) {
		c.f.s[s.slot] = v
		return c.force(s.x(c))
	}
	v = c.force(v)
	if l, ok := v.(*value.Lazy); ok {
		return s.updateLazy(c, l, i)
	}
	f, ok := v.(*value.Fcn)
	if !ok {
		c.fail(s.at, "EXCEPT needs a function, found %s: %s", value.KindName(v), value.Short(v))
	}
	k := c.force(s.path[i](c))
	c.at = s.at
	j := f.Index(k)
	if j < 0 {
		// An argument outside the domain leaves the function as it is.
		return f
	}
	old := f.Vals[j]
	nv := s.update(c, old, i+1)
	if nv == old {
		return f
	}
	return f.With(j, nv)
}

// updateLazy replaces one value of a function with an infinite domain.
func (s *exceptSpec) updateLazy(c *Ctx, l *value.Lazy, i int) value.Value {
	k := c.force(s.path[i](c))
	nv := s.update(c, l.At(c, k), i+1)
	return &value.Lazy{Dom: l.Dom, At: func(ctx any, v value.Value) value.Value {
		if value.Equal(v, k) {
			return nv
		}
		return l.At(ctx, v)
	}}
}

func (cp *compiler) box(x *syntax.Box, e env) node {
	a, an := cp.pred(x.A, e)
	same := cp.unchanged(x.V, e, e.place(x.P))
	sp := same.pred
	if x.Angle {
		return predNode(func(c *Ctx) bool { return a(c) && !sp(c) }, an, same)
	}
	return predNode(func(c *Ctx) bool { return sp(c) || a(c) }, an, same)
}

// unchanged compiles v' = v as a predicate.
func (cp *compiler) unchanged(x syntax.Expr, e env, at *place) node {
	defer cp.enter(x, e)()
	if e.primed {
		loadFail(at.file, at.pos, "UNCHANGED is primed")
	}
	if parts, scope := cp.tupleParts(x, e); parts != nil {
		preds := make([]Pred, len(parts))
		nodes := make([]node, len(parts))
		for i, p := range parts {
			nodes[i] = cp.unchanged(p, scope, at)
			preds[i] = nodes[i].pred
		}
		n := predNode(func(c *Ctx) bool {
			for _, same := range preds {
				if !same(c) {
					return false
				}
			}
			return true
		}, nodes...)
		n.lvl = max(n.lvl, 2)
		return n
	}
	e2 := e
	e2.primed = true
	a, b := cp.compile(x, e), cp.compile(x, e2)
	fa, fb := a.fn, b.fn
	n := predNode(func(c *Ctx) bool {
		va, vb := fa(c), fb(c)
		c.at = at
		return va == vb || value.Equal(c.force(va), c.force(vb))
	}, a, b)
	n.lvl = max(n.lvl, 2)
	return n
}

// tupleParts returns the elements of the tuple that x is or names, with their scope.
func (cp *compiler) tupleParts(x syntax.Expr, e env) ([]syntax.Expr, env) {
	for range 50 {
		switch y := strip(x).(type) {
		case *syntax.Tuple:
			return y.Elems, e
		case *syntax.Ref:
			if isWord(y) || len(y.Parts[len(y.Parts)-1].Args) > 0 || e.sc.lookup(y.Parts[0].Name) == nil {
				return nil, e
			}
			t := cp.resolveRef(y, e)
			switch {
			case t.x != nil:
				x, e = t.x, e.with(t.sc)
			case t.sym.kind == symDef && t.sym.def != nil && len(t.sym.def.Params) == 0 && t.sym.def.Bounds == nil && t.sym.fc == nil && !t.sym.recursive:
				x, e = t.sym.def.Body, e.with(t.sym.sc)
			default:
				return nil, e
			}
		default:
			return nil, e
		}
	}
	return nil, e
}
