package syntax

import "strings"

// printer writes the tree so that it parses to the same tree: junction lists are aligned by column.
type printer struct {
	b   strings.Builder
	col int
}

func (p *printer) w(s string) {
	p.b.WriteString(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		p.col = 0
		s = s[i+1:]
	}
	p.col += len([]rune(s))
}

func (p *printer) nl(col int) {
	p.b.WriteString("\n" + strings.Repeat(" ", col))
	p.col = col
}

// Format renders an expression.
func Format(x Expr) string {
	p := &printer{}
	p.expr(x)
	return p.b.String()
}

// FormatModule renders a module with the comments before its units.
func FormatModule(m *Module) string {
	p := &printer{}
	p.module(m)
	return p.b.String()
}

func (p *printer) module(m *Module) {
	p.w("---- MODULE " + m.Name + " ----\n")
	if len(m.Extends) > 0 {
		p.w("EXTENDS " + strings.Join(m.Extends, ", ") + "\n")
	}
	for _, u := range m.Units {
		for _, c := range u.Doc() {
			p.w(c + "\n")
		}
		p.unit(u)
		p.w("\n")
	}
	p.w("====\n")
}

func (p *printer) unit(u Unit) {
	switch u := u.(type) {
	case *Constants:
		p.w("CONSTANTS " + params(u.Params))
	case *Variables:
		p.w("VARIABLES " + strings.Join(u.Names, ", "))
	case *Recursive:
		p.w("RECURSIVE " + params(u.Params))
	case *Def:
		p.def(u)
	case *Instance:
		p.instance(u)
	case *Assume:
		p.w("ASSUME ")
		if u.Name != "" {
			p.w(u.Name + " == ")
		}
		p.expr(u.X)
	case *Text:
		p.w(u.Src)
	case *Rule:
		p.w("--------")
	case *Nested:
		p.module(u.M)
	}
}

func params(ps []Param) string {
	out := make([]string, len(ps))
	for i, q := range ps {
		switch {
		case q.Fix == Infix:
			out[i] = "_ " + q.Name + " _"
		case q.Fix == Prefix:
			out[i] = q.Name + " _"
		case q.Fix == Postfix:
			out[i] = "_ " + q.Name
		case q.Arity > 0:
			out[i] = q.Name + "(" + strings.TrimSuffix(strings.Repeat("_, ", q.Arity), ", ") + ")"
		default:
			out[i] = q.Name
		}
	}
	return strings.Join(out, ", ")
}

func (p *printer) def(d *Def) {
	if d.Local {
		p.w("LOCAL ")
	}
	switch {
	case d.Fix == Infix:
		p.w(d.Params[0].Name + " " + d.Name + " " + d.Params[1].Name)
	case d.Fix == Prefix:
		p.w(d.Name + " " + d.Params[0].Name)
	case d.Fix == Postfix:
		p.w(d.Params[0].Name + " " + d.Name)
	default:
		p.w(d.Name)
		if len(d.Params) > 0 {
			p.w("(" + params(d.Params) + ")")
		}
	}
	if d.Bounds != nil {
		p.w("[")
		p.bounds(d.Bounds)
		p.w("]")
	}
	p.w(" == ")
	p.expr(d.Body)
}

func (p *printer) instance(u *Instance) {
	if u.Local {
		p.w("LOCAL ")
	}
	if u.Name != "" {
		p.w(u.Name)
		if len(u.Params) > 0 {
			p.w("(" + params(u.Params) + ")")
		}
		p.w(" == ")
	}
	p.w("INSTANCE " + u.Module)
	for i, s := range u.Substs {
		if i == 0 {
			p.w(" WITH ")
		} else {
			p.w(", ")
		}
		p.w(s.Name + " <- ")
		p.expr(s.X)
	}
}

func (p *printer) bounds(bs []Bound) {
	for i, b := range bs {
		if i > 0 {
			p.w(", ")
		}
		if b.Tuple {
			p.w("<<" + strings.Join(b.Names, ", ") + ">>")
		} else {
			p.w(strings.Join(b.Names, ", "))
		}
		if b.Set != nil {
			p.w(" \\in ")
			p.expr(b.Set)
		}
	}
}

func (p *printer) list(xs []Expr) {
	for i, x := range xs {
		if i > 0 {
			p.w(", ")
		}
		p.expr(x)
	}
}

func quoted(s string) string {
	r := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\t", "\\t", "\r", "\\r", "\f", "\\f")
	return "\"" + r.Replace(s) + "\""
}

