package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// hops counts the frames between the current one and that of owner, or -1.
func (f *fctx) hops(owner *fctx) int {
	for n := 0; f != nil; f, n = f.up, n+1 {
		if f == owner {
			return n
		}
	}
	return -1
}

// slotNode reads a slot, filling it first when it is evaluated on demand.
func slotNode(s *symbol, e env) node {
	h := e.fc.hops(s.fc)
	i, name := s.slot, s.name
	n := node{free: s.id, last: s.id, trivial: true}
	if h < 0 {
		at := e.place(syntax.Pos{})
		n.fn = func(c *Ctx) value.Value {
			c.fail(at, "'%s' is read outside its scope", name)
			return nil
		}
		return n
	}
	if s.init != nil && s.kind != symOpSlot {
		init := s.init.fn
		n.lvl, n.impure, n.vars = s.init.lvl, s.init.impure, s.init.vars
		n.reads(s.init.free)
		n.last = max(n.last, s.init.last)
		n.fn = lazySlot(h, i, init)
		return n
	}
	switch h {
	case 0:
		n.fn = func(c *Ctx) value.Value { return c.f.s[i] }
	case 1:
		n.fn = func(c *Ctx) value.Value { return c.f.up.s[i] }
	default:
		n.fn = func(c *Ctx) value.Value { return ancestor(c.f, h).s[i] }
	}
	n.slot = n.fn
	return n
}

func ancestor(f *Frame, h int) *Frame {
	for ; h > 0; h-- {
		f = f.up
	}
	return f
}

func lazySlot(h, i int, init Fn) Fn {
	if h == 0 {
		return func(c *Ctx) value.Value {
			f := c.f
			if v := f.s[i]; v != nil {
				return v
			}
			v := init(c)
			f.s[i] = v
			return v
		}
	}
	return func(c *Ctx) value.Value {
		f := ancestor(c.f, h)
		if v := f.s[i]; v != nil {
			return v
		}
		saved := c.f
		c.f = f
		v := init(c)
		c.f = saved
		f.s[i] = v
		return v
	}
}

// call compiles a call of a definition that gets a frame of its own.
func (cp *compiler) call(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) node {
	key := callKey{s, e.primed, e.world}
	at := e.place(pos)
	argFns, n := cp.callArgs(s, args, e)
	for f, h := e.fc, 0; f != nil; f, h = f.up, h+1 {
		if f.def != nil && f.key == key {
			callee := f.up.calls[key]
			n.fn = callFn(callee, argFns, h+1, at)
			n.lvl = max(n.lvl, s.lvlHint)
			n.vars = AllVars
			n.reads(f.mark) // not a constant while the body is still being compiled
			return n
		}
	}
	if e.fc.calls == nil {
		e.fc.calls = map[callKey]*callee{}
	}
	ce, ok := e.fc.calls[key]
	if !ok {
		ce = &callee{fc: &fctx{up: e.fc, def: s, key: key, trial: e.fc.trial}}
		e.fc.calls[key] = ce
		ce.node.free = noFree
		mark := cp.mark()
		ce.fc.mark = mark
		cp.nextID++
		sc := s.sc.child()
		e2 := env{sc: sc, fc: ce.fc, primed: e.primed, world: e.world, mode: e.mode}
		cp.params(s, sc, e2)
		body := cp.compile(s.def.Body, e2)
		bound(&body, mark)
		body.slot = nil // it reads from the frame of the callee
		ce.node = body
		s.lvlHint = body.lvl
	}
	n.under(ce.node)
	n.fn = callFn(ce, argFns, 0, at)
	return n
}

// params gives the parameters of a definition slots in the frame of e.
func (cp *compiler) params(s *symbol, sc *scope, e env) {
	for _, q := range s.def.Params {
		p := cp.newSlot(e, q.Name)
		if q.Arity > 0 {
			p.kind, p.arity = symOpSlot, q.Arity
		}
		sc.m[q.Name] = p
	}
}

func (cp *compiler) callArgs(s *symbol, args []syntax.Expr, e env) ([]Fn, node) {
	n := node{free: noFree}
	fns := make([]Fn, len(args))
	for i, a := range args {
		if q := s.def.Params[i]; q.Arity > 0 {
			fns[i] = cp.closure(a, q.Arity, e, &n)
			continue
		}
		x := cp.compile(a, e)
		n.under(x)
		fns[i] = x.fn
		if !x.trivial {
			fns[i] = deferFault(x.fn)
		}
	}
	return fns, n
}

