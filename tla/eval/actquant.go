package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

func (cp *compiler) actQuant(x *syntax.Quant, e env, k Act) Act {
	if x.Kind == "\\A" {
		return cp.actForall(x, e, k)
	}
	if x.Kind != "\\E" {
		return cp.actPred(x, e, k)
	}
	n := node{free: noFree}
	bs, e2 := cp.binders(x.Bounds, e, &n)
	e2.inner = true
	a := cp.act(x.Body, e2, k)
	for i := len(bs) - 1; i >= 0; i-- {
		a = existsLevel(&bs[i], a)
	}
	return a
}

func existsLevel(b *binder, body Act) Act {
	set := b.set
	if b.tuple {
		return func(c *Ctx) bool {
			return !c.set(set(c), b.at).Each(func(v value.Value) bool {
				b.assign(c, v)
				return !body(c)
			})
		}
	}
	slot := b.slots[0]
	return func(c *Ctx) bool {
		switch s := c.set(set(c), b.at).(type) {
		case *value.Elems:
			for _, v := range s.E {
				c.tick(b.at)
				c.f.s[slot] = v
				if body(c) {
					return true
				}
			}
			return false
		default:
			return !s.Each(func(v value.Value) bool {
				c.tick(b.at)
				c.f.s[slot] = v
				return !body(c)
			})
		}
	}
}

// forall is the progress of an action \A x \in S : A, kept in a slot while its body runs.
type forall struct {
	elems [][]value.Value
	i     int
}

// Hash implements value.Value; the progress never leaves its slot.
func (*forall) Hash() uint64 { return 0 }

// String implements value.Value.
func (*forall) String() string { return "forall" }

// actForall runs the body for each element in turn, each time with the rest of the elements as its
// continuation.
func (cp *compiler) actForall(x *syntax.Quant, e env, k Act) Act {
	n := node{free: noFree}
	bs, e2 := cp.binders(x.Bounds, e, &n)
	slot := cp.newSlot(e, "").slot
	var body Act
	var flat []int
	for _, b := range bs {
		flat = append(flat, b.slots...)
	}
	step := func(c *Ctx, it *forall) bool {
		if it.i == len(it.elems) {
			return k(c)
		}
		for j, s := range flat {
			c.f.s[s] = it.elems[it.i][j]
		}
		return body(c)
	}
	body = cp.act(x.Body, e2, func(c *Ctx) bool {
		it := c.f.s[slot].(*forall)
		it.i++
		stop := step(c, it)
		it.i--
		c.f.s[slot] = it
		for j, s := range flat {
			c.f.s[s] = it.elems[it.i][j]
		}
		return stop
	})
	return func(c *Ctx) bool {
		it := &forall{}
		each(c, bs, 0, func() bool {
			row := make([]value.Value, len(flat))
			for j, s := range flat {
				row[j] = c.f.s[s]
			}
			it.elems = append(it.elems, row)
			return true
		})
		saved := c.f.s[slot]
		c.f.s[slot] = it
		stop := step(c, it)
		c.f.s[slot] = saved
		return stop
	}
}

func (cp *compiler) actIf(x *syntax.If, e env, k Act) Act {
	p, _ := cp.pred(x.Cond, e)
	e.top = false
	a, b := cp.act(x.Then, e, k), cp.act(x.Else, e, k)
	return func(c *Ctx) bool {
		if p(c) {
			return a(c)
		}
		return b(c)
	}
}

func (cp *compiler) actCase(x *syntax.Case, e env, k Act) Act {
	at := e.place(x.P)
	e.top = false
	conds := make([]Pred, len(x.Arms))
	acts := make([]Act, len(x.Arms))
	for i, a := range x.Arms {
		if a.Cond != nil {
			conds[i], _ = cp.pred(a.Cond, e)
		}
		acts[i] = cp.act(a.Body, e, k)
	}
	return func(c *Ctx) bool {
		for i, p := range conds {
			if p == nil || p(c) {
				return acts[i](c)
			}
		}
		c.fail(at, "no condition of CASE holds and there is no OTHER")
		return false
	}
}

func (cp *compiler) actBox(x *syntax.Box, e env, k Act) Act {
	if e.mode != assignNext || e.primed {
		return cp.actPred(x, e, k)
	}
	if x.Angle {
		same := cp.unchanged(x.V, e, e.place(x.P)).pred
		if e.enab {
			different := optimistic(func(c *Ctx) bool { return !same(c) })
			return cp.act(x.A, e, func(c *Ctx) bool { return different(c) && k(c) })
		}
		return cp.act(x.A, e, func(c *Ctx) bool { return !same(c) && k(c) })
	}
	a := cp.act(x.A, e, k)
	stay := cp.actUnchanged(x.V, e, k)
	return func(c *Ctx) bool { return a(c) || stay(c) }
}

