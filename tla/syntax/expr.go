package syntax

// expr parses an expression of any precedence.
func (p *parser) expr() Expr { return p.binary(0, 0, "") }

// binary parses an operand and the operators that bind it more tightly than the operator on its
// left, whose precedence range is low..high (0..0 for none).
func (p *parser) binary(low, high int, leftOp string) Expr {
	p.enter()
	defer p.leave()
	left := p.operand()
	for {
		t := p.peek()
		info, ok := infixOps[t.Text]
		if !ok || t.Kind != Symbol {
			return left
		}
		if high > 0 && !p.shift(t, info, low, high, leftOp) {
			return left
		}
		p.take()
		right := p.binary(info.low, info.high, t.Text)
		if x, ok := left.(*Op); ok && t.Text == "\\X" && x.Name == "\\X" {
			x.Args = append(x.Args, right)
			continue
		}
		left = &Op{Node{left.Pos()}, t.Text, Infix, []Expr{left, right}}
	}
}

// shift decides between the operator on the left of an operand and the one on its right.
func (p *parser) shift(t Token, info opInfo, low, high int, leftOp string) bool {
	switch {
	case info.low > high:
		return true
	case info.high < low:
		return false
	case t.Text == leftOp && info.left:
		return false
	}
	p.failAt(t.Pos, "operators '%s' and '%s' have conflicting precedence, add parentheses", leftOp, t.Text)
	return false
}

// operand parses a prefix operator with its operand, or a primary with its postfix operators.
func (p *parser) operand() Expr {
	t := p.peek()
	if t.Kind == Symbol && (t.Text == "/\\" || t.Text == "\\/") {
		return p.junction(t)
	}
	name := t.Text
	info, ok := prefixOps[name]
	if ok && (t.Kind == Symbol || t.Kind == Word) {
		p.take()
		if next := p.peek(); next.Kind == Symbol && (next.Text == "," || next.Text == ")") {
			return &Ref{Node{t.Pos}, []Part{{Name: name}}}
		}
		if name == "-" {
			name = "-."
		}
		x := p.prefixOperand(info, name)
		return &Op{Node{t.Pos}, name, Prefix, []Expr{x}}
	}
	return p.postfix(p.primary())
}

func (p *parser) prefixOperand(info opInfo, name string) Expr {
	p.enter()
	defer p.leave()
	left := p.operand()
	for {
		t := p.peek()
		in, ok := infixOps[t.Text]
		// A prefix operator takes what binds tighter than it; an overlap reads as the prefix first.
		if !ok || t.Kind != Symbol || in.low <= info.low {
			return left
		}
		p.take()
		right := p.binary(in.low, in.high, t.Text)
		if x, ok := left.(*Op); ok && t.Text == "\\X" && x.Name == "\\X" {
			x.Args = append(x.Args, right)
			continue
		}
		left = &Op{Node{left.Pos()}, t.Text, Infix, []Expr{left, right}}
	}
}

// junction parses a list whose bullets stand in the column of t.
func (p *parser) junction(t Token) Expr {
	p.enter()
	defer p.leave()
	j := &Junction{Node{t.Pos}, t.Text, nil}
	saved := p.limit
	for {
		n := p.raw()
		if n.Kind != Symbol || n.Text != t.Text || n.Pos.Col != t.Pos.Col {
			break
		}
		if len(j.Items) > 0 && saved >= n.Pos.Col {
			break
		}
		p.take()
		p.limit = t.Pos.Col
		j.Items = append(j.Items, p.expr())
		p.limit = saved
	}
	return j
}

// inside parses between brackets, where the column rule of the enclosing list does not apply.
func (p *parser) inside(f func()) {
	saved := p.limit
	p.limit = 0
	f()
	p.limit = saved
}

func (p *parser) postfix(x Expr) Expr {
	for {
		t := p.peek()
		if t.Kind != Symbol {
			return x
		}
		switch t.Text {
		case "[":
			p.take()
			a := &FcnApp{Node{x.Pos()}, x, nil}
			p.inside(func() {
				a.Args = p.exprs()
				p.need("]")
			})
			x = a
		case ".":
			p.take()
			name := p.take()
			if name.Kind != Ident && name.Kind != Word {
				p.failAt(name.Pos, "expected a field name after '.', found %s", name.describe())
			}
			x = &Dot{Node{x.Pos()}, x, name.Text}
		case "'", "^+", "^*", "^#":
			p.take()
			x = &Op{Node{x.Pos()}, t.Text, Postfix, []Expr{x}}
		default:
			return x
		}
	}
}

