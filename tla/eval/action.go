package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// ActionInfo names an action: a definition reached from the root of a next-state relation through
// disjunctions, quantifiers and definitions only.
type ActionInfo struct {
	Name string
	File string
	Pos  syntax.Pos
	// Parent marks a definition that only combines other named actions.
	Parent bool
}

// actRecorder collects the actions of a relation while it is compiled.
type actRecorder struct {
	infos []ActionInfo
	conj  []ActionInfo
	count bool
	uses  int
}

// Action is a compiled next-state or initial relation.
type Action struct {
	act Act
	fc  *fctx
	// Infos lists the named actions; Ctx.Action is an index into it. Conjuncts lists the conjuncts that
	// are counted.
	Infos     []ActionInfo
	Conjuncts []ActionInfo
}

// Each enumerates the states the relation allows; emit is called with the assigned state in c and
// returns true to stop.
func (a *Action) Each(c *Ctx, emit func(c *Ctx) bool) error {
	saved, before := c.emit, c.f
	c.emit = emit
	err := c.run(a, before)
	c.emit = saved
	return err
}

func (c *Ctx) run(a *Action, before *Frame) (err error) {
	defer c.guard(before, c.rest, &err)
	c.open(a.fc)
	a.act(c)
	c.close(a.fc, before)
	return nil
}

// act compiles an action whose rest is k.
func (cp *compiler) act(x syntax.Expr, e env, k Act) Act {
	defer cp.enter(x, e)()
	switch x := x.(type) {
	case *syntax.Paren:
		return cp.act(x.X, e, k)
	case *syntax.Label:
		return cp.act(x.X, e, k)
	case *syntax.Junction:
		if x.Name == "\\/" {
			return cp.disjunction(x.Items, e, k)
		}
		return cp.conjunction(x.Items, e, k)
	case *syntax.Op:
		return cp.actOp(x, e, k)
	case *syntax.Quant:
		return cp.actQuant(x, e, k)
	case *syntax.If:
		return cp.actIf(x, e, k)
	case *syntax.Case:
		return cp.actCase(x, e, k)
	case *syntax.Let:
		e2, reset := cp.letScope(x, e)
		return resetAct(cp.act(x.Body, e2, k), reset)
	case *syntax.Ref:
		return cp.actRef(x, e, k)
	case *syntax.Box:
		return cp.actBox(x, e, k)
	}
	return cp.actPred(x, e, k)
}

func (cp *compiler) actPred(x syntax.Expr, e env, k Act) Act {
	p, n := cp.pred(x, e)
	if n.lvl >= 3 {
		loadFail(e.sc.file, x.Pos(), "a temporal formula cannot be part of an action")
	}
	if e.enab && n.lvl >= 2 {
		p = optimistic(p)
	}
	if e.inner && n.lvl == 1 && decides(x) {
		// It may depend on nothing that the quantifier binds.
		p = cp.memoState(&symbol{name: "guard"}, n, e).holds(e.place(x.Pos()))
	}
	return func(c *Ctx) bool { return p(c) && k(c) }
}

// decides reports whether deciding x takes longer than remembering it.
func decides(x syntax.Expr) bool {
	op, ok := strip(x).(*syntax.Op)
	return ok && (op.Name == "\\in" || op.Name == "\\notin" || op.Name == "\\subseteq") || builds(strip(x))
}

// optimistic decides a condition of ENABLED on variables that the action does not assign, which
// happens when a refinement substitutes an expression for a variable: some value is taken to exist.
func optimistic(p Pred) Pred {
	return func(c *Ctx) (ok bool) {
		saved, depth, cur, next, fixed := c.f, c.depth, c.Cur, c.Next, c.fixed
		defer func() {
			if r := recover(); r != nil {
				e, is := r.(*Error)
				if !is || !e.unassigned {
					panic(r)
				}
				c.f, c.depth, c.Cur, c.Next, c.fixed, ok = saved, depth, cur, next, fixed, true
			}
		}()
		return p(c)
	}
}

