package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// Term is an expression in its scope.
type Term struct {
	X  syntax.Expr
	sc *scope
}

// Place returns file and position of the term.
func (t Term) Place() (string, syntax.Pos) { return t.sc.file, t.X.Pos() }

// String renders the term's source in canonical form.
func (t Term) String() string { return syntax.Format(t.X) }

// Lookup returns the definition called name in the root module.
func (p *Program) Lookup(name string) (Term, error) {
	s := p.root.sc.lookup(name)
	if s == nil {
		return Term{}, &LoadError{p.Root.File, p.Root.P, "'" + name + "' is not defined in module " + p.Root.Name}
	}
	pos := p.Root.P
	if s.at != nil {
		pos = s.at.pos
	}
	x := &syntax.Ref{Node: syntax.Node{P: pos}, Parts: []syntax.Part{{Name: name}}}
	return Term{x, p.root.sc}, nil
}

// Parse returns the term for an expression over the names of the root module.
func (p *Program) Parse(src string) (Term, error) {
	x, err := syntax.ParseExpr(src)
	if err != nil {
		return Term{}, err
	}
	return Term{x, p.root.sc}, nil
}

// Compile compiles a term to be evaluated.
func (p *Program) Compile(t Term) (x *Expr, err error) {
	defer catch(&err)
	return p.compileTerm(t), nil
}

func (p *Program) compileTerm(t Term) *Expr {
	fc := p.cp.newRoot()
	p.cp.size, p.cp.depth = 0, 0
	n := p.cp.compile(t.X, env{sc: t.sc, fc: fc})
	x := &Expr{fn: n.fn, pred: n.holds(&place{t.sc.file, t.X.Pos()}), fc: fc, Level: n.lvl, Reads: n.vars, cp: p.cp}
	if n.impure || n.lvl > 1 || n.vars == 0 { // what reads nothing is the same in every state, and has to be looked at in one
		x.Reads = AllVars
	}
	return x
}

// Parts are the conjuncts of a predicate, which hold together exactly when it holds.
type Parts []*Expr

// Hold evaluates the conjuncts that read a variable which changed since all of them held; the others hold still.
func (ps Parts) Hold(c *Ctx, changed Vars) (bool, error) {
	for _, x := range ps {
		if x.Reads&changed == 0 {
			continue
		}
		if ok, err := x.Holds(c); err != nil || !ok {
			return ok, err
		}
	}
	return true, nil
}

// CompileParts compiles a predicate as the list of its conjuncts.
func (p *Program) CompileParts(t Term) (parts Parts, err error) {
	defer catch(&err)
	for _, c := range p.predicates(t, 0) {
		parts = append(parts, p.compileTerm(c))
	}
	return parts, nil
}

// predicates splits a predicate at its conjunctions, those of the definitions that it names included.
func (p *Program) predicates(t Term, depth int) []Term {
	if x, ok := strip(t.X).(*syntax.Ref); ok && depth < maxInlineDepth && len(x.Parts[len(x.Parts)-1].Args) == 0 {
		if next, ok := p.unfold(t); ok {
			if parts := p.predicates(next, depth+1); len(parts) > 1 {
				return parts
			}
		}
	}
	items := t.conjuncts()
	if len(items) == 0 || depth >= maxInlineDepth {
		return []Term{t}
	}
	var out []Term
	for _, it := range items {
		out = append(out, p.predicates(it, depth+1)...)
	}
	return out
}

// conjuncts returns what the outermost conjunction of t joins; none when it is no conjunction.
func (t Term) conjuncts() (out []Term) {
	var items []syntax.Expr
	switch x := strip(t.X).(type) {
	case *syntax.Junction:
		if x.Name == "/\\" {
			items = x.Items
		}
	case *syntax.Op:
		if x.Name == "/\\" {
			items = x.Args
		}
	default:
	}
	for _, it := range items {
		out = append(out, Term{it, t.sc})
	}
	return out
}

// CompileNext compiles a next-state relation; with count its conjuncts are counted.
func (p *Program) CompileNext(t Term, count bool) (a *Action, err error) {
	return p.compileAct(t, assignNext, count)
}

// CompileInit compiles an initial predicate, which assigns the current state.
func (p *Program) CompileInit(t Term) (a *Action, err error) {
	return p.compileAct(t, assignCur, false)
}

func (p *Program) compileAct(t Term, m mode, count bool) (a *Action, err error) {
	defer catch(&err)
	fc := p.cp.newRoot()
	rec := &actRecorder{count: count}
	p.cp.rec, p.cp.reads, p.cp.size, p.cp.depth = rec, new(Vars), 0, 0
	defer func() { p.cp.rec, p.cp.reads = nil, nil }()
	act := p.cp.act(t.X, env{sc: t.sc, fc: fc, mode: m, top: true}, func(c *Ctx) bool { return c.emit(c) })
	return &Action{act: act, fc: fc, Infos: rec.infos, Conjuncts: rec.conj}, nil
}

