package syntax

// ref parses a name with arguments and "!" selectors, or a label.
func (p *parser) ref() Expr {
	t := p.peek()
	r := &Ref{Node: Node{t.Pos}}
	r.Parts = append(r.Parts, p.namePart())
	if p.is("::") {
		return p.label(r)
	}
	for p.is("!") {
		p.take()
		r.Parts = append(r.Parts, p.selector())
	}
	return r
}

func (p *parser) namePart() Part {
	part := Part{Name: p.take().Text}
	if p.accept("(") {
		part.Args = p.args()
	}
	return part
}

func (p *parser) selector() Part {
	t := p.peek()
	switch {
	case t.Kind == Ident:
		return p.namePart()
	case t.Kind == Number:
		p.take()
		return Part{Name: t.Text}
	case t.Kind == Symbol && (t.Text == "<<" || t.Text == ">>" || t.Text == "@" || t.Text == ":"):
		p.take()
		return Part{Name: t.Text}
	case t.Kind == Symbol && t.Text == "(":
		p.take()
		return Part{Name: "()", Args: p.args()}
	case t.Kind == Symbol || t.Kind == Word:
		_, in := infixOps[t.Text]
		_, pre := prefixOps[t.Text]
		_, post := postfixOps[t.Text]
		if in || pre || post {
			return p.namePart()
		}
	}
	p.expected("a name or selector after '!'")
	return Part{}
}

func (p *parser) label(r *Ref) Expr {
	l := &Label{Node: r.Node, Name: r.Parts[0].Name}
	for _, a := range r.Parts[0].Args {
		id, ok := a.(*Ref)
		if !ok || len(id.Parts) != 1 || id.Parts[0].Args != nil {
			p.failAt(a.Pos(), "expected an identifier as parameter of label %s", l.Name)
		}
		l.Params = append(l.Params, id.Parts[0].Name)
	}
	p.need("::")
	l.X = p.expr()
	return l
}

func (p *parser) keyword(t Token) Expr {
	n := Node{t.Pos}
	switch t.Text {
	case "IF":
		p.take()
		x := &If{Node: n, Cond: p.expr()}
		p.need("THEN")
		x.Then = p.expr()
		p.need("ELSE")
		x.Else = p.expr()
		return x
	case "CASE":
		p.take()
		return p.caseExpr(n)
	case "LET":
		p.take()
		return p.let(n)
	case "CHOOSE":
		p.take()
		q := &Quant{Node: n, Kind: "CHOOSE"}
		b := Bound{P: p.peek().Pos}
		if p.accept("<<") {
			b.Tuple = true
			b.Names = p.idents("bound identifier")
			p.need(">>")
		} else {
			b.Names = []string{p.ident("bound identifier after CHOOSE")}
		}
		if p.accept("\\in") {
			b.Set = p.expr()
		}
		p.need(":")
		q.Bounds = []Bound{b}
		q.Body = p.expr()
		return q
	case "LAMBDA":
		p.take()
		l := &Lambda{Node: n, Params: p.idents("parameter of LAMBDA")}
		p.need(":")
		l.Body = p.expr()
		return l
	case "WF_", "SF_":
		p.take()
		f := &Fair{Node: n, Strong: t.Text == "SF_", V: p.subscript()}
		p.need("(")
		p.inside(func() {
			f.A = p.expr()
			p.need(")")
		})
		return f
	}
	p.expected("an expression")
	return nil
}

func (p *parser) caseExpr(n Node) Expr {
	c := &Case{Node: n}
	for {
		var a Arm
		if !p.accept("OTHER") {
			a.Cond = p.expr()
		}
		p.need("->")
		a.Body = p.expr()
		c.Arms = append(c.Arms, a)
		if a.Cond == nil || !p.accept("[]") {
			return c
		}
	}
}

func (p *parser) let(n Node) Expr {
	l := &Let{Node: n}
	for !p.is("IN") {
		t := p.peek()
		d := Decl{Node{t.Pos}, t.Comments}
		if p.accept("RECURSIVE") {
			l.Defs = append(l.Defs, &Recursive{d, p.params()})
			continue
		}
		l.Defs = append(l.Defs, p.def(d, false))
	}
	if len(l.Defs) == 0 {
		p.expected("a definition after LET")
	}
	p.need("IN")
	l.Body = p.expr()
	return l
}

// maxAhead bounds the scan for the symbol that tells the forms of a bracket apart.
const maxAhead = 50_000