func resetAct(a Act, slots []int) Act {
	if len(slots) == 0 {
		return a
	}
	return func(c *Ctx) bool {
		for _, s := range slots {
			c.f.s[s] = nil
		}
		return a(c)
	}
}

func (cp *compiler) conjunction(items []syntax.Expr, e env, k Act) Act {
	// Slots are allocated in source order by compiling from the last item: order does not matter,
	// because every slot of an action is its own.
	e.top = e.top && len(items) == 1
	for i := len(items) - 1; i >= 0; i-- {
		k = cp.counted(items[i], e, cp.act(items[i], e, k))
	}
	return k
}

// counted wraps a conjunct so that its evaluations are counted when coverage is asked for.
func (cp *compiler) counted(x syntax.Expr, e env, a Act) Act {
	if cp.rec == nil || !cp.rec.count {
		return a
	}
	i := len(cp.rec.conj)
	cp.rec.conj = append(cp.rec.conj, ActionInfo{File: e.sc.file, Pos: x.Pos(), Name: firstLine(x)})
	return func(c *Ctx) bool {
		if c.Counts != nil {
			c.Counts[i]++
		}
		return a(c)
	}
}

func firstLine(x syntax.Expr) string {
	s := syntax.Format(x)
	for i, r := range s {
		if r == '\n' || i > 60 {
			return s[:i] + " …"
		}
	}
	return s
}

func (cp *compiler) disjunction(items []syntax.Expr, e env, k Act) Act {
	acts := make([]Act, len(items))
	for i, it := range items {
		acts[i] = cp.act(it, e, k)
	}
	if len(acts) == 2 {
		a, b := acts[0], acts[1]
		return func(c *Ctx) bool { return a(c) || b(c) }
	}
	return func(c *Ctx) bool {
		for _, a := range acts {
			if a(c) {
				return true
			}
		}
		return false
	}
}

func (cp *compiler) actOp(x *syntax.Op, e env, k Act) Act {
	switch x.Name {
	case "/\\":
		return cp.conjunction(x.Args, e, k)
	case "\\/":
		return cp.disjunction(x.Args, e, k)
	case "=":
		if v, ok := cp.assignable(x.Args[0], e); ok {
			return cp.assign(v, x, e, k)
		}
		if s, ok := cp.substituted(x.Args[0], e, true); ok {
			return pseudoAssign(s.slot, cp.compile(x.Args[1], e).fn, e.place(x.P), k)
		}
	case "\\in":
		if v, ok := cp.assignable(x.Args[0], e); ok {
			return cp.assignIn(v, x, e, k)
		}
		if s, ok := cp.substituted(x.Args[0], e, true); ok {
			return pseudoAssignIn(s.slot, cp.compile(x.Args[1], e).fn, e.place(x.P), k)
		}
	case "UNCHANGED":
		if e.mode == assignNext && !e.primed {
			return cp.actUnchanged(x.Args[0], e, k)
		}
	case "=>":
		p, _ := cp.pred(x.Args[0], e)
		rest := cp.act(x.Args[1], e, k)
		return func(c *Ctx) bool {
			if p(c) {
				return rest(c)
			}
			return k(c)
		}
	case "\\cdot":
		return cp.compose(x, e, k)
	}
	if !core[x.Name] {
		if s := e.sc.lookup(x.Name); s != nil {
			return cp.actApply(cp.alias(s, len(x.Args)), x.Args, x, e, k)
		}
	}
	return cp.actPred(x, e, k)
}

// assignable reports the variable that x denotes when the action assigns it: x' in a next-state
// relation, x in an initial one.
func (cp *compiler) assignable(x syntax.Expr, e env) (*symbol, bool) {
	x, e = cp.follow(strip(x), e)
	if e.mode == assignNext {
		p, ok := x.(*syntax.Op)
		if !ok || p.Name != "'" || e.primed {
			if !e.primed {
				return nil, false
			}
			// Inside a primed action every variable is one of the next state.
			return cp.variable(x, e)
		}
		x = strip(p.Args[0])
	} else if e.primed {
		return nil, false
	}
	return cp.variable(x, e)
}

