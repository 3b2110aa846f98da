package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// core lists the operators of the language itself; all others are looked up.
var core = map[string]bool{
	"/\\": true, "\\/": true, "~": true, "=>": true, "<=>": true, "=": true, "#": true, "\\in": true,
	"\\notin": true, "\\cup": true, "\\cap": true, "\\": true, "\\subseteq": true, "SUBSET": true,
	"UNION": true, "DOMAIN": true, "ENABLED": true, "UNCHANGED": true, "'": true, "[]": true, "<>": true,
	"~>": true, "-+->": true, "\\cdot": true, "\\X": true,
}

func (cp *compiler) op(x *syntax.Op, e env) node {
	at := e.place(x.P)
	if !core[x.Name] {
		s := e.sc.lookup(x.Name)
		if s == nil {
			loadFail(e.sc.file, x.P, "operator '%s' is not defined here; does the module extend the one that defines it?", x.Name)
		}
		return cp.apply(cp.alias(s, len(x.Args)), x.Args, e, x.P)
	}
	switch x.Name {
	case "/\\", "\\/":
		return cp.junction(x.Name, x.Args, e)
	case "~", "=>", "<=>":
		return cp.logic(x, e)
	case "=", "#":
		return cp.equality(x, e)
	case "\\in", "\\notin":
		return cp.member(x, e)
	case "'":
		if e.primed {
			loadFail(e.sc.file, x.P, "an expression is primed twice")
		}
		e.primed = true
		n := cp.compile(x.Args[0], e)
		if n.lvl == 1 {
			n.lvl = 2
		}
		return n
	case "ENABLED":
		return cp.enabled(x, e)
	case "UNCHANGED":
		return cp.unchanged(x.Args[0], e, at)
	case "[]", "<>", "~>", "-+->":
		return failNode(at, 3, "'"+x.Name+"' is temporal and has no value in a state")
	case "\\cdot":
		return failNode(at, 3, "'\\cdot' cannot be evaluated here")
	case "\\X":
		return cp.product(x, e)
	}
	return cp.setOp(x, e, at)
}

func (cp *compiler) logic(x *syntax.Op, e env) node {
	a, an := cp.pred(x.Args[0], e)
	if x.Name == "~" {
		return predNode(func(c *Ctx) bool { return !a(c) }, an)
	}
	b, bn := cp.pred(x.Args[1], e)
	if x.Name == "=>" {
		return predNode(func(c *Ctx) bool { return !a(c) || b(c) }, an, bn)
	}
	return predNode(func(c *Ctx) bool { return a(c) == b(c) }, an, bn)
}

func (cp *compiler) equality(x *syntax.Op, e env) node {
	a, b := cp.compile(x.Args[0], e), cp.compile(x.Args[1], e)
	at := e.place(x.P)
	want := x.Name == "="
	fa, fb := a.fn, b.fn
	if k, ok := b.konst.(*value.Atom); ok && !k.Model {
		return predNode(func(c *Ctx) bool {
			v := fa(c)
			if s, ok := v.(*value.Atom); ok {
				return (s == k) == want
			}
			c.at = at
			return value.Equal(c.force(v), k) == want
		}, a, b)
	}
	return predNode(func(c *Ctx) bool {
		va, vb := fa(c), fb(c)
		if x, ok := va.(*value.Atom); ok {
			if y, ok := vb.(*value.Atom); ok {
				return (x == y) == want
			}
		}
		c.at = at
		return value.Equal(c.force(va), c.force(vb)) == want
	}, a, b)
}

