package eval

import (
	"strconv"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// target is what a name denotes: a symbol to be applied to args, or with x a part of a definition's
// body together with its scope.
type target struct {
	sym  *symbol
	args []syntax.Expr
	x    syntax.Expr
	sc   *scope
}

// resolveRef follows the parts of a name through instances, labels and selectors. Arguments belong to e.
func (cp *compiler) resolveRef(x *syntax.Ref, e env) target {
	first := x.Parts[0]
	sym := e.sc.lookup(first.Name)
	if sym == nil {
		loadFail(e.sc.file, x.P, "'%s' is not declared or defined here", first.Name)
	}
	for i := 0; ; i++ {
		part := x.Parts[i]
		sym = cp.alias(sym, len(part.Args))
		if i == len(x.Parts)-1 {
			return target{sym: sym, args: part.Args}
		}
		if sym.kind == symInst {
			m := cp.instance(sym, part.Args, e, x.P)
			next := x.Parts[i+1].Name
			s, ok := m.export[next]
			if !ok {
				loadFail(e.sc.file, x.P, "module %s has no definition '%s'", m.name, next)
			}
			for s.resolve != nil {
				s = s.resolve
			}
			sym = s
			continue
		}
		if sym.kind != symDef || sym.def == nil {
			loadFail(e.sc.file, x.P, "'%s' has no part '%s'", part.Name, x.Parts[i+1].Name)
		}
		return cp.selectPart(sym, part.Args, x.Parts[i+1:], e, x.P)
	}
}

// alias follows names that stand for another operator or variable without arguments of their own.
func (cp *compiler) alias(s *symbol, nargs int) *symbol {
	for range 50 {
		if s.kind != symByName || s.lambda != nil {
			return s
		}
		r, ok := strip(s.expr).(*syntax.Ref)
		if !ok || len(r.Parts) != 1 || len(r.Parts[0].Args) > 0 {
			return s
		}
		next := s.sc.lookup(r.Parts[0].Name)
		if next == nil || next == s {
			return s
		}
		s = next
	}
	return s
}

func strip(x syntax.Expr) syntax.Expr {
	for {
		switch y := x.(type) {
		case *syntax.Paren:
			x = y.X
		case *syntax.Label:
			x = y.X
		default:
			return x
		}
	}
}

// instance builds the module of a named instance with its parameters bound to args.
func (cp *compiler) instance(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) *modEnv {
	if len(args) != len(s.inst.Params) {
		loadFail(e.sc.file, pos, "instance %s needs %d arguments, found %d", s.name, len(s.inst.Params), len(args))
	}
	if len(args) == 0 {
		if s.mod == nil {
			if s.busy {
				loadFail(e.sc.file, pos, "instance %s is defined in terms of itself", s.name)
			}
			s.busy = true
			s.mod = cp.p.instantiate(s.inst, s.sc)
			s.busy = false
		}
		return s.mod
	}
	sc := s.sc.child()
	for i, q := range s.inst.Params {
		sc.m[q.Name] = &symbol{kind: symByName, name: q.Name, expr: args[i], sc: e.sc, arity: q.Arity}
	}
	return cp.p.instantiate(s.inst, sc)
}

func (cp *compiler) selectPart(s *symbol, args []syntax.Expr, parts []syntax.Part, e env, pos syntax.Pos) target {
	sc := s.sc.child()
	if len(args) == len(s.def.Params) {
		for i, q := range s.def.Params {
			sc.m[q.Name] = &symbol{kind: symByName, name: q.Name, expr: args[i], sc: e.sc, arity: q.Arity}
		}
	}
	x := s.def.Body
	for _, part := range parts {
		y, sc2 := selector(x, part, sc, e)
		if y == nil {
			loadFail(e.sc.file, pos, "'%s' does not select a part of %s", part.Name, s.name)
		}
		x, sc = y, sc2
	}
	return target{x: x, sc: sc}
}

func selector(x syntax.Expr, part syntax.Part, sc *scope, e env) (syntax.Expr, *scope) {
	if n, err := strconv.Atoi(part.Name); err == nil || part.Name == "<<" || part.Name == ">>" {
		if part.Name == "<<" {
			n = 1
		} else if part.Name == ">>" {
			n = 2
		}
		if l, ok := x.(*syntax.Label); ok {
			x = l.X
		}
		kids := children(x)
		if n < 1 || n > len(kids) {
			return nil, nil
		}
		return kids[n-1], sc
	}
	if part.Name == ":" {
		return x, sc
	}
	if q, ok := strip(x).(*syntax.Quant); ok && (part.Name == "()" || part.Name == "@") {
		sc = sc.child()
		i := 0
		for _, b := range q.Bounds {
			for _, name := range b.Names {
				if i < len(part.Args) {
					sc.m[name] = &symbol{kind: symByName, name: name, expr: part.Args[i], sc: e.sc}
				}
				i++
			}
		}
		return q.Body, sc
	}
	return findLabel(x, part, sc, e, 0)
}

func children(x syntax.Expr) []syntax.Expr {
	switch x := x.(type) {
	case *syntax.Junction:
		return x.Items
	case *syntax.Op:
		return x.Args
	case *syntax.If:
		return []syntax.Expr{x.Cond, x.Then, x.Else}
	case *syntax.Paren:
		return children(x.X)
	case *syntax.Let:
		return children(x.Body)
	case *syntax.Tuple:
		return x.Elems
	case *syntax.SetEnum:
		return x.Elems
	case *syntax.Quant:
		return []syntax.Expr{x.Body}
	case *syntax.Box:
		return []syntax.Expr{x.A, x.V}
	case *syntax.Ref:
		return x.Parts[len(x.Parts)-1].Args
	}
	return nil
}

func findLabel(x syntax.Expr, part syntax.Part, sc *scope, e env, depth int) (syntax.Expr, *scope) {
	if depth > 100 {
		return nil, nil
	}
	if l, ok := x.(*syntax.Label); ok {
		if l.Name == part.Name {
			if len(l.Params) > 0 && len(l.Params) == len(part.Args) {
				sc = sc.child()
				for i, name := range l.Params {
					sc.m[name] = &symbol{kind: symByName, name: name, expr: part.Args[i], sc: e.sc}
				}
			}
			return l.X, sc
		}
		return findLabel(l.X, part, sc, e, depth+1)
	}
	if l, ok := x.(*syntax.Let); ok {
		for _, d := range l.Defs {
			if def, ok := d.(*syntax.Def); ok && def.Name == part.Name {
				return def.Body, sc
			}
		}
	}
	for _, k := range children(x) {
		if y, s := findLabel(k, part, sc, e, depth+1); y != nil {
			return y, s
		}
	}
	return nil, nil
}

func (cp *compiler) ref(x *syntax.Ref, e env) node {
	if len(x.Parts) == 1 {
		switch x.Parts[0].Name {
		case "TRUE":
			return constNode(value.True)
		case "FALSE":
			return constNode(value.False)
		case "BOOLEAN":
			return constNode(booleans)
		case "STRING":
			return constNode(&value.Infinite{Name: "STRING"})
		}
		if core[x.Parts[0].Name] {
			return cp.op(&syntax.Op{Node: x.Node, Name: x.Parts[0].Name, Args: x.Parts[0].Args}, e)
		}
	}
	t := cp.resolveRef(x, e)
	if t.x != nil {
		return cp.compile(t.x, e.with(t.sc))
	}
	return cp.apply(t.sym, t.args, e, x.P)
}

var booleans = func() value.Value {
	s := value.NewSorted([]value.Value{value.False, value.True})
	s.Hash()
	return s
}()

// apply compiles the application of a symbol to arguments that belong to e.
func (cp *compiler) apply(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) node {
	n := cp.applyAnew(s, args, e, pos)
	if len(args) == 0 && (s.kind == symByName && s.lambda == nil || s.kind == symDef && s.def != nil && s.fc == nil) {
		return cp.memoState(s, n, e)
	}
	return n
}

func (cp *compiler) applyAnew(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) node {
	at := e.place(pos)
	if e.enab && e.primed && len(args) == 0 && cp.pseudo != nil {
		if slot := cp.pseudoOf(s, e); slot != nil {
			return cp.pseudoNode(s, slot, e, pos)
		}
	}
	switch s.kind {
	case symVar:
		return cp.varNode(s, e, at)
	case symConst:
		if s.val == nil {
			loadFail(e.sc.file, pos, "constant %s has no value, the configuration must assign one", s.name)
		}
		return constNode(s.val)
	case symByName:
		return cp.applyByName(s, args, e, pos)
	case symSlot:
		if s.init != nil && (s.primed != e.primed || s.world != e.world) {
			return cp.compile(s.expr, e.with(s.sc))
		}
		return slotNode(s, e)
	case symNode:
		if s.primed != e.primed || s.world != e.world {
			return cp.compile(s.expr, e.with(s.sc))
		}
		return *s.init
	case symBuiltin:
		return cp.callBuiltin(s, args, e, at)
	case symOpSlot:
		return cp.callClosure(s, args, e, at)
	case symInst:
		loadFail(e.sc.file, pos, "instance %s is not an expression", s.name)
	default:
	}
	if s.fc != nil {
		return cp.letRef(s, e, pos)
	}
	return cp.applyDef(s, args, e, pos)
}

// letRef refers to a definition of LET that has a slot.
func (cp *compiler) letRef(s *symbol, e env, pos syntax.Pos) node {
	if s.self != nil {
		return slotNode(s.self, e)
	}
	if s.busy {
		loadFail(e.sc.file, pos, "'%s' is defined in terms of itself without RECURSIVE", s.name)
	}
	if s.primed != e.primed || s.world != e.world || !e.fc.within(s.fc) {
		return cp.defBody(s, e.with(s.sc))
	}
	if s.init == nil {
		s.busy = true
		e2 := env{sc: s.sc, fc: s.fc, primed: s.primed, world: s.world, mode: e.mode, depth: e.depth + 1}
		n := cp.defBody(s, e2)
		s.init = &n
		s.busy = false
	}
	n := *s.init
	switch {
	case n.trivial:
		if n.closed() || e.fc == s.fc {
			return n
		}
	case n.lvl >= 2:
		if e.fc == s.fc {
			return n
		}
		return cp.defBody(s, e.with(s.sc))
	}
	return slotNode(s, e)
}

func (f *fctx) within(owner *fctx) bool {
	for ; f != nil; f = f.up {
		if f == owner {
			return true
		}
	}
	return false
}

// defBody compiles the body of a definition without parameters, as a function if it is one.
func (cp *compiler) defBody(s *symbol, e env) node {
	e.depth++
	if s.def.Bounds != nil {
		return cp.fcnValue(s, e)
	}
	return cp.compile(s.def.Body, e)
}

func (cp *compiler) varNode(s *symbol, e env, at *place) node {
	i, name := s.idx, s.name
	if e.primed {
		if cp.reads != nil {
			*cp.reads |= VarSet(i)
		}
		n := fnNode(func(c *Ctx) value.Value {
			if v := c.Next[i]; v != nil {
				return v
			}
			panic(&Error{File: at.file, Pos: at.pos, Msg: name + "' has no value yet", unassigned: true})
		})
		n.lvl, n.trivial, n.vars = 2, true, VarSet(i)
		return n
	}
	n := fnNode(func(c *Ctx) value.Value {
		if v := c.Cur[i]; v != nil {
			return v
		}
		c.fail(at, "variable %s has no value yet", name)
		return nil
	})
	n.lvl, n.trivial, n.vars = 1, true, VarSet(i)
	return n
}

// applyDef compiles the application of a definition, in place or as a call with a frame.
func (cp *compiler) applyDef(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) node {
	if s.def == nil {
		loadFail(e.sc.file, pos, "'%s' is declared RECURSIVE but not defined", s.name)
	}
	if len(args) != len(s.def.Params) {
		loadFail(e.sc.file, pos, "'%s' needs %d arguments, found %d", s.name, len(s.def.Params), len(args))
	}
	if s.self != nil {
		return slotNode(s.self, e)
	}
	if len(args) == 0 {
		if n := cp.constant(s); n != nil {
			return *n
		}
	}
	if s.recursive || e.depth > maxInlineDepth || cp.size > maxInlineSize {
		if s.def.Bounds != nil {
			return cp.fcnValue(s, e.with(s.sc))
		}
		return cp.call(s, args, e, pos)
	}
	if len(args) == 0 {
		return cp.defBody(s, e.with(s.sc))
	}
	mark := cp.mark()
	e2, reset := cp.bind(s, args, e)
	n := cp.compile(s.def.Body, e2)
	if len(reset) > 0 {
		n = resetNode(n, reset)
	}
	bound(&n, mark)
	return n
}

// constant returns the shared value of a definition without parameters if it is a constant.
func (cp *compiler) constant(s *symbol) *node {
	if s.tried || s.recursive && s.def.Bounds == nil {
		return s.cell
	}
	if s.busy {
		return nil
	}
	s.busy = true
	cp.depth++
	if cp.depth > maxCompileDepth/4 {
		loadFail(s.at.file, s.at.pos, "'%s' is defined in terms of itself or nested too deep", s.name)
	}
	fc := &fctx{trial: true}
	e := env{sc: s.sc, fc: fc}
	n := cp.defBody(s, e)
	cp.depth--
	s.busy, s.tried = false, true
	if n.lvl > 0 || !n.closed() {
		return nil
	}
	if n.konst != nil {
		s.cell = &n
		return s.cell
	}
	fn := n.fn
	framed := node{free: noFree, pred: n.pred, fn: func(c *Ctx) value.Value {
		saved := c.f
		c.f = &Frame{s: make([]value.Value, fc.n)}
		v := fn(c)
		c.f = saved
		return v
	}}
	m := cp.memo(framed)
	s.cell = &m
	return s.cell
}