// fault stands in a slot for an argument whose evaluation failed; it fails when it is used.
type fault struct{ err any }

// Hash implements value.Value by repeating the fault.
func (f *fault) Hash() uint64 { panic(f.err) }

// String implements value.Value by repeating the fault.
func (f *fault) String() string { panic(f.err) }

// deferFault evaluates an argument of a call; a fault matters only if the argument is used.
func deferFault(fn Fn) Fn {
	return func(c *Ctx) (v value.Value) {
		saved, depth := c.f, c.depth
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(*value.Error); ok && c.at != nil {
					r = &Error{File: c.at.file, Pos: c.at.pos, Msg: r.(*value.Error).Msg}
				}
				e, ok := r.(*Error)
				if !ok || depth > 500 {
					panic(r)
				}
				c.f, c.depth = saved, depth
				v = &fault{e}
			}
		}()
		return fn(c)
	}
}

// callFn calls ce in a new frame whose parent is the frame up levels above the caller's.
func callFn(ce *callee, args []Fn, up int, at *place) Fn {
	return func(c *Ctx) value.Value {
		f := &Frame{s: make([]value.Value, ce.fc.n), up: ancestor(c.f, up)}
		for i, a := range args {
			f.s[i] = a(c)
		}
		c.enter(at)
		saved := c.f
		c.f = f
		v := ce.node.fn(c)
		c.f = saved
		c.depth--
		if x, ok := v.(*fault); ok {
			panic(x.err)
		}
		return v
	}
}

// closure compiles an operator argument to code that makes a value.Closure.
func (cp *compiler) closure(arg syntax.Expr, arity int, e env, whole *node) Fn {
	fc := &fctx{up: e.fc, trial: e.fc.trial}
	mark := cp.mark()
	e2 := env{sc: e.sc.child(), fc: fc, primed: e.primed, world: e.world, mode: e.mode}
	names := make([]string, arity)
	for i := range names {
		names[i] = "$" + string(rune('a'+i))
		e2.sc.m[names[i]] = cp.newSlot(e2, names[i])
	}
	body := cp.applyOp(arg, names, e2)
	bound(&body, mark)
	body.slot = nil // it reads from the frame of the closure
	whole.under(body)
	fn := body.fn
	at := e.place(arg.Pos())
	return func(c *Ctx) value.Value {
		def := c.f
		return &value.Closure{Arity: arity, Call: func(ctx any, args []value.Value) value.Value {
			c := ctx.(*Ctx)
			f := &Frame{s: make([]value.Value, fc.n), up: def}
			copy(f.s, args)
			c.enter(at)
			saved := c.f
			c.f = f
			v := fn(c)
			c.f = saved
			c.depth--
			return v
		}}
	}
}

// applyOp compiles the application of an operator argument to names bound in e's scope.
func (cp *compiler) applyOp(arg syntax.Expr, names []string, e env) node {
	arg = strip(arg)
	if l, ok := arg.(*syntax.Lambda); ok {
		if len(l.Params) != len(names) {
			loadFail(e.sc.file, l.P, "operator argument needs %d parameters, found %d", len(names), len(l.Params))
		}
		sc := e.sc.child()
		for i, p := range l.Params {
			sc.m[p] = e.sc.m[names[i]]
		}
		return cp.compile(l.Body, e.with(sc))
	}
	r, ok := arg.(*syntax.Ref)
	if !ok {
		loadFail(e.sc.file, arg.Pos(), "expected an operator as argument")
	}
	args := make([]syntax.Expr, len(names))
	for i, n := range names {
		args[i] = &syntax.Ref{Node: r.Node, Parts: []syntax.Part{{Name: n}}}
	}
	return cp.compile(withArgs(r, args), e)
}

func withArgs(r *syntax.Ref, args []syntax.Expr) *syntax.Ref {
	out := &syntax.Ref{Node: r.Node, Parts: append([]syntax.Part(nil), r.Parts...)}
	out.Parts[len(out.Parts)-1].Args = args
	return out
}

// applyByName substitutes an expression or operator.
func (cp *compiler) applyByName(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) node {
	if len(args) == 0 {
		if s.lambda != nil {
			loadFail(e.sc.file, pos, "operator '%s' needs arguments", s.name)
		}
		return cp.compile(s.expr, e.with(s.sc))
	}
	sc, x := cp.byNameCall(s, args, e, pos)
	if l, ok := x.(*syntax.Lambda); ok {
		mark := cp.mark()
		e2, reset := cp.bindLambda(l, s, args, e, pos)
		n := cp.compile(l.Body, e2)
		if len(reset) > 0 {
			n = resetNode(n, reset)
		}
		bound(&n, mark)
		return n
	}
	return cp.compile(x, e.with(sc))
}

