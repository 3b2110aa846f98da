package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
)

// FormulaKind classifies a temporal formula.
type FormulaKind int

// Kinds of formulas. An atom is decided on a step: on its first state, or with Action on both.
const (
	FAtom FormulaKind = iota
	FConst
	FNot
	FAnd
	FOr
	FAlways
	FEventually
)

// Formula is a temporal formula over atoms.
type Formula struct {
	Kind FormulaKind
	Sub  []*Formula
	Atom *Atom
	Val  bool
}

// Atom is a state predicate or an action that occurs in a temporal formula.
type Atom struct {
	Expr   *Expr
	Action bool
	Name   string
}

// PropertyKind says how a part of a property is checked.
type PropertyKind int

// Kinds of property parts.
const (
	PropInit   PropertyKind = iota // holds in every initial state
	PropState                      // holds in every state
	PropAction                     // holds of every step
	PropLive                       // a temporal formula
)

// Property is one conjunct of a property.
type Property struct {
	Name string
	Kind PropertyKind
	Term Term
	Expr *Expr
	F    *Formula
}

// SplitProperty takes a property apart into the conjuncts that are checked separately.
func (p *Program) SplitProperty(name string, t Term) (out []Property, err error) {
	defer catch(&err)
	at := newAtoms(p)
	for _, c := range p.conjuncts(t, 0) {
		n := p.compileTerm(c)
		body, kind := p.boxed(c)
		prop := Property{Name: name, Term: c}
		switch {
		case n.Level <= 1:
			prop.Kind, prop.Expr = PropInit, n
		case n.Level == 2:
			loadFail(c.sc.file, c.X.Pos(), "property %s contains an action without [][…]_v", name)
		case kind == boxState:
			prop.Kind, prop.Expr, prop.Term = PropState, p.compileTerm(body), body
		case kind == boxAction:
			prop.Kind, prop.Expr, prop.Term = PropAction, p.compileTerm(body), body
		default:
			prop.Kind, prop.F = PropLive, p.formula(c, at, 0)
		}
		out = append(out, prop)
	}
	return out, nil
}

type atoms struct {
	p *Program
	m map[atomKey]*Atom
}

type atomKey struct {
	x    syntax.Expr
	sc   *scope
	kind int
}

func newAtoms(p *Program) *atoms { return &atoms{p: p, m: map[atomKey]*Atom{}} }

func (a *atoms) of(x syntax.Expr, sc *scope) *Formula {
	k := atomKey{x, sc, 0}
	at, ok := a.m[k]
	if !ok {
		e := a.p.compileTerm(Term{x, sc})
		at = &Atom{Expr: e, Action: e.Level == 2, Name: syntax.Format(x)}
		a.m[k] = at
	}
	return &Formula{Kind: FAtom, Atom: at}
}

func not(f *Formula) *Formula    { return &Formula{Kind: FNot, Sub: []*Formula{f}} }
func always(f *Formula) *Formula { return &Formula{Kind: FAlways, Sub: []*Formula{f}} }
func eventually(f *Formula) *Formula {
	return &Formula{Kind: FEventually, Sub: []*Formula{f}}
}
func or(fs ...*Formula) *Formula  { return &Formula{Kind: FOr, Sub: fs} }
func and(fs ...*Formula) *Formula { return &Formula{Kind: FAnd, Sub: fs} }

// formula translates a temporal formula; what has no temporal operator becomes an atom.
func (p *Program) formula(t Term, at *atoms, depth int) *Formula {
	if depth > 500 {
		loadFail(t.sc.file, t.X.Pos(), "temporal formula is nested deeper than 500")
	}
	if p.compileTerm(t).Level <= 2 {
		return at.of(t.X, t.sc)
	}
	sub := func(x syntax.Expr) *Formula { return p.formula(Term{x, t.sc}, at, depth+1) }
	switch x := strip(t.X).(type) {
	case *syntax.Junction:
		return p.nary(x.Name, x.Items, t, at, depth)
	case *syntax.Fair:
		return p.fairness(x, t, at)
	case *syntax.Quant:
		return p.quantified(x, t, at, depth)
	case *syntax.If:
		c := sub(x.Cond)
		return or(and(c, sub(x.Then)), and(not(c), sub(x.Else)))
	case *syntax.Op:
		switch x.Name {
		case "/\\", "\\/":
			return p.nary(x.Name, x.Args, t, at, depth)
		case "~":
			return not(sub(x.Args[0]))
		case "=>":
			return or(not(sub(x.Args[0])), sub(x.Args[1]))
		case "<=>", "=":
			a, b := sub(x.Args[0]), sub(x.Args[1])
			return or(and(a, b), and(not(a), not(b)))
		case "[]":
			return always(sub(x.Args[0]))
		case "<>":
			return eventually(sub(x.Args[0]))
		case "~>":
			return always(or(not(sub(x.Args[0])), eventually(sub(x.Args[1]))))
		}
	}
	if next, ok := p.unfold(t); ok {
		return p.formula(next, at, depth+1)
	}
	loadFail(t.sc.file, t.X.Pos(), "this temporal formula cannot be checked: %s", short(syntax.Format(t.X)))
	return nil
}

func (p *Program) nary(name string, items []syntax.Expr, t Term, at *atoms, depth int) *Formula {
	f := &Formula{Kind: FAnd}
	if name == "\\/" {
		f.Kind = FOr
	}
	for _, it := range items {
		f.Sub = append(f.Sub, p.formula(Term{it, t.sc}, at, depth+1))
	}
	return f
}

func (p *Program) quantified(x *syntax.Quant, t Term, at *atoms, depth int) *Formula {
	f := &Formula{Kind: FAnd}
	switch x.Kind {
	case "\\E":
		f.Kind = FOr
	case "\\A":
	default:
		loadFail(t.sc.file, x.P, "temporal quantification %s cannot be checked", x.Kind)
	}
	for _, sc := range p.expand(x, t.sc) {
		f.Sub = append(f.Sub, p.formula(Term{x.Body, sc}, at, depth+1))
	}
	if len(f.Sub) == 0 {
		return &Formula{Kind: FConst, Val: f.Kind == FAnd}
	}
	return f
}

// fairness translates WF_v(A) to []<>(~ENABLED <A>_v \/ <A>_v) and SF_v(A) to
// <>[]~ENABLED <A>_v \/ []<><A>_v.
func (p *Program) fairness(x *syntax.Fair, t Term, at *atoms) *Formula {
	k1, k2 := atomKey{x, t.sc, 1}, atomKey{x, t.sc, 2}
	step, ok := at.m[k1]
	if !ok {
		box := &syntax.Box{Node: x.Node, Angle: true, A: x.A, V: x.V}
		en := &syntax.Op{Node: x.Node, Name: "ENABLED", Fix: syntax.Prefix, Args: []syntax.Expr{box}}
		step = &Atom{Expr: p.compileTerm(Term{box, t.sc}), Action: true, Name: syntax.Format(box)}
		at.m[k1] = step
		at.m[k2] = &Atom{Expr: p.compileTerm(Term{en, t.sc}), Name: syntax.Format(en)}
	}
	s := &Formula{Kind: FAtom, Atom: step}
	en := &Formula{Kind: FAtom, Atom: at.m[k2]}
	if x.Strong {
		return or(eventually(always(not(en))), always(eventually(s)))
	}
	return always(eventually(or(not(en), s)))
}
