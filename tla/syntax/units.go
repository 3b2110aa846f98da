package syntax

// unit parses one element of a module's body; nil for a separator that carries nothing.
func (p *parser) unit() Unit {
	t := p.raw()
	d := Decl{Node{t.Pos}, t.Comments}
	if t.Kind == Separator {
		if n := p.peekAt(1); n.Kind == Word && n.Text == "MODULE" {
			return &Nested{d, p.module()}
		}
		p.take()
		return &Rule{d}
	}
	if t.Kind == Word {
		switch t.Text {
		case "CONSTANT", "CONSTANTS":
			p.take()
			return &Constants{d, p.params()}
		case "VARIABLE", "VARIABLES":
			p.take()
			return &Variables{d, p.idents("variable name")}
		case "RECURSIVE":
			p.take()
			return &Recursive{d, p.params()}
		case "ASSUME", "ASSUMPTION", "AXIOM":
			return p.assume(d)
		case "THEOREM", "LEMMA", "COROLLARY", "PROPOSITION", "USE", "HIDE", "PROOF", "BY", "OBVIOUS", "OMITTED":
			return p.text(d)
		case "INSTANCE":
			return p.instance(d, false, "", nil)
		case "LOCAL":
			p.take()
			if p.is("INSTANCE") {
				return p.instance(d, true, "", nil)
			}
			return p.def(d, true)
		}
	}
	return p.def(d, false)
}

func (p *parser) idents(what string) []string {
	var names []string
	for {
		names = append(names, p.ident(what))
		if !p.accept(",") {
			return names
		}
	}
}

func (p *parser) params() []Param {
	var out []Param
	for {
		out = append(out, p.param())
		if !p.accept(",") {
			return out
		}
	}
}

// param parses x, F(_, _), _+_, -. _ or _^+.
func (p *parser) param() Param {
	t := p.peek()
	if t.Kind == Symbol && t.Text == "_" {
		p.take()
		op := p.take()
		if _, ok := postfixOps[op.Text]; ok && !p.is("_") {
			return Param{op.Text, 1, Postfix}
		}
		if _, ok := infixOps[op.Text]; !ok || !p.is("_") {
			p.failAt(op.Pos, "expected an operator between '_', found %s", op.describe())
		}
		p.take()
		return Param{op.Text, 2, Infix}
	}
	if t.Kind == Symbol && t.Text == "-." {
		p.take()
		p.need("_")
		return Param{"-.", 1, Prefix}
	}
	q := Param{Name: p.ident("a name")}
	if p.accept("(") {
		for {
			p.need("_")
			q.Arity++
			if !p.accept(",") {
				break
			}
		}
		p.need(")")
	}
	return q
}

func (p *parser) assume(d Decl) Unit {
	p.take()
	a := &Assume{Decl: d}
	if p.raw().Kind == Ident && p.peekAt(1).Text == "==" {
		a.Name = p.take().Text
		p.take()
	}
	a.X = p.expr()
	return a
}

// text keeps a theorem with its proof as it was written, up to the next unit at its column.
func (p *parser) text(d Decl) Unit {
	u := &Text{Decl: d}
	first := p.take()
	if p.raw().Kind == Ident && p.peekAt(1).Text == "==" {
		u.Name = p.take().Text
		p.take()
	}
	theorem := first.Text == "THEOREM" || first.Text == "LEMMA" || first.Text == "COROLLARY" || first.Text == "PROPOSITION"
	if theorem {
		u.X = p.statement()
	}
	if u.X == nil || p.atProof() {
		p.skipProof(d.P.Col)
	}
	u.Src = p.src[first.Off:p.toks[p.at-1].End]
	return u
}

// statement parses the statement of a theorem; ASSUME … PROVE and what is no expression give nil.
func (p *parser) statement() (x Expr) {
	at, errs := p.at, len(p.errs)
	defer p.recoverTo(func() {
		p.at, p.errs, p.limit, p.depth, x = at, p.errs[:errs], 0, 0, nil
	})
	p.proof = true
	defer func() { p.proof = false }()
	if p.is("ASSUME") {
		return nil
	}
	return p.expr()
}

