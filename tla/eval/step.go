package eval

import (
	"fmt"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// Step is one action of a specification, or one of its state functions, compiled to be taken with arguments that are
// given at run time: the form in which traces of a program are checked. It may be used by several goroutines, each with
// a Ctx of its own.
type Step struct {
	Name   string
	Params []string

	def *symbol
	act *Action
}

// CompileStep compiles the operator called name of the root module as an action.
func (p *Program) CompileStep(name string) (st *Step, err error) {
	defer catch(&err)
	st, e, x := p.step(name)
	rec := &actRecorder{}
	p.cp.rec, p.cp.size, p.cp.depth = rec, 0, 0
	defer func() { p.cp.rec = nil }()
	act := p.cp.act(x, e, func(c *Ctx) bool { return c.emit(c) })
	st.act = &Action{act: act, fc: e.fc, Infos: rec.infos}
	return st, nil
}

// step returns an application of the operator to slots, which are the first of its frame.
func (p *Program) step(name string) (*Step, env, syntax.Expr) {
	s := p.root.sc.lookup(name)
	if s == nil || s.kind != symDef || s.def == nil {
		loadFail(p.Root.File, p.Root.P, "'%s' is not defined as an operator", name)
	}
	st := &Step{Name: name, def: s}
	e := env{sc: p.root.sc.child(), fc: p.cp.newRoot(), mode: assignNext, top: true}
	args := make([]syntax.Expr, len(s.def.Params))
	for i, q := range s.def.Params {
		slot := fmt.Sprintf("$%d", i)
		st.Params = append(st.Params, q.Name)
		e.sc.m[slot] = p.cp.newSlot(e, slot)
		args[i] = &syntax.Ref{Node: syntax.Node{P: s.def.P}, Parts: []syntax.Part{{Name: slot}}}
	}
	x := &syntax.Ref{Node: syntax.Node{P: s.def.P}, Parts: []syntax.Part{{Name: name, Args: args}}}
	return st, e, x
}

// Each enumerates the states that the action allows after c.Cur with the given arguments, as Action.Each does. Variables
// that c.Next gives a value keep it: the action must agree.
func (st *Step) Each(c *Ctx, args []value.Value, emit func(c *Ctx) bool) (err error) {
	if len(args) != len(st.Params) {
		return fmt.Errorf("action %s takes %d arguments, found %d", st.Name, len(st.Params), len(args))
	}
	saved, before := c.emit, c.f
	c.emit = emit
	defer func() { c.emit = saved }()
	defer c.guard(before, c.rest, &err)
	c.open(st.act.fc)
	copy(c.f.s, args)
	st.act.act(c)
	c.close(st.act.fc, before)
	return nil
}

// Body returns the definition of the step with its parameters replaced by the given values: what a failed step is
// explained by.
func (p *Program) Body(st *Step, args []value.Value) Term {
	sc := st.def.sc.child()
	for i, name := range st.Params {
		sc.m[name] = &symbol{kind: symConst, name: name, val: args[i]}
	}
	return Term{st.def.def.Body, sc}
}

// Operands splits a formula for an explanation: the name of its outermost operator and what it applies to. A name of a
// definition is replaced by its body under the operator "==". Other forms have no operands.
func (p *Program) Operands(t Term) (op string, of []Term, err error) {
	defer catch(&err)
	switch x := strip(t.X).(type) {
	case *syntax.Junction:
		for _, it := range x.Items {
			of = append(of, Term{it, t.sc})
		}
		return x.Name, of, nil
	case *syntax.Op:
		for _, it := range x.Args {
			of = append(of, Term{it, t.sc})
		}
		return x.Name, of, nil
	case *syntax.If:
		return "IF", []Term{{x.Cond, t.sc}, {x.Then, t.sc}, {x.Else, t.sc}}, nil
	}
	if next, ok := p.unfold(t); ok {
		return "==", []Term{next}, nil
	}
	return "", nil, nil
}

// CompileAction compiles a term as an action that keeps what c.Next holds already.
func (p *Program) CompileAction(t Term) (*Action, error) { return p.compileAct(t, assignNext, false) }