// follow replaces a parameter by the argument that is substituted for it.
func (cp *compiler) follow(x syntax.Expr, e env) (syntax.Expr, env) {
	for range 50 {
		r, ok := x.(*syntax.Ref)
		if !ok || len(r.Parts) != 1 || len(r.Parts[0].Args) > 0 {
			break
		}
		s := e.sc.lookup(r.Parts[0].Name)
		if s == nil || s.kind != symByName || s.lambda != nil {
			break
		}
		x, e = strip(s.expr), e.with(s.sc)
	}
	return x, e
}

func (cp *compiler) variable(x syntax.Expr, e env) (*symbol, bool) {
	for range 50 {
		r, ok := strip(x).(*syntax.Ref)
		if !ok || len(r.Parts[len(r.Parts)-1].Args) > 0 || core[r.Parts[0].Name] || e.sc.lookup(r.Parts[0].Name) == nil {
			return nil, false
		}
		t := cp.resolveRef(r, e)
		switch {
		case t.x != nil:
			return nil, false
		case t.sym.kind == symVar:
			return t.sym, true
		case t.sym.kind == symByName:
			x, e = t.sym.expr, e.with(t.sym.sc)
		case t.sym.kind == symNode:
			x, e = t.sym.expr, e.with(t.sym.sc)
		case t.sym.kind == symDef && t.sym.def != nil && len(t.sym.def.Params) == 0 && t.sym.def.Bounds == nil:
			x, e = t.sym.def.Body, e.with(t.sym.sc)
		default:
			return nil, false
		}
	}
	return nil, false
}

func (cp *compiler) assign(v *symbol, x *syntax.Op, e env, k Act) Act {
	n := cp.compile(x.Args[1], e)
	fn, i := n.fn, v.idx
	at := e.place(x.P)
	cur := e.mode == assignCur
	plain := func(c *Ctx) bool {
		s := c.Next
		if cur {
			s = c.Cur
		}
		if old := made(s, i); old != nil {
			val := c.force(fn(c))
			c.at = at
			return (old == val || value.Equal(old, val)) && k(c)
		}
		s[i] = c.keep(fn(c), at)
		stop := k(c)
		s[i] = nil
		return stop
	}
	if n.late == nil || cur || e.enab || cp.reads == nil {
		return plain
	}
	late, reads := n.late, cp.reads
	return func(c *Ctx) bool {
		if c.pending == nil || *reads&VarSet(i) != 0 || c.Next[i] != nil {
			return plain(c)
		}
		v := late(c, &c.pending[i])
		if _, ok := v.(*value.Pending); !ok {
			v = c.keep(v, at)
		}
		c.Next[i] = v
		stop := k(c)
		c.Next[i] = nil
		return stop
	}
}

func (cp *compiler) assignIn(v *symbol, x *syntax.Op, e env, k Act) Act {
	n := cp.compile(x.Args[1], e)
	fn, i := n.fn, v.idx
	at := e.place(x.P)
	cur := e.mode == assignCur
	return func(c *Ctx) bool {
		s := c.Next
		if cur {
			s = c.Cur
		}
		set := c.set(fn(c), at)
		c.at = at
		if old := made(s, i); old != nil {
			return set.Contains(old) && k(c)
		}
		done := set.Each(func(val value.Value) bool {
			s[i] = c.keep(val, at)
			return !k(c)
		})
		s[i] = nil
		return !done
	}
}

