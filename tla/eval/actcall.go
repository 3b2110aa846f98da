package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// A recursive operator whose body is an action cannot be expanded in place. Its body is compiled once,
// in a frame of its own, and what follows the call is found at run time: each call pushes its rest, the
// end of the body pops it, runs it in the caller's frame and pushes it back, so that the body can go on
// to its next branch.

// rest is what follows a call in progress.
type rest struct {
	k  Act
	f  *Frame
	up *rest
}

// actCallee is the compiled body of a recursive action.
type actCallee struct {
	fc  *fctx
	act Act
}

type actKey struct {
	callKey
	mode mode
	enab bool
}

// callAct compiles a call of a recursive action.
func (cp *compiler) callAct(s *symbol, args []syntax.Expr, e env, pos syntax.Pos, k Act) Act {
	key := actKey{callKey{s, e.primed, e.world}, e.mode, e.enab}
	at := e.place(pos)
	argFns, _ := cp.callArgs(s, args, e)
	for f, h := e.fc, 0; f != nil; f, h = f.up, h+1 {
		if f.actKey == key && f.actCallee != nil {
			return actCallFn(f.actCallee, argFns, h+1, at, k)
		}
	}
	ce := &actCallee{fc: &fctx{up: e.fc, actKey: key, trial: e.fc.trial}}
	ce.fc.actCallee = ce
	sc := s.sc.child()
	e2 := env{sc: sc, fc: ce.fc, primed: e.primed, world: e.world, mode: e.mode, enab: e.enab}
	cp.params(s, sc, e2)
	ce.act = cp.act(s.def.Body, e2, goOn)
	return actCallFn(ce, argFns, 0, at, k)
}

// goOn ends the body of a recursive action with what follows its call.
func goOn(c *Ctx) bool {
	r, f := c.rest, c.f
	c.rest, c.f = r.up, r.f
	stop := r.k(c)
	c.rest, c.f = r, f
	return stop
}

func actCallFn(ce *actCallee, args []Fn, up int, at *place, k Act) Act {
	return func(c *Ctx) bool {
		f := &Frame{s: make([]value.Value, ce.fc.n), up: ancestor(c.f, up)}
		for i, a := range args {
			f.s[i] = a(c)
		}
		c.enter(at)
		r := &rest{k, c.f, c.rest}
		c.rest, c.f = r, f
		stop := ce.act(c)
		c.rest, c.f = r.up, r.f
		c.depth--
		return stop
	}
}

// recursiveAct reports whether a recursive operator is an action rather than a value.
func (cp *compiler) recursiveAct(s *symbol, args []syntax.Expr, e env, pos syntax.Pos) bool {
	if s.kind != symDef || s.def == nil || s.def.Bounds != nil || !s.recursive || len(args) != len(s.def.Params) || e.mode == assignCur {
		return false
	}
	for f := e.fc; f != nil; f = f.up {
		if f.actCallee != nil && f.actKey.sym == s {
			return true
		}
	}
	return cp.apply(s, args, e, pos).lvl >= 2
}
