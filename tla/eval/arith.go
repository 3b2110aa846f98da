package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

func (c *Ctx) integer(v value.Value, at *place) int64 {
	n, ok := v.(value.Int)
	if !ok {
		if x, ok := v.(*fault); ok {
			panic(x.err)
		}
		c.fail(at, "expected an integer, found %s: %s", value.KindName(v), value.Short(v))
	}
	return int64(n)
}

// IntOp returns a binary operator on integers; f reports false on overflow or an undefined result.
func IntOp(name string, f func(a, b int64) (int64, bool)) *Builtin {
	b := &Builtin{Name: name, Arity: 2}
	b.compile = func(cp *compiler, e env, at *place, args []syntax.Expr) node {
		x, y := cp.compile(args[0], e), cp.compile(args[1], e)
		fx, fy := x.fn, y.fn
		return fnNode(func(c *Ctx) value.Value {
			a, b := c.integer(fx(c), at), c.integer(fy(c), at)
			r, ok := f(a, b)
			if !ok {
				c.fail(at, "%d %s %d is undefined or does not fit 64 bits", a, name, b)
			}
			return value.MakeInt(r)
		}, x, y)
	}
	return b
}

// IntCompare returns a comparison of integers.
func IntCompare(name string, f func(a, b int64) bool) *Builtin {
	b := &Builtin{Name: name, Arity: 2}
	b.compile = func(cp *compiler, e env, at *place, args []syntax.Expr) node {
		x, y := cp.compile(args[0], e), cp.compile(args[1], e)
		fx, fy := x.fn, y.fn
		return predNode(func(c *Ctx) bool { return f(c.integer(fx(c), at), c.integer(fy(c), at)) }, x, y)
	}
	return b
}

// Range returns the operator lo..hi.
func Range() *Builtin {
	b := &Builtin{Name: "..", Arity: 2}
	b.compile = func(cp *compiler, e env, at *place, args []syntax.Expr) node {
		x, y := cp.compile(args[0], e), cp.compile(args[1], e)
		fx, fy := x.fn, y.fn
		return fnNode(func(c *Ctx) value.Value {
			return value.NewInterval(c.integer(fx(c), at), c.integer(fy(c), at))
		}, x, y)
	}
	return b
}

// Negate returns the prefix operator -.
func Negate() *Builtin {
	b := &Builtin{Name: "-.", Arity: 1}
	b.compile = func(cp *compiler, e env, at *place, args []syntax.Expr) node {
		x := cp.compile(args[0], e)
		fx := x.fn
		n := fnNode(func(c *Ctx) value.Value { return value.MakeInt(-c.integer(fx(c), at)) }, x)
		if k, ok := x.konst.(value.Int); ok {
			return constNode(value.MakeInt(int64(-k)))
		}
		return n
	}
	return b
}

// Identity returns an operator whose value is that of its last argument, evaluated in place; the
// other arguments are evaluated first and passed to before.
func Identity(name string, arity int, before func(c *Ctx, v value.Value)) *Builtin {
	b := &Builtin{Name: name, Arity: arity}
	b.compile = func(cp *compiler, e env, _ *place, args []syntax.Expr) node {
		x := cp.compile(args[arity-1], e)
		if arity == 1 {
			fn := x.fn
			x.trivial = false
			x.pred, x.late = nil, nil
			x.fn = func(c *Ctx) value.Value { return c.settle(fn(c)) }
			return x
		}
		first := cp.compile(args[0], e)
		f0, f1 := first.fn, x.fn
		n := fnNode(func(c *Ctx) value.Value {
			before(c, c.force(f0(c)))
			return f1(c)
		}, first, x)
		n.lvl, n.impure, n.vars = max(n.lvl, 1), true, AllVars
		return n
	}
	return b
}

// Level returns TLCGet, whose answer about the level depends on whether it is primed.
func Level(name string, get func(c *Ctx, arg value.Value, primed bool) value.Value) *Builtin {
	b := &Builtin{Name: name, Arity: 1, State: true}
	b.compile = func(cp *compiler, e env, at *place, args []syntax.Expr) node {
		x := cp.compile(args[0], e)
		fx, primed := x.fn, e.primed
		n := fnNode(func(c *Ctx) value.Value {
			c.at = at
			return get(c, fx(c), primed)
		}, x)
		n.lvl, n.impure, n.vars = max(n.lvl, 1), true, AllVars
		return n
	}
	return b
}

// Arguments for operators implemented in Go.

// AsInt returns v as an integer or fails.
func AsInt(v value.Value) int64 {
	n, ok := v.(value.Int)
	if !ok {
		value.Fail("expected an integer, found %s: %s", value.KindName(v), value.Short(v))
	}
	return int64(n)
}

// AsSeq returns the elements of a sequence or fails.
func AsSeq(v value.Value) *value.Fcn {
	f, ok := v.(*value.Fcn)
	if !ok || f.Dom != nil {
		value.Fail("expected a sequence, found %s: %s", value.KindName(v), value.Short(v))
	}
	return f
}

// AsFcn returns v as a function or fails.
func AsFcn(v value.Value) *value.Fcn {
	f, ok := v.(*value.Fcn)
	if !ok {
		value.Fail("expected a function, found %s: %s", value.KindName(v), value.Short(v))
	}
	return f
}

// AsStr returns the text of a string or fails.
func AsStr(v value.Value) string {
	a, ok := v.(*value.Atom)
	if !ok || a.Model {
		value.Fail("expected a string, found %s: %s", value.KindName(v), value.Short(v))
	}
	return a.Name
}

// AsBool returns a boolean or fails.
func AsBool(v value.Value) bool {
	b, ok := v.(value.Bool)
	if !ok {
		value.Fail("expected a boolean, found %s: %s", value.KindName(v), value.Short(v))
	}
	return bool(b)
}

// Call applies an operator argument.
func Call(c *Ctx, op value.Value, args ...value.Value) value.Value {
	return c.force(op.(*value.Closure).Call(c, args))
}

// Apply applies a function to an argument, which must be in its domain.
func Apply(f *value.Fcn, k value.Value) value.Value {
	i := f.Index(k)
	if i < 0 {
		value.Fail("function is applied to %s, which is not in its domain %s", value.Short(k), value.Short(f.DomainSet()))
	}
	return f.Vals[i]
}