// ahead scans to the end of the current bracket for the first of the given symbols at depth zero.
func (p *parser) ahead(texts ...string) string {
	depth := 0
	for i := p.at; i < len(p.toks) && i < p.at+maxAhead; i++ {
		t := p.toks[i]
		switch {
		case t.Kind == EOF || t.Kind == EndModule || t.Kind == Separator:
			return ""
		case opens(t):
			depth++
		case closes(t):
			if depth == 0 {
				return ""
			}
			depth--
		case depth == 0 && t.Kind == Symbol:
			for _, want := range texts {
				if t.Text == want {
					return want
				}
			}
		}
	}
	return ""
}

// atBound reports whether the next tokens are identifiers, or a tuple of them, before "\in".
func (p *parser) atBound(several bool) bool {
	i := 0
	tuple := p.raw().Text == "<<" && p.raw().Kind == Symbol
	if tuple {
		i++
	}
	for {
		if p.peekAt(i).Kind != Ident {
			return false
		}
		i++
		if (several || tuple) && p.peekAt(i).Text == "," {
			i++
			continue
		}
		break
	}
	if tuple {
		if p.peekAt(i).Text != ">>" {
			return false
		}
		i++
	}
	return p.peekAt(i).Kind == Symbol && p.peekAt(i).Text == "\\in"
}

func (p *parser) set(n Node) Expr {
	if p.accept("}") {
		return &SetEnum{Node: n}
	}
	if p.atBound(false) && p.ahead(":", ",") == ":" {
		f := &SetFilter{Node: n}
		b := Bound{P: p.peek().Pos}
		if p.accept("<<") {
			b.Tuple = true
			b.Names = p.idents("bound identifier")
			p.need(">>")
		} else {
			b.Names = []string{p.ident("bound identifier")}
		}
		p.need("\\in")
		b.Set = p.expr()
		p.need(":")
		f.B, f.Body = b, p.expr()
		p.need("}")
		return f
	}
	first := p.expr()
	if p.accept(":") {
		m := &SetMap{Node: n, Body: first, Bounds: p.bounds(true)}
		p.need("}")
		return m
	}
	s := &SetEnum{n, []Expr{first}}
	for p.accept(",") {
		s.Elems = append(s.Elems, p.expr())
	}
	p.need("}")
	return s
}

func (p *parser) square(n Node) Expr {
	t, next := p.raw(), p.peekAt(1)
	name := t.Kind == Ident || t.Kind == Word
	switch {
	case name && next.Text == "|->":
		return p.record(n, false, "|->")
	case name && next.Text == ":":
		return p.record(n, true, ":")
	case p.atBound(true) && p.ahead("|->") != "":
		f := &FcnDef{Node: n, Bounds: p.bounds(true)}
		p.need("|->")
		f.Body = p.expr()
		p.need("]")
		return f
	}
	x := p.expr()
	switch {
	case p.accept("->"):
		s := &FcnSet{n, x, p.expr()}
		p.need("]")
		return s
	case p.accept("EXCEPT"):
		return p.except(n, x)
	case p.accept("]_"):
		return &Box{Node: n, A: x}
	}
	p.expected("'|->', '->', 'EXCEPT' or ']_' inside '['")
	return nil
}

func (p *parser) record(n Node, set bool, sep string) Expr {
	r := &Record{Node: n, Set: set}
	for {
		t := p.take()
		if t.Kind != Ident && t.Kind != Word {
			p.failAt(t.Pos, "expected a field name, found %s", t.describe())
		}
		p.need(sep)
		r.Fields = append(r.Fields, Field{t.Text, p.expr()})
		if !p.accept(",") {
			p.need("]")
			return r
		}
	}
}

func (p *parser) except(n Node, fn Expr) Expr {
	e := &Except{Node: n, Fn: fn}
	for {
		s := ExceptSpec{P: p.peek().Pos}
		p.need("!")
		for {
			if p.accept(".") {
				t := p.take()
				if t.Kind != Ident && t.Kind != Word {
					p.failAt(t.Pos, "expected a field name after '.', found %s", t.describe())
				}
				s.Path = append(s.Path, ExceptPath{Name: t.Text})
			} else if p.accept("[") {
				s.Path = append(s.Path, ExceptPath{Args: p.exprs()})
				p.need("]")
			} else {
				break
			}
		}
		if len(s.Path) == 0 {
			p.expected("'.field' or '[argument]' after '!'")
		}
		p.need("=")
		s.X = p.expr()
		e.Specs = append(e.Specs, s)
		if !p.accept(",") {
			p.need("]")
			return e
		}
	}
}