// Assumptions returns the assumptions of the root module and of those it extends.
func (p *Program) Assumptions() []Term {
	out := make([]Term, len(p.assumes))
	for i, a := range p.assumes {
		out[i] = Term{a.x, a.sc}
	}
	return out
}

// Spec is a specification taken apart.
type Spec struct {
	Init []Term
	Next []Term
	Fair []*Formula
}

// SplitSpec takes a specification apart: state predicates, [][N]_v and the rest, which is fairness.
func (p *Program) SplitSpec(t Term) (s *Spec, err error) {
	defer catch(&err)
	s = &Spec{}
	at := newAtoms(p)
	for _, c := range p.conjuncts(t, 0) {
		n := p.compileTerm(c)
		switch body, kind := p.boxed(c); {
		case n.Level <= 1:
			s.Init = append(s.Init, c)
		case n.Level == 2:
			loadFail(c.sc.file, c.X.Pos(), "an action stands in the specification without [][…]_v")
		case kind == boxAction:
			b := strip(body.X).(*syntax.Box)
			s.Next = append(s.Next, Term{b.A, body.sc})
		default:
			s.Fair = append(s.Fair, p.formula(c, at, 0))
		}
	}
	return s, nil
}

type boxKind int

const (
	boxNone   boxKind = iota
	boxState          // []P
	boxAction         // [][A]_v
)

// boxed recognizes []P and [][A]_v and returns P or [A]_v.
func (p *Program) boxed(t Term) (Term, boxKind) {
	op, ok := strip(t.X).(*syntax.Op)
	if !ok || op.Name != "[]" {
		return t, boxNone
	}
	body := Term{op.Args[0], t.sc}
	x := strip(op.Args[0])
	for range 50 {
		r, ok := x.(*syntax.Ref)
		if !ok || len(r.Parts[len(r.Parts)-1].Args) > 0 || isWord(r) {
			break
		}
		tg := p.cp.resolveRef(r, env{sc: body.sc, fc: &fctx{}})
		if tg.x != nil {
			body = Term{tg.x, tg.sc}
		} else if tg.sym.kind == symDef && tg.sym.def != nil && len(tg.sym.def.Params) == 0 {
			body = Term{tg.sym.def.Body, tg.sym.sc}
		} else {
			break
		}
		x = strip(body.X)
	}
	if b, ok := x.(*syntax.Box); ok && !b.Angle {
		return Term{x, body.sc}, boxAction
	}
	body = Term{op.Args[0], t.sc}
	switch n := p.compileTerm(body); {
	case n.Level <= 1:
		return body, boxState
	case n.Level == 2:
		return body, boxAction
	}
	return t, boxNone
}

func isWord(r *syntax.Ref) bool {
	switch r.Parts[0].Name {
	case "TRUE", "FALSE", "BOOLEAN", "STRING":
		return true
	}
	return core[r.Parts[0].Name]
}

// conjuncts splits a formula at its conjunctions and at universal quantifiers over constants.
func (p *Program) conjuncts(t Term, depth int) []Term {
	if depth > 200 {
		loadFail(t.sc.file, t.X.Pos(), "formula is nested deeper than 200")
	}
	if p.compileTerm(t).Level <= 2 {
		return []Term{t}
	}
	parts := t.conjuncts()
	if x, ok := strip(t.X).(*syntax.Quant); ok && x.Kind == "\\A" {
		for _, sc := range p.expand(x, t.sc) {
			parts = append(parts, Term{x.Body, sc})
		}
		if len(parts) == 0 {
			return nil // over an empty set nothing is asked
		}
	}
	if len(parts) > 0 {
		var out []Term
		for _, part := range parts {
			out = append(out, p.conjuncts(part, depth+1)...)
		}
		return out
	}
	if next, ok := p.unfold(t); ok {
		return p.conjuncts(next, depth+1)
	}
	return []Term{t}
}

