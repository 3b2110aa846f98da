package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// A refinement may substitute an expression for a variable of the instantiated module. Inside ENABLED
// such an expression is treated as the variable it stands for: its next value is kept in a slot, so
// that an action of the abstract module is enabled exactly when its abstract next state exists.

// pseudoOf returns the slot for the next value of an expression that stands for a variable, or nil.
func (cp *compiler) pseudoOf(s *symbol, e env) *symbol {
	expression := s.kind == symByName && s.lambda == nil && s.arity == 0 ||
		s.kind == symDef && s.def != nil && len(s.def.Params) == 0 && s.def.Bounds == nil && s.fc == nil
	if !expression || s.pseudoOff {
		return nil
	}
	slot, ok := cp.pseudo[s]
	if !ok {
		slot = cp.newSlot(e, s.name)
		cp.pseudo[s] = slot
	}
	return slot
}

// pseudoNode reads the next value from the slot, or computes it from the next state.
func (cp *compiler) pseudoNode(s, slot *symbol, e env, pos syntax.Pos) node {
	s.pseudoOff = true
	n := cp.apply(s, nil, e, pos)
	s.pseudoOff = false
	if n.lvl < 2 || e.fc.hops(slot.fc) != 0 {
		return n
	}
	i, rest := slot.slot, n.fn
	n.pred, n.trivial, n.konst, n.late = nil, true, nil, nil
	n.fn = func(c *Ctx) value.Value {
		if v := c.f.s[i]; v != nil {
			return v
		}
		return rest(c)
	}
	return n
}

// substituted recognizes e', where e stands for a variable, and returns its slot.
func (cp *compiler) substituted(x syntax.Expr, e env, prime bool) (*symbol, bool) {
	if !e.enab || e.primed || cp.pseudo == nil || e.mode != assignNext {
		return nil, false
	}
	x = strip(x)
	if prime {
		p, ok := x.(*syntax.Op)
		if !ok || p.Name != "'" {
			return nil, false
		}
		x = strip(p.Args[0])
	}
	r, ok := x.(*syntax.Ref)
	if !ok || len(r.Parts) != 1 || len(r.Parts[0].Args) > 0 || isWord(r) {
		return nil, false
	}
	s := e.sc.lookup(r.Parts[0].Name)
	if s == nil {
		return nil, false
	}
	s = cp.alias(s, 0)
	slot := cp.pseudoOf(s, e)
	return slot, slot != nil && e.fc == slot.fc
}

// pseudoAssign gives the slot the value of fn, or compares when it has one.
func pseudoAssign(i int, fn Fn, at *place, k Act) Act {
	return func(c *Ctx) bool {
		v := c.force(fn(c))
		if old := c.f.s[i]; old != nil {
			c.at = at
			return value.Equal(old, v) && k(c)
		}
		c.f.s[i] = v
		stop := k(c)
		c.f.s[i] = nil
		return stop
	}
}

// pseudoAssignIn is pseudoAssign for each element of a set.
func pseudoAssignIn(i int, fn Fn, at *place, k Act) Act {
	return func(c *Ctx) bool {
		set := c.set(fn(c), at)
		c.at = at
		if old := c.f.s[i]; old != nil {
			return set.Contains(old) && k(c)
		}
		done := set.Each(func(v value.Value) bool {
			c.f.s[i] = v
			return !k(c)
		})
		c.f.s[i] = nil
		return !done
	}
}

// enabled compiles ENABLED A: the action is run from the current state with a fresh next state.
func (cp *compiler) enabled(x *syntax.Op, e env) node {
	primed := e.primed
	e2 := e
	e2.primed, e2.mode, e2.top, e2.enab = false, assignNext, false, true
	if primed {
		cp.worlds++
		e2.world = cp.worlds
	}
	rec, outer := cp.rec, cp.pseudo
	cp.rec, cp.pseudo = nil, map[*symbol]*symbol{}
	a := cp.act(x.Args[0], e2, func(*Ctx) bool { return true })
	var slots []int
	for _, s := range cp.pseudo {
		if s.fc == e.fc {
			slots = append(slots, s.slot)
		}
	}
	cp.rec, cp.pseudo = rec, outer
	n := predNode(func(c *Ctx) bool {
		cur, next, fixed := c.Cur, c.Next, c.fixed
		c.fixed.next = 0
		if primed {
			c.Cur, c.fixed.cur = next, 0
		}
		for _, s := range slots {
			c.f.s[s] = nil
		}
		c.Next = make([]value.Value, len(cur))
		ok := a(c)
		c.Cur, c.Next, c.fixed = cur, next, fixed
		return ok
	})
	// Which slots the action reads is not tracked, so ENABLED is never a constant.
	n.lvl, n.impure, n.vars = 1, true, AllVars
	if primed {
		n.lvl = 2
	}
	return n
}
