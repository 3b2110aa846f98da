package eval

import (
	"fmt"
	"math/big"
	"sync/atomic"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// Bounds on compilation: beyond them definitions get frames of their own, or it is an error.
const (
	maxInlineDepth  = 40
	maxInlineSize   = 60_000
	maxCompileSize  = 3_000_000
	maxCompileDepth = 4_000
)

type compiler struct {
	p      *Program
	nextID int
	size   int
	depth  int
	late   []*symbol
	worlds int
	roots  int
	cells  map[stateKey]int    // numbers of what is remembered for a fixed state
	pseudo map[*symbol]*symbol // inside ENABLED: slots for the next values of substituted expressions
	rec    *actRecorder
	reads  *Vars // the variables whose next values the relation being compiled reads
}

func (cp *compiler) newSlot(e env, name string) *symbol {
	s := &symbol{kind: symSlot, name: name, fc: e.fc, slot: e.fc.n, id: cp.nextID}
	e.fc.n++
	cp.nextID++
	return s
}

// newRoot returns the frame of a root: what the checker evaluates by itself.
func (cp *compiler) newRoot() *fctx {
	cp.roots++
	return &fctx{root: cp.roots - 1}
}

// mark returns the id below which slots are free in what is compiled from here on.
func (cp *compiler) mark() int { return cp.nextID }

func bound(n *node, mark int) {
	switch {
	case n.free >= mark:
		n.free, n.last, n.slot = noFree, 0, nil
	case n.last >= mark:
		n.last = noFree // which others it reads is not known
	}
}

// enter bounds how much is compiled and how deep: a definition may name itself. The function that it returns leaves x.
func (cp *compiler) enter(x syntax.Expr, e env) (leave func()) {
	if cp.size++; cp.size > maxCompileSize {
		loadFail(e.sc.file, x.Pos(), "specification expands to more than %d expressions", maxCompileSize)
	}
	if cp.depth >= maxCompileDepth {
		loadFail(e.sc.file, x.Pos(), "definitions are nested deeper than %d", maxCompileDepth)
	}
	cp.depth++
	return func() { cp.depth-- }
}

// compile compiles an expression. Constant expressions that read no slot are evaluated at most once.
func (cp *compiler) compile(x syntax.Expr, e env) node {
	defer cp.enter(x, e)()
	e.top = false
	n := cp.expr(x, e)
	if n.lvl > 0 || n.impure || n.trivial {
		return n
	}
	if n.closed() {
		return cp.memo(n)
	}
	if n.free == n.last && n.slot != nil && builds(x) {
		return cp.memoBySlot(n)
	}
	return n
}

// memo evaluates a constant on first use and keeps it.
func (cp *compiler) memo(n node) node {
	fn, kept := n.fn, &cp.p.kept
	var cell atomic.Pointer[value.Value]
	get := func(c *Ctx) value.Value {
		if v := cell.Load(); v != nil {
			return *v
		}
		v := c.shareable(fn(c))
		switch v.(type) {
		case *value.Elems, *value.Fcn:
			v = kept.Keep(v)
		default:
		}
		cell.Store(&v)
		return v
	}
	out := node{fn: get, free: noFree, trivial: true, lvl: 0}
	if n.pred != nil {
		out.pred = func(c *Ctx) bool { return bool(get(c).(value.Bool)) }
	}
	return out
}

// shareable makes a value safe for other goroutines: hashes are computed, lazy functions use frames
// private to each goroutine.
func (c *Ctx) shareable(v value.Value) value.Value {
	if f, ok := v.(*value.Lazy); ok {
		return c.shareLazy(f)
	}
	if s, ok := v.(value.Set); ok {
		if _, listed := v.(*value.Elems); !listed {
			if n := s.Len(); n < 0 || n > maxListed {
				return v
			}
			return value.Share(s)
		}
	}
	return c.settle(v)
}

// maxListed bounds the size of a constant set that is kept listed.
const maxListed = 100_000

// maxEager bounds the domain of a constant function that is listed at once.
const maxEager = 2000

// shareLazy lists a constant function when that is cheap and possible; else it stays lazy.
func (c *Ctx) shareLazy(f *value.Lazy) value.Value {
	if n := f.Dom.Len(); n < 0 || n > maxEager {
		return f
	}
	saved, depth := c.f, c.depth
	var out value.Value = f
	if err := c.Guard(func() { out = c.settle(f.List(c)) }); err != nil {
		// Some value is undefined; that matters only if it is asked for.
		c.f, c.depth = saved, depth
		return f
	}
	return out
}

func (cp *compiler) pred(x syntax.Expr, e env) (Pred, node) {
	n := cp.compile(x, e)
	return n.holds(&place{e.sc.file, x.Pos()}), n
}

func (cp *compiler) expr(x syntax.Expr, e env) node {
	switch x := x.(type) {
	case *syntax.Num:
		return cp.number(x, e)
	case *syntax.Str:
		return constNode(cp.p.U.Str(x.Val))
	case *syntax.Paren:
		return cp.compile(x.X, e)
	case *syntax.Label:
		return cp.compile(x.X, e)
	case *syntax.At:
		old := e.sc.lookup("@")
		if old == nil {
			loadFail(e.sc.file, x.P, "'@' stands outside EXCEPT")
		}
		return slotNode(old, e)
	case *syntax.Ref:
		return cp.ref(x, e)
	case *syntax.Op:
		return cp.op(x, e)
	case *syntax.Junction:
		return cp.junction(x.Name, x.Items, e)
	case *syntax.Quant:
		return cp.quant(x, e)
	case *syntax.SetEnum:
		return cp.setEnum(x, e)
	case *syntax.SetFilter:
		return cp.setFilter(x, e)
	case *syntax.SetMap:
		return cp.setMap(x, e)
	case *syntax.FcnDef:
		return cp.fcnDef(x.Bounds, x.Body, e)
	case *syntax.FcnApp:
		return cp.fcnApp(x, e)
	case *syntax.FcnSet:
		return cp.fcnSet(x, e)
	case *syntax.Record:
		return cp.record(x, e)
	case *syntax.Dot:
		return cp.dot(x, e)
	case *syntax.Except:
		return cp.except(x, e)
	case *syntax.Tuple:
		return cp.tuple(x.Elems, e)
	case *syntax.If:
		return cp.ifExpr(x, e)
	case *syntax.Case:
		return cp.caseExpr(x, e)
	case *syntax.Let:
		return cp.let(x, e)
	case *syntax.Box:
		return cp.box(x, e)
	case *syntax.Fair:
		return failNode(e.place(x.P), 3, "fairness is a temporal formula and has no value in a state")
	case *syntax.Lambda:
		loadFail(e.sc.file, x.P, "LAMBDA may stand only as an argument")
	}
	panic(fmt.Sprintf("compile %T", x))
}

func (cp *compiler) number(x *syntax.Num, e env) node {
	text, base := x.Text, 10
	if len(text) > 2 && text[0] == '\\' {
		switch text[1] | 32 {
		case 'b':
			base = 2
		case 'o':
			base = 8
		case 'h':
			base = 16
		}
		text = text[2:]
	}
	n, ok := new(big.Int).SetString(text, base)
	switch {
	case !ok:
		loadFail(e.sc.file, x.P, "'%s' is not an integer; decimal fractions are not supported", x.Text)
	case !n.IsInt64():
		loadFail(e.sc.file, x.P, "integer %s does not fit 64 bits", short(x.Text))
	}
	return constNode(value.MakeInt(n.Int64()))
}

func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (cp *compiler) junction(name string, items []syntax.Expr, e env) node {
	preds := make([]Pred, len(items))
	nodes := make([]node, len(items))
	for i, it := range items {
		preds[i], nodes[i] = cp.pred(it, e)
	}
	if len(preds) == 1 {
		return predNode(preds[0], nodes...)
	}
	p := preds[len(preds)-1]
	for i := len(preds) - 2; i >= 0; i-- {
		a, b := preds[i], p
		if name == "/\\" {
			p = func(c *Ctx) bool { return a(c) && b(c) }
		} else {
			p = func(c *Ctx) bool { return a(c) || b(c) }
		}
	}
	return predNode(p, nodes...)
}

func (cp *compiler) ifExpr(x *syntax.If, e env) node {
	cond, cn := cp.pred(x.Cond, e)
	a, b := cp.compile(x.Then, e), cp.compile(x.Else, e)
	fa, fb := a.fn, b.fn
	n := fnNode(func(c *Ctx) value.Value {
		if cond(c) {
			return fa(c)
		}
		return fb(c)
	}, cn, a, b)
	if a.pred != nil && b.pred != nil {
		pa, pb := a.pred, b.pred
		n.pred = func(c *Ctx) bool {
			if cond(c) {
				return pa(c)
			}
			return pb(c)
		}
	}
	return n
}

func (cp *compiler) caseExpr(x *syntax.Case, e env) node {
	at := e.place(x.P)
	n := node{free: noFree}
	conds := make([]Pred, len(x.Arms))
	bodies := make([]Fn, len(x.Arms))
	for i, a := range x.Arms {
		if a.Cond != nil {
			var cn node
			conds[i], cn = cp.pred(a.Cond, e)
			n.under(cn)
		}
		b := cp.compile(a.Body, e)
		bodies[i] = b.fn
		n.under(b)
	}
	n.fn = func(c *Ctx) value.Value {
		for i, p := range conds {
			if p == nil || p(c) {
				return bodies[i](c)
			}
		}
		c.fail(at, "no condition of CASE holds and there is no OTHER")
		return nil
	}
	return n
}

// let binds definitions; those without parameters are evaluated at most once per evaluation of LET.
func (cp *compiler) let(x *syntax.Let, e env) node {
	mark := cp.mark()
	e2, reset := cp.letScope(x, e)
	n := cp.compile(x.Body, e2)
	if len(reset) > 0 {
		n = resetNode(n, reset)
	}
	bound(&n, mark)
	return n
}

func resetNode(n node, slots []int) node {
	fn, pred := n.fn, n.pred
	forget := func(c *Ctx) {
		for _, s := range slots {
			c.f.s[s] = nil
		}
	}
	n.fn = func(c *Ctx) value.Value { forget(c); return fn(c) }
	if pred != nil {
		n.pred = func(c *Ctx) bool { forget(c); return pred(c) }
	}
	n.trivial, n.konst, n.late = false, nil, nil
	return n
}

func (cp *compiler) letScope(x *syntax.Let, e env) (env, []int) {
	sc := e.sc.child()
	e2 := e.with(sc)
	var reset []int
	for _, d := range x.Defs {
		switch d := d.(type) {
		case *syntax.Recursive:
			for _, r := range d.Params {
				sc.m[r.Name] = &symbol{kind: symDef, name: r.Name, recursive: true, sc: sc, arity: r.Arity, at: e.place(d.P)}
			}
		case *syntax.Instance:
			sc.m[d.Name] = &symbol{kind: symInst, name: d.Name, inst: d, sc: sc, arity: len(d.Params), at: e.place(d.P)}
		case *syntax.Def:
			// A definition sees those before it; a scope of its own keeps an outer meaning of its name.
			sym := define(sc, d, false, nil)
			if len(d.Params) == 0 && !sym.recursive {
				sym.fc, sym.slot, sym.id = nil, -1, -1
				s := cp.newSlot(e, d.Name)
				s.def, s.sc, s.at, s.kind = d, sc, sym.at, symDef
				s.recursive = sym.recursive
				s.primed, s.world = e.primed, e.world
				sc.m[d.Name] = s
				reset = append(reset, s.slot)
			}
		}
	}
	return e2, reset
}
