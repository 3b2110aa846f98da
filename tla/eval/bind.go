package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
)

// bind gives the parameters of a definition their arguments. The returned slots are to be cleared
// before each evaluation of the body.
func (cp *compiler) bind(s *symbol, args []syntax.Expr, e env) (env, []int) {
	sc := s.sc.child()
	var reset []int
	for i, q := range s.def.Params {
		if q.Arity > 0 {
			sc.m[q.Name] = cp.opParam(q.Name, q.Arity, args[i], e)
			continue
		}
		p, slot := cp.argument(q.Name, args[i], e)
		sc.m[q.Name] = p
		if slot >= 0 {
			reset = append(reset, slot)
		}
	}
	e2 := e.with(sc)
	e2.depth++
	return e2, reset
}

func (cp *compiler) opParam(name string, arity int, arg syntax.Expr, e env) *symbol {
	s := &symbol{kind: symByName, name: name, expr: strip(arg), sc: e.sc, arity: arity, at: e.place(arg.Pos())}
	if l, ok := s.expr.(*syntax.Lambda); ok {
		s.lambda = l
		if len(l.Params) != arity {
			loadFail(e.sc.file, arg.Pos(), "operator argument needs %d parameters, found %d", arity, len(l.Params))
		}
	}
	return s
}

// argument decides how an argument is passed: as compiled code when cheap, by name when it contains
// primes, else through a slot that is filled on first use.
func (cp *compiler) argument(name string, arg syntax.Expr, e env) (*symbol, int) {
	if isOperator(arg, e) {
		return cp.opParam(name, 0, arg, e), -1
	}
	n := cp.compile(arg, e)
	s := &symbol{name: name, expr: arg, sc: e.sc, primed: e.primed, world: e.world, init: &n, at: e.place(arg.Pos())}
	switch {
	case n.lvl >= 2 || n.impure:
		s.kind = symByName
		return s, -1
	case n.trivial:
		s.kind = symNode
		if n.free != noFree && !n.closed() {
			s.kind = symByName
		}
		return s, -1
	}
	slot := cp.newSlot(e, name)
	s.kind, s.fc, s.slot, s.id = symSlot, slot.fc, slot.slot, slot.id
	return s, s.slot
}

func isOperator(arg syntax.Expr, _ env) bool {
	_, ok := strip(arg).(*syntax.Lambda)
	return ok
}