// atProof reports whether a proof begins here; without one the next unit does.
func (p *parser) atProof() bool {
	t := p.raw()
	if t.Kind == Word {
		switch t.Text {
		case "PROOF", "BY", "OBVIOUS", "OMITTED":
			return true
		}
	}
	return t.Kind == Symbol && t.Text == "<"
}

func (p *parser) skipProof(col int) {
	for {
		t := p.raw()
		if t.Kind == EndModule || t.Kind == EOF || t.Kind == Separator {
			return
		}
		if t.FirstOn && t.Pos.Col <= col && p.startsUnit() {
			return
		}
		if !t.FirstOn || p.at == 0 {
			p.at++
			continue
		}
		p.at++
	}
}

func (p *parser) instance(d Decl, local bool, name string, params []Param) Unit {
	p.need("INSTANCE")
	in := &Instance{Decl: d, Local: local, Name: name, Params: params, Module: p.ident("module name after INSTANCE")}
	if !p.accept("WITH") {
		return in
	}
	for {
		t := p.take()
		_, infix := infixOps[t.Text]
		_, prefix := prefixOps[t.Text]
		_, postfix := postfixOps[t.Text]
		if t.Kind != Ident && !infix && !prefix && !postfix && t.Text != "-." {
			p.failAt(t.Pos, "expected a constant or variable name after WITH, found %s", t.describe())
		}
		p.need("<-")
		in.Substs = append(in.Substs, Subst{t.Text, p.arg()})
		if !p.accept(",") {
			return in
		}
	}
}

// def parses an operator, function or named-instance definition.
func (p *parser) def(d Decl, local bool) Unit {
	def := &Def{Decl: d, Local: local}
	t := p.peek()
	switch {
	case t.Kind == Symbol && (t.Text == "-." || prefixOps[t.Text] != opInfo{} && t.Text != "-"):
		p.take()
		def.Name, def.Fix = t.Text, Prefix
		def.Params = []Param{{Name: p.ident("operand name")}}
	case t.Kind == Ident:
		p.defHead(def)
	default:
		p.expected("a definition")
	}
	if !p.is("==") {
		p.expected("'==' after the head of definition " + def.Name)
	}
	p.take()
	if p.is("INSTANCE") && def.Fix == Nonfix && def.Bounds == nil {
		return p.instance(d, local, def.Name, def.Params)
	}
	def.Body = p.expr()
	return def
}

func (p *parser) defHead(def *Def) {
	first := p.take()
	n := p.peek()
	_, infix := infixOps[n.Text]
	_, postfix := postfixOps[n.Text]
	switch {
	case n.Kind == Symbol && n.Text == "(":
		p.take()
		def.Name = first.Text
		if !p.accept(")") {
			def.Params = p.params()
			p.need(")")
		}
	case n.Kind == Symbol && n.Text == "[":
		p.take()
		def.Name = first.Text
		def.Bounds = p.bounds(true)
		p.need("]")
	case n.Kind == Symbol && infix && n.Text != "==":
		p.take()
		def.Name, def.Fix = n.Text, Infix
		def.Params = []Param{{Name: first.Text}, {Name: p.ident("right operand name")}}
	case n.Kind == Symbol && postfix:
		p.take()
		def.Name, def.Fix = n.Text, Postfix
		def.Params = []Param{{Name: first.Text}}
	default:
		def.Name = first.Text
	}
}

// bounds parses x, y \in S, <<a, b>> \in T; unbounded groups only when not needSet.
func (p *parser) bounds(needSet bool) []Bound {
	var out []Bound
	for {
		b := Bound{P: p.peek().Pos}
		if p.accept("<<") {
			b.Tuple = true
			b.Names = p.idents("bound identifier")
			p.need(">>")
		} else {
			b.Names = p.idents("bound identifier")
		}
		if needSet || p.is("\\in") {
			p.need("\\in")
			b.Set = p.expr()
		}
		out = append(out, b)
		if b.Set == nil || !p.accept(",") {
			return out
		}
	}
}