// unfold replaces a name by its definition, with parameters bound by name, and LET by its body.
func (p *Program) unfold(t Term) (Term, bool) {
	switch x := strip(t.X).(type) {
	case *syntax.Let:
		sc := t.sc.child()
		for _, d := range x.Defs {
			switch d := d.(type) {
			case *syntax.Def:
				define(sc, d, false, nil)
			case *syntax.Instance:
				sc.m[d.Name] = &symbol{kind: symInst, name: d.Name, inst: d, sc: sc, arity: len(d.Params), at: &place{sc.file, d.P}}
			}
		}
		return Term{x.Body, sc}, true
	case *syntax.Ref:
		if isWord(x) {
			return t, false
		}
		tg := p.cp.resolveRef(x, env{sc: t.sc, fc: &fctx{}})
		switch {
		case tg.x != nil:
			return Term{tg.x, tg.sc}, true
		case tg.sym.kind == symByName && len(tg.args) == 0 && tg.sym.lambda == nil:
			return Term{tg.sym.expr, tg.sym.sc}, true
		case tg.sym.kind == symDef && tg.sym.def != nil && tg.sym.def.Bounds == nil && len(tg.args) == len(tg.sym.def.Params):
			sc := tg.sym.sc.child()
			for i, q := range tg.sym.def.Params {
				s := &symbol{kind: symByName, name: q.Name, expr: tg.args[i], sc: t.sc, arity: q.Arity}
				if l, ok := strip(tg.args[i]).(*syntax.Lambda); ok {
					s.lambda = l
				}
				sc.m[q.Name] = s
			}
			return Term{tg.sym.def.Body, sc}, true
		}
	}
	return t, false
}

// expand returns one scope for each choice of the bound identifiers; the sets must be constants.
func (p *Program) expand(x *syntax.Quant, sc *scope) []*scope {
	scopes := []*scope{sc}
	c := NewCtx(&Run{Prog: p}, len(p.Vars))
	for _, b := range x.Bounds {
		if b.Set == nil {
			loadFail(sc.file, b.P, "temporal quantification without a set cannot be checked")
		}
		e := p.compileTerm(Term{b.Set, sc})
		if e.Level > 0 {
			loadFail(sc.file, b.P, "the set of a quantifier over a temporal formula must be a constant")
		}
		v, err := e.Eval(c)
		if err != nil {
			panic(err)
		}
		set, ok := v.(value.Set)
		if !ok {
			loadFail(sc.file, b.P, "expected a set, found %s", value.Short(v))
		}
		groups := [][]string{b.Names}
		if !b.Tuple {
			groups = nil
			for _, n := range b.Names {
				groups = append(groups, []string{n})
			}
		}
		for _, names := range groups {
			scopes = extend(scopes, names, b.Tuple, value.List(set).E)
			if len(scopes) > 10_000 {
				loadFail(sc.file, b.P, "quantifier over a temporal formula has more than 10000 instances")
			}
		}
	}
	return scopes
}

func extend(scopes []*scope, names []string, tuple bool, elems []value.Value) []*scope {
	var out []*scope
	for _, sc := range scopes {
		for _, v := range elems {
			s := sc.child()
			if !tuple {
				s.m[names[0]] = &symbol{kind: symConst, name: names[0], val: v}
			} else if f, ok := v.(*value.Fcn); ok && f.Dom == nil && len(f.Vals) == len(names) {
				for i, n := range names {
					s.m[n] = &symbol{kind: symConst, name: n, val: f.Vals[i]}
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// Conjoin returns the conjunction of terms, which may belong to different modules.
func Conjoin(ts []Term) Term {
	if len(ts) == 1 {
		return ts[0]
	}
	if len(ts) == 0 {
		return Term{&syntax.Ref{Parts: []syntax.Part{{Name: "TRUE"}}}, &scope{m: map[string]*symbol{}}}
	}
	sc := &scope{m: map[string]*symbol{}, file: ts[0].sc.file, mod: ts[0].sc.mod}
	j := &syntax.Junction{Node: syntax.Node{P: ts[0].X.Pos()}, Name: "/\\"}
	for i, t := range ts {
		name := "$" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		sc.m[name] = &symbol{kind: symByName, name: name, expr: t.X, sc: t.sc}
		j.Items = append(j.Items, &syntax.Ref{Node: syntax.Node{P: t.X.Pos()}, Parts: []syntax.Part{{Name: name}}})
	}
	return Term{j, sc}
}

// Parts returns the conjuncts of a predicate: those of its outermost conjunction, or of the
// definition it names. It is empty when the predicate has no parts.
func (p *Program) Parts(t Term) (out []Term) {
	var err error
	defer catch(&err)
	if out = t.conjuncts(); len(out) > 0 {
		return out
	}
	switch x := strip(t.X).(type) {
	case *syntax.Op:
		if x.Name == "=>" {
			return []Term{{x.Args[1], t.sc}}
		}
	case *syntax.Quant:
		if x.Kind == "\\A" && p.compileTerm(Term{x.Bounds[0].Set, t.sc}).Level == 0 {
			for _, sc := range p.expand(x, t.sc) {
				out = append(out, Term{x.Body, sc})
			}
		}
	case *syntax.Ref:
		if next, ok := p.unfold(t); ok {
			return []Term{next}
		}
	}
	return out
}