// byNameCall returns the expression, with its scope, that applies an operator symbol to arguments.
func (cp *compiler) byNameCall(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) (*scope, syntax.Expr) {
	x := strip(s.expr)
	if l, ok := x.(*syntax.Lambda); ok {
		return s.sc, l
	}
	r, ok := x.(*syntax.Ref)
	if !ok {
		loadFail(e.sc.file, pos, "'%s' is not an operator", s.name)
	}
	sc := s.sc.child()
	refs := make([]syntax.Expr, len(args))
	for i, a := range args {
		name := "$" + string(rune('a'+i))
		sc.m[name] = &symbol{kind: symByName, name: name, expr: a, sc: e.sc, at: e.place(a.Pos())}
		if l, ok := strip(a).(*syntax.Lambda); ok {
			sc.m[name].lambda = l
		}
		refs[i] = &syntax.Ref{Node: syntax.Node{P: a.Pos()}, Parts: []syntax.Part{{Name: name}}}
	}
	return sc, withArgs(r, refs)
}

func (cp *compiler) bindLambda(l *syntax.Lambda, s *symbol, args []syntax.Expr, e env, pos syntax.Pos) (env, []int) {
	if len(args) != len(l.Params) {
		loadFail(e.sc.file, pos, "operator '%s' needs %d arguments, found %d", s.name, len(l.Params), len(args))
	}
	def := &syntax.Def{Name: s.name, Body: l.Body}
	for _, p := range l.Params {
		def.Params = append(def.Params, syntax.Param{Name: p})
	}
	return cp.bind(&symbol{kind: symDef, name: s.name, def: def, sc: s.sc}, args, e)
}

func (cp *compiler) callClosure(s *symbol, args []syntax.Expr, e env, at *place) node {
	slot := slotNode(s, e)
	n := node{free: noFree}
	n.under(slot)
	fns := make([]Fn, len(args))
	for i, a := range args {
		x := cp.compile(a, e)
		n.under(x)
		fns[i] = x.fn
	}
	get := slot.fn
	// What the operator reads is unknown here, so the application is never taken for a constant.
	n.lvl, n.vars = max(n.lvl, 1), AllVars
	n.fn = func(c *Ctx) value.Value {
		f, ok := get(c).(*value.Closure)
		if !ok || len(fns) != f.Arity {
			c.fail(at, "expected an operator with %d arguments", len(fns))
		}
		vals := make([]value.Value, len(fns))
		for i, fn := range fns {
			vals[i] = fn(c)
		}
		return f.Call(c, vals)
	}
	return n
}

// callBuiltin compiles the application of an operator implemented in Go.
func (cp *compiler) callBuiltin(s *symbol, args []syntax.Expr, e env, at *place) node {
	b := s.builtin
	if len(args) != b.Arity {
		loadFail(at.file, at.pos, "'%s' needs %d arguments, found %d", b.Name, b.Arity, len(args))
	}
	switch b.Name {
	case "TLCSet":
		cp.p.regs = true
	case "Trace":
		cp.p.trace = true
	}
	if b.compile != nil {
		return b.compile(cp, e, at, args)
	}
	if b.Fresh && !b.State {
		cp.p.draws = true
	}
	n := node{free: noFree, impure: b.Fresh}
	fns := make([]Fn, len(args))
	for i, a := range args {
		if len(b.Ops) > i && b.Ops[i] > 0 {
			fns[i] = cp.closure(a, b.Ops[i], e, &n)
			continue
		}
		x := cp.compile(a, e)
		n.under(x)
		fns[i] = x.fn
	}
	if b.State {
		n.lvl, n.vars = max(n.lvl, 1), AllVars
	}
	eval := b.Eval
	if b.Arity == 0 && !b.State && !b.Fresh {
		return fnNode(func(c *Ctx) value.Value { return eval(c, nil) })
	}
	n.fn = func(c *Ctx) value.Value {
		vals := make([]value.Value, len(fns))
		for i, fn := range fns {
			vals[i] = c.force(fn(c))
		}
		c.at = at
		return eval(c, vals)
	}
	return n
}