// actUnchanged assigns each variable of a tuple, or of a definition that stands for one, its value.
func (cp *compiler) actUnchanged(x syntax.Expr, e env, k Act) Act {
	defer cp.enter(x, e)()
	if v, ok := cp.variable(x, e); ok {
		return keepVar(v.idx, e.place(x.Pos()), k)
	}
	if cp.stands(x, e) {
		if s, ok := cp.substituted(x, e, false); ok {
			return pseudoAssign(s.slot, cp.compile(x, e).fn, e.place(x.Pos()), k)
		}
	}
	switch y := strip(x).(type) {
	case *syntax.Tuple:
		if vars := cp.variables(y.Elems, e, maxTuples); vars != nil {
			return keepVars(vars, e.place(x.Pos()), k)
		}
		for i := len(y.Elems) - 1; i >= 0; i-- {
			k = cp.actUnchanged(y.Elems[i], e, k)
		}
		return k
	case *syntax.Ref:
		t := cp.resolveRef(y, e)
		switch {
		case t.x != nil:
			return cp.actUnchanged(t.x, e.with(t.sc), k)
		case t.sym.kind == symDef && t.sym.def != nil && len(t.sym.def.Params) == 0 && t.sym.def.Bounds == nil:
			return cp.actUnchanged(t.sym.def.Body, e.with(t.sym.sc), k)
		case t.sym.kind == symByName:
			return cp.actUnchanged(t.sym.expr, e.with(t.sym.sc), k)
		}
	}
	p := cp.unchanged(x, e, e.place(x.Pos())).pred
	if e.enab {
		p = optimistic(p)
	}
	return func(c *Ctx) bool { return p(c) && k(c) }
}

// stands reports whether x names an expression that is no tuple of variables.
func (cp *compiler) stands(x syntax.Expr, e env) bool {
	if !e.enab {
		return false
	}
	for range 50 {
		switch y := strip(x).(type) {
		case *syntax.Tuple:
			return false
		case *syntax.Ref:
			if isWord(y) || len(y.Parts) != 1 || len(y.Parts[0].Args) > 0 {
				return true
			}
			s := e.sc.lookup(y.Parts[0].Name)
			switch {
			case s == nil:
				return false
			case s.kind == symByName && s.lambda == nil:
				x, e = s.expr, e.with(s.sc)
			case s.kind == symDef && s.def != nil && len(s.def.Params) == 0 && s.def.Bounds == nil:
				x, e = s.def.Body, e.with(s.sc)
			default:
				return s.kind != symVar
			}
		default:
			return true
		}
	}
	return false
}

// variables returns the variables that the expressions denote, or nil when one is none.
func (cp *compiler) variables(elems []syntax.Expr, e env, depth int) (out []int) {
	for _, x := range elems {
		if v, ok := cp.variable(x, e); ok {
			out = append(out, v.idx)
			continue
		}
		parts, of := cp.tupleParts(x, e)
		if depth == 0 || len(parts) == 0 {
			return nil
		}
		within := cp.variables(parts, of, depth-1)
		if within == nil {
			return nil
		}
		out = append(out, within...)
	}
	return out
}

// maxTuples bounds how deep tuples of variables are named within each other.
const maxTuples = 8

// keepVars is keepVar of each, in one go when none has a next value yet.
func keepVars(vars []int, at *place, k Act) Act {
	one := k
	for _, i := range vars {
		one = keepVar(i, at, one)
	}
	return func(c *Ctx) bool {
		next, cur := c.Next, c.Cur
		for _, i := range vars {
			if next[i] != nil {
				return one(c)
			}
		}
		for _, i := range vars {
			next[i] = cur[i]
		}
		stop := k(c)
		for _, i := range vars {
			next[i] = nil
		}
		return stop
	}
}

func keepVar(i int, at *place, k Act) Act {
	return func(c *Ctx) bool {
		cur := c.Cur[i]
		if c.Next[i] != nil {
			old := made(c.Next, i)
			c.at = at
			return (old == cur || value.Equal(old, cur)) && k(c)
		}
		c.Next[i] = cur
		stop := k(c)
		c.Next[i] = nil
		return stop
	}
}