func (p *parser) exprs() []Expr {
	var out []Expr
	for {
		out = append(out, p.expr())
		if !p.accept(",") {
			return out
		}
	}
}

// arg parses an argument: an expression, LAMBDA, or the bare name of an infix operator.
func (p *parser) arg() Expr {
	t := p.peek()
	n := p.peekAt(1)
	_, infix := infixOps[t.Text]
	_, post := postfixOps[t.Text]
	bare := n.Kind != Symbol || n.Text == "," || n.Text == ")"
	if t.Kind == Symbol && (infix || post || t.Text == "-.") && bare && prefixBare(t, n) {
		p.take()
		return &Ref{Node{t.Pos}, []Part{{Name: t.Text}}}
	}
	return p.expr()
}

func prefixBare(t, n Token) bool {
	_, prefix := prefixOps[t.Text]
	if !prefix && t.Text != "/\\" && t.Text != "\\/" {
		return true
	}
	return n.Kind == Symbol && (n.Text == "," || n.Text == ")")
}

func (p *parser) args() []Expr {
	var out []Expr
	p.inside(func() {
		for {
			out = append(out, p.arg())
			if !p.accept(",") {
				break
			}
		}
		p.need(")")
	})
	return out
}

func (p *parser) primary() Expr {
	t := p.peek()
	n := Node{t.Pos}
	switch t.Kind {
	case Number:
		p.take()
		return &Num{n, t.Text}
	case String:
		p.take()
		return &Str{n, t.Text}
	case Ident:
		return p.ref()
	case Word:
		return p.keyword(t)
	case Symbol:
		return p.bracketed(t)
	default:
	}
	p.expected("an expression")
	return nil
}

func (p *parser) bracketed(t Token) Expr {
	n := Node{t.Pos}
	var x Expr
	switch t.Text {
	case "(":
		p.take()
		p.inside(func() {
			x = &Paren{n, p.expr()}
			p.need(")")
		})
		return x
	case "<<":
		p.take()
		p.inside(func() { x = p.tuple(n) })
		return p.angleSubscript(x)
	case "{":
		p.take()
		p.inside(func() { x = p.set(n) })
		return x
	case "[":
		p.take()
		p.inside(func() { x = p.square(n) })
		if b, ok := x.(*Box); ok {
			b.V = p.subscript()
		}
		return x
	case "@":
		p.take()
		return &At{n}
	case "\\A", "\\E", "\\AA", "\\EE":
		p.take()
		q := &Quant{Node: n, Kind: t.Text, Bounds: p.bounds(false)}
		p.need(":")
		q.Body = p.expr()
		return q
	}
	if _, infix := infixOps[t.Text]; infix && p.peekAt(1).Text == "(" && p.peekAt(1).Kind == Symbol {
		return p.nonfix(t)
	}
	p.expected("an expression")
	return nil
}

func (p *parser) tuple(n Node) Expr {
	x := &Tuple{Node: n}
	if p.accept(">>") {
		return x
	}
	x.Elems = p.exprs()
	if p.is(">>_") {
		if len(x.Elems) != 1 {
			p.failAt(p.raw().Pos, "expected one action between '<<' and '>>_', found %d", len(x.Elems))
		}
		p.take()
		return &Box{Node: n, Angle: true, A: x.Elems[0]}
	}
	p.need(">>")
	return x
}

func (p *parser) angleSubscript(x Expr) Expr {
	if b, ok := x.(*Box); ok {
		b.V = p.subscript()
	}
	return x
}

// subscript parses v of [A]_v, WF_v(A): a name without arguments, a tuple or a parenthesis.
func (p *parser) subscript() Expr {
	t := p.peek()
	if t.Kind != Ident {
		return p.primary()
	}
	r := &Ref{Node: Node{t.Pos}, Parts: []Part{{Name: p.take().Text}}}
	for p.is("!") && p.peekAt(1).Kind == Ident {
		p.take()
		r.Parts = append(r.Parts, Part{Name: p.take().Text})
	}
	return r
}

// nonfix parses an infix operator that is written before its two arguments, like <(a, b).
func (p *parser) nonfix(t Token) Expr {
	p.take()
	p.take()
	args := p.args()
	if len(args) != 2 {
		p.failAt(t.Pos, "operator %s needs 2 arguments, found %d", t.Text, len(args))
	}
	return &Paren{Node{t.Pos}, &Op{Node: Node{t.Pos}, Name: t.Text, Fix: Infix, Args: args}}
}