func (p *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Num:
		p.w(x.Text)
	case *Str:
		p.w(quoted(x.Val))
	case *At:
		p.w("@")
	case *Ref:
		p.ref(x)
	case *Op:
		p.op(x)
	case *Paren:
		p.w("(")
		p.expr(x.X)
		p.w(")")
	case *Junction:
		col := p.col
		for i, it := range x.Items {
			if i > 0 {
				p.nl(col)
			}
			p.w(x.Name + " ")
			p.expr(it)
		}
	case *Quant:
		p.w(x.Kind + " ")
		p.bounds(x.Bounds)
		p.w(" : ")
		p.expr(x.Body)
	case *If:
		p.w("IF ")
		p.expr(x.Cond)
		p.w(" THEN ")
		p.expr(x.Then)
		p.w(" ELSE ")
		p.expr(x.Else)
	case *Case:
		p.caseExpr(x)
	case *Let:
		p.let(x)
	case *Lambda:
		p.w("LAMBDA " + strings.Join(x.Params, ", ") + " : ")
		p.expr(x.Body)
	case *Label:
		p.w(x.Name)
		if len(x.Params) > 0 {
			p.w("(" + strings.Join(x.Params, ", ") + ")")
		}
		p.w(":: ")
		p.expr(x.X)
	default:
		p.bracketed(x)
	}
}

func (p *printer) bracketed(x Expr) {
	switch x := x.(type) {
	case *SetEnum:
		p.w("{")
		p.list(x.Elems)
		p.w("}")
	case *SetFilter:
		p.w("{")
		p.bounds([]Bound{x.B})
		p.w(" : ")
		p.expr(x.Body)
		p.w("}")
	case *SetMap:
		p.w("{")
		p.expr(x.Body)
		p.w(" : ")
		p.bounds(x.Bounds)
		p.w("}")
	case *FcnDef:
		p.w("[")
		p.bounds(x.Bounds)
		p.w(" |-> ")
		p.expr(x.Body)
		p.w("]")
	case *FcnApp:
		p.operand(x.Fn)
		p.w("[")
		p.list(x.Args)
		p.w("]")
	case *FcnSet:
		p.w("[")
		p.expr(x.Dom)
		p.w(" -> ")
		p.expr(x.Rng)
		p.w("]")
	case *Record:
		p.record(x)
	case *Dot:
		p.operand(x.X)
		p.w("." + x.Name)
	case *Except:
		p.except(x)
	case *Tuple:
		p.w("<<")
		p.list(x.Elems)
		p.w(">>")
	case *Box:
		p.box(x)
	case *Fair:
		if x.Strong {
			p.w("SF_")
		} else {
			p.w("WF_")
		}
		p.expr(x.V)
		p.w("(")
		p.expr(x.A)
		p.w(")")
	}
}

func (p *printer) box(x *Box) {
	if x.Angle {
		p.w("<<")
		p.expr(x.A)
		p.w(">>_")
	} else {
		p.w("[")
		p.expr(x.A)
		p.w("]_")
	}
	p.expr(x.V)
}

func (p *printer) record(x *Record) {
	p.w("[")
	sep := " |-> "
	if x.Set {
		sep = " : "
	}
	for i, f := range x.Fields {
		if i > 0 {
			p.w(", ")
		}
		p.w(f.Name + sep)
		p.expr(f.X)
	}
	p.w("]")
}

func (p *printer) except(x *Except) {
	p.w("[")
	p.expr(x.Fn)
	p.w(" EXCEPT ")
	for i, s := range x.Specs {
		if i > 0 {
			p.w(", ")
		}
		p.w("!")
		for _, st := range s.Path {
			if st.Name != "" {
				p.w("." + st.Name)
				continue
			}
			p.w("[")
			p.list(st.Args)
			p.w("]")
		}
		p.w(" = ")
		p.expr(s.X)
	}
	p.w("]")
}

func (p *printer) ref(x *Ref) {
	for i, part := range x.Parts {
		if i > 0 {
			p.w("!")
		}
		if part.Name != "()" {
			p.w(part.Name)
		}
		if part.Args != nil {
			p.w("(")
			p.list(part.Args)
			p.w(")")
		}
	}
}

// operand writes an operand; a junction list, which ends by column only, gets parentheses.
func (p *printer) operand(x Expr) {
	if _, ok := x.(*Junction); ok {
		p.w("(")
		p.expr(x)
		p.w(")")
		return
	}
	p.expr(x)
}

func (p *printer) op(x *Op) {
	switch x.Fix {
	case Postfix:
		p.operand(x.Args[0])
		p.w(x.Name)
	case Prefix:
		name := x.Name
		if name == "-." {
			name = "-"
		}
		p.w(name)
		in, prefixed := x.Args[0].(*Op)
		if name != "~" && name != "-" && name != "[]" && name != "<>" || prefixed && in.Fix == Prefix {
			p.w(" ")
		}
		p.operand(x.Args[0])
	default:
		for i, a := range x.Args {
			if i > 0 {
				p.w(" " + x.Name + " ")
			}
			p.operand(a)
		}
	}
}

func (p *printer) caseExpr(x *Case) {
	col := p.col
	for i, a := range x.Arms {
		if i == 0 {
			p.w("CASE ")
		} else {
			p.nl(col + 2)
			p.w("[] ")
		}
		if a.Cond == nil {
			p.w("OTHER")
		} else {
			p.expr(a.Cond)
		}
		p.w(" -> ")
		p.expr(a.Body)
	}
}

func (p *printer) let(x *Let) {
	col := p.col
	p.w("LET ")
	for i, d := range x.Defs {
		if i > 0 {
			p.nl(col + 4)
		}
		p.unit(d)
	}
	p.nl(col)
	p.w("IN ")
	p.expr(x.Body)
}