// member compiles membership; a set that is written down is tested without being built.
func (cp *compiler) member(x *syntax.Op, e env) node {
	at := e.place(x.P)
	want := x.Name == "\\in"
	a := cp.compile(x.Args[0], e)
	fa := a.fn
	if f, ok := strip(x.Args[1]).(*syntax.SetFilter); ok {
		mark := cp.mark()
		n := node{free: noFree}
		bs, e2 := cp.binders([]syntax.Bound{f.B}, e, &n)
		body, bn := cp.pred(f.Body, e2)
		b := &bs[0]
		out := predNode(func(c *Ctx) bool {
			v := fa(c)
			s := c.set(b.set(c), at)
			c.at = at
			if !s.Contains(v) {
				return !want
			}
			b.assign(c, v)
			return body(c) == want
		}, a, n, bn)
		bound(&out, mark)
		return out
	}
	b := cp.compile(x.Args[1], e)
	fb := b.fn
	return predNode(func(c *Ctx) bool {
		v := c.force(fa(c))
		s := c.set(fb(c), at)
		c.at = at
		return s.Contains(v) == want
	}, a, b)
}

func (cp *compiler) setOp(x *syntax.Op, e env, at *place) node {
	a := cp.compile(x.Args[0], e)
	fa := a.fn
	switch x.Name {
	case "SUBSET":
		return fnNode(func(c *Ctx) value.Value { return &value.Powerset{Of: c.set(fa(c), at)} }, a)
	case "UNION":
		return fnNode(func(c *Ctx) value.Value { return union(c, c.set(fa(c), at), at) }, a)
	case "DOMAIN":
		return fnNode(func(c *Ctx) value.Value {
			switch f := fa(c).(type) {
			case *value.Fcn:
				return f.DomainSet()
			case *value.Lazy:
				return f.Dom
			default:
				c.fail(at, "DOMAIN needs a function, found %s: %s", value.KindName(f), value.Short(f))
				return nil
			}
		}, a)
	}
	b := cp.compile(x.Args[1], e)
	fb := b.fn
	if x.Name == "\\subseteq" {
		return predNode(func(c *Ctx) bool {
			s, t := c.set(fa(c), at), c.set(fb(c), at)
			c.at = at
			return value.Subset(s, t)
		}, a, b)
	}
	f := map[string]func(x, y value.Set) value.Set{"\\cup": value.Union, "\\cap": value.Intersect, "\\": value.Minus}[x.Name]
	n := fnNode(func(c *Ctx) value.Value {
		s, t := c.set(fa(c), at), c.set(fb(c), at)
		c.at = at
		return f(s, t)
	}, a, b)
	if x.Name != "\\cap" {
		n.late = lateSet(fa, fb, f, x.Name == "\\cup", at)
	}
	return n
}

// lateSet evaluates a union or difference; that with a single element need not be made at once.
func lateSet(fa, fb Fn, f func(x, y value.Set) value.Set, union bool, at *place) lateFn {
	return func(c *Ctx, p *value.Pending) value.Value {
		s, t := c.set(fa(c), at), c.set(fb(c), at)
		c.at = at
		x, ok := s.(*value.Elems)
		y, one := t.(*value.Elems)
		switch {
		case !ok || !one || len(x.E) == 0 || len(y.E) != 1:
			return f(s, t)
		case union:
			return p.Add(x, y.E[0])
		}
		return p.Remove(x, y.E[0])
	}
}

func union(c *Ctx, s value.Set, at *place) value.Value {
	var out []value.Value
	infinite := value.Set(nil)
	s.Each(func(v value.Value) bool {
		t := c.set(v, at)
		if t.Len() < 0 {
			if infinite == nil {
				infinite = t
			} else {
				infinite = value.Union(infinite, t)
			}
			return true
		}
		t.Each(func(v value.Value) bool { out = append(out, v); return true })
		if len(out) > value.MaxElements {
			c.fail(at, "UNION has more than %d elements", value.MaxElements)
		}
		return true
	})
	if infinite != nil {
		return value.Union(infinite, value.NewSet(out))
	}
	return value.NewSet(out)
}