func (cp *compiler) actRef(x *syntax.Ref, e env, k Act) Act {
	if len(x.Parts) == 1 {
		name := x.Parts[0].Name
		if name == "TRUE" {
			return k
		}
		if name == "FALSE" {
			return func(*Ctx) bool { return false }
		}
		if core[name] || name == "BOOLEAN" || name == "STRING" {
			return cp.actPred(x, e, k)
		}
	}
	t := cp.resolveRef(x, e)
	if t.x != nil {
		return cp.act(t.x, e.with(t.sc), k)
	}
	return cp.actApply(t.sym, t.args, x, e, k)
}

// actApply compiles the application of a symbol as an action: definitions are expanded in place.
func (cp *compiler) actApply(s *symbol, args []syntax.Expr, x syntax.Expr, e env, k Act) Act {
	switch {
	case s.kind == symByName && len(args) == 0:
		if s.lambda == nil {
			return cp.act(s.expr, e.with(s.sc), k)
		}
	case s.kind == symByName:
		sc, y := cp.byNameCall(s, args, e, x.Pos())
		if l, ok := y.(*syntax.Lambda); ok {
			e2, reset := cp.bindLambda(l, s, args, e, x.Pos())
			return resetAct(cp.act(l.Body, e2, k), reset)
		}
		return cp.act(y, e.with(sc), k)
	case (s.kind == symNode || s.kind == symSlot && s.init != nil) && s.expr != nil && s.init.lvl >= 1:
		return cp.act(s.expr, e.with(s.sc), k)
	case s.kind == symDef && s.def != nil && s.def.Bounds == nil && !s.recursive:
		return cp.actDef(s, args, x, e, k)
	case s.kind == symBuiltin && s.builtin.Name == "TLCEval" && len(args) == 1:
		return cp.act(args[0], e, k)
	case cp.recursiveAct(s, args, e, x.Pos()):
		return cp.callAct(s, args, e, x.Pos(), k)
	}
	p := cp.apply(s, args, e, x.Pos()).holds(e.place(x.Pos()))
	return func(c *Ctx) bool { return p(c) && k(c) }
}

func (cp *compiler) actDef(s *symbol, args []syntax.Expr, x syntax.Expr, e env, k Act) Act {
	if len(args) != len(s.def.Params) {
		loadFail(e.sc.file, x.Pos(), "'%s' needs %d arguments, found %d", s.name, len(s.def.Params), len(args))
	}
	if s.busyAct > 50 {
		loadFail(e.sc.file, x.Pos(), "'%s' is defined in terms of itself without RECURSIVE", s.name)
	}
	s.busyAct++
	defer func() { s.busyAct-- }()
	name := e.top && cp.rec != nil
	e2, reset := e.with(s.sc), []int(nil)
	if len(args) > 0 {
		e2, reset = cp.bind(s, args, e)
	}
	uses := 0
	if name {
		uses = cp.rec.uses
	}
	a := resetAct(cp.act(s.def.Body, e2, k), reset)
	if !name {
		return a
	}
	i := cp.rec.action(s, cp.rec.uses != uses)
	return func(c *Ctx) bool {
		saved := c.Action
		c.Action = i
		stop := a(c)
		c.Action = saved
		return stop
	}
}

func (r *actRecorder) action(s *symbol, parent bool) int {
	r.uses++
	info := ActionInfo{Name: s.name, File: s.at.file, Pos: s.at.pos, Parent: parent}
	for i, old := range r.infos {
		if old == info {
			return i
		}
	}
	r.infos = append(r.infos, info)
	return len(r.infos) - 1
}

// compose compiles A \cdot B: B starts from the states that A reaches.
func (cp *compiler) compose(x *syntax.Op, e env, k Act) Act {
	if e.mode != assignNext || e.primed {
		return cp.actPred(x, e, k)
	}
	slot := cp.newSlot(e, "").slot
	cp.worlds++
	if cp.reads != nil {
		*cp.reads = AllVars
	}
	e2 := e
	e2.world = cp.worlds
	b := cp.act(x.Args[1], e2, func(c *Ctx) bool {
		saved := c.Cur
		c.Cur = c.f.s[slot].(*stateBox).s
		c.Free()
		stop := k(c)
		c.Cur = saved
		return stop
	})
	return cp.act(x.Args[0], e, func(c *Ctx) bool {
		cur, next, fixed := c.Cur, c.Next, c.fixed
		c.Free()
		old := c.f.s[slot]
		c.f.s[slot] = &stateBox{cur}
		c.Cur = append([]value.Value(nil), next...)
		c.Next = make([]value.Value, len(next))
		stop := b(c)
		c.Cur, c.Next, c.fixed = cur, next, fixed
		c.f.s[slot] = old
		return stop
	})
}

// stateBox keeps a state in a slot.
type stateBox struct{ s []value.Value }

// Hash implements value.Value; the state never leaves its slot.
func (*stateBox) Hash() uint64 { return 0 }

// String implements value.Value.
func (*stateBox) String() string { return "state" }