func (cp *compiler) product(x *syntax.Op, e env) node {
	at := e.place(x.P)
	n := node{free: noFree}
	fns := make([]Fn, len(x.Args))
	for i, a := range x.Args {
		p := cp.compile(a, e)
		n.under(p)
		fns[i] = p.fn
	}
	n.fn = func(c *Ctx) value.Value {
		sets := make([]value.Set, len(fns))
		for i, f := range fns {
			sets[i] = c.set(f(c), at)
		}
		return &value.Product{Sets: sets}
	}
	return n
}

func (cp *compiler) setEnum(x *syntax.SetEnum, e env) node {
	n := node{free: noFree}
	fns := make([]Fn, len(x.Elems))
	for i, el := range x.Elems {
		p := cp.compile(el, e)
		n.under(p)
		fns[i] = p.fn
	}
	if len(fns) == 0 {
		return constNode(value.EmptySet)
	}
	at := e.place(x.P)
	n.fn = func(c *Ctx) value.Value {
		out := make([]value.Value, len(fns))
		for i, f := range fns {
			out[i] = c.force(f(c))
		}
		c.at = at
		return value.NewSet(out)
	}
	return n
}

func (cp *compiler) tuple(elems []syntax.Expr, e env) node {
	n := node{free: noFree}
	fns := make([]Fn, len(elems))
	for i, el := range elems {
		p := cp.compile(el, e)
		n.under(p)
		fns[i] = p.fn
	}
	if len(fns) == 0 {
		return constNode(value.Empty)
	}
	n.fn = func(c *Ctx) value.Value {
		out := make([]value.Value, len(fns))
		for i, f := range fns {
			out[i] = c.force(f(c))
		}
		return value.NewTuple(out)
	}
	return n
}

func (cp *compiler) fcnSet(x *syntax.FcnSet, e env) node {
	a, b := cp.compile(x.Dom, e), cp.compile(x.Rng, e)
	at := e.place(x.P)
	fa, fb := a.fn, b.fn
	return fnNode(func(c *Ctx) value.Value {
		return &value.Functions{Dom: c.set(fa(c), at), Rng: c.set(fb(c), at)}
	}, a, b)
}

func (cp *compiler) record(x *syntax.Record, e env) node {
	n := node{free: noFree}
	order := make([]value.Value, len(x.Fields))
	byName := map[*value.Atom]Fn{}
	for i, f := range x.Fields {
		p := cp.compile(f.X, e)
		n.under(p)
		k := cp.p.U.Str(f.Name)
		if byName[k] != nil {
			loadFail(e.sc.file, x.P, "field %s is given twice", f.Name)
		}
		byName[k] = p.fn
		order[i] = k
	}
	keys := value.NewSet(order).E
	dom := value.NewDomain(keys)
	fns := make([]Fn, len(keys))
	for i, k := range keys {
		fns[i] = byName[k.(*value.Atom)]
	}
	at := e.place(x.P)
	if x.Set {
		n.fn = func(c *Ctx) value.Value {
			sets := make([]value.Set, len(fns))
			for i, f := range fns {
				sets[i] = c.set(f(c), at)
			}
			return &value.Records{Dom: dom, Sets: sets}
		}
		return n
	}
	n.fn = func(c *Ctx) value.Value {
		vals := make([]value.Value, len(fns))
		for i, f := range fns {
			vals[i] = c.force(f(c))
		}
		return &value.Fcn{Dom: dom, Vals: vals}
	}
	return n
}

func (cp *compiler) dot(x *syntax.Dot, e env) node {
	at := e.place(x.P)
	r := cp.compile(x.X, e)
	fn := r.fn
	k := cp.p.U.Str(x.Name)
	return fnNode(func(c *Ctx) value.Value {
		v := fn(c)
		f, ok := v.(*value.Fcn)
		if !ok {
			c.fail(at, "field %s is selected from %s: %s", k.Name, value.KindName(v), value.Short(v))
		}
		i := f.Index(k)
		if i < 0 {
			c.fail(at, "record has no field %s: %s", k.Name, value.Short(v))
		}
		return f.Vals[i]
	}, r)
}
