package feel

import (
	"slices"
	"strings"
)

func (p *parser) conditional() node {
	n := &ifNode{at: at(p.take().pos)}
	n.condition = p.expression()
	p.expectWord("then", "after the condition")
	n.then = p.expression()
	p.expectWord("else", "after \"then\" and its expression")
	n.otherwise = p.expression()
	return n
}

// partial is the name under which the body of a for sees its results so far.
const partial = "partial"

func (p *parser) loop() node {
	n := &forNode{at: at(p.take().pos)}
	mark := len(p.locals)
	n.iterators = p.iterators()
	p.expectWord("return", "after the iterators")
	p.locals = append(p.locals, partial)
	n.body = p.expression()
	p.locals = p.locals[:mark]
	return n
}

func (p *parser) quantified() node {
	t := p.take()
	n := &quantifiedNode{at: at(t.pos), every: t.text == "every"}
	mark := len(p.locals)
	n.iterators = p.iterators()
	p.expectWord("satisfies", "after the iterators")
	n.condition = p.expression()
	p.locals = p.locals[:mark]
	return n
}

// iterators parses "a in x, b in y"; each domain may use the names before it. The names stay in
// p.locals for the caller's body.
func (p *parser) iterators() []iterator {
	var list []iterator
	for {
		it := iterator{name: p.variable("an iterator")}
		p.expectWord("in", "after the iterator's name")
		it.from = p.operand(levelAdd)
		if p.accept("..") {
			it.to = p.binary(levelAdd)
		}
		list = append(list, it)
		p.locals = append(p.locals, it.name)
		if !p.accept(",") {
			return list
		}
	}
}

// typ parses a type name.
func (p *parser) typ() *typeRef {
	t := &typeRef{any: true}
	p.nested(func() node {
		t = p.typeName()
		return nil
	})
	return t
}

func (p *parser) typeName() *typeRef {
	t := p.take()
	if t.kind != tokenName {
		p.fail(t.pos, "expected a type, found %v", t)
		return &typeRef{any: true}
	}
	name := t.text
	for _, long := range [...]string{"date and time", "days and time duration", "years and months duration"} {
		if words := strings.Fields(long); p.words(words) {
			p.next += len(words) - 1
			name = long
		}
	}
	switch name {
	case "Any":
		return &typeRef{any: true}
	case "list", "range":
		return p.elementType(pick(name == "list", "list", "range"))
	case "context":
		return p.contextType()
	case "function":
		return p.functionType()
	}
	for k := KindNull; k < KindList; k++ {
		if k.String() == name {
			return &typeRef{kind: k}
		}
	}
	p.fail(t.pos, "unknown type %q", name)
	return &typeRef{any: true}
}

// words reports whether the taken token and the ones after it are these words.
func (p *parser) words(words []string) bool {
	for i, word := range words {
		if !p.tokens[min(p.next-1+i, len(p.tokens)-1)].word(word) {
			return false
		}
	}
	return true
}

func (p *parser) elementType(name string) *typeRef {
	t := &typeRef{kind: KindList}
	if name == "range" {
		t.kind = KindRange
	}
	if p.accept("<") {
		t.element = p.typ()
		p.expect(">", "after the element type")
	}
	return t
}

func (p *parser) contextType() *typeRef {
	t := &typeRef{kind: KindContext}
	if !p.accept("<") {
		return t
	}
	for {
		field := typeField{name: p.key()}
		p.expect(":", "after the entry's name")
		field.typ = p.typ()
		t.fields = append(t.fields, field)
		if !p.accept(",") {
			p.expect(">", "after the entries")
			return t
		}
	}
}

func (p *parser) functionType() *typeRef {
	t := &typeRef{kind: KindFunction}
	if !p.accept("<") {
		return t
	}
	for !p.accept(">") {
		if len(t.params) > 0 {
			p.expect(",", "between parameter types")
		}
		t.params = append(t.params, p.typ())
		if p.err != nil {
			return t
		}
	}
	p.expect("->", "before the result type")
	t.result = p.typ()
	return t
}

// call parses the arguments of a function value. A plain name must be bound here: data holds no functions.
func (p *parser) call(callee node) node {
	pos := p.peek().pos
	if name, ok := callee.(*nameNode); ok && !p.isLocal(name.name) {
		if name.builtin != nil {
			return p.builtinArguments(name.position(), name.builtin)
		}
		return p.fail(name.position(), "unknown function %q", name.name)
	}
	args, names := p.arguments()
	return &callNode{at: at(pos), callee: callee, args: args, names: names}
}

// builtinArguments parses the call of a built-in and brings named arguments into order.
func (p *parser) builtinArguments(pos int, b *builtin) node {
	args, names := p.arguments()
	if p.err != nil {
		return &literalNode{at(pos), Null{}, "null"}
	}
	n := &callNode{at: at(pos), builtin: b, args: args}
	if names == nil {
		if !b.takes(len(args)) {
			return p.fail(pos, "%s takes %s, not %d arguments", b.name, b.usage(), len(args))
		}
		return n
	}
	if n.args, n.names = b.arrange(args, names); n.args == nil {
		return p.fail(pos, "%s takes %s, not (%s)", b.name, b.usage(), strings.Join(names, ", "))
	}
	return n
}

// arguments parses "(a, b)" or "(name: a, other: b)"; names is nil for the first form.
func (p *parser) arguments() (args []node, names []string) {
	p.expect("(", "before the arguments")
	if p.accept(")") {
		return nil, nil
	}
	named := p.namedArgument()
	for {
		if named {
			t := p.peek()
			name := p.key()
			if p.err == nil && slices.Contains(names, name) {
				p.fail(t.pos, "the argument %q stands twice", name)
			}
			p.expect(":", "after the argument's name")
			names = append(names, name)
		}
		args = append(args, p.expression())
		if !p.accept(",") {
			p.expect(")", "after the arguments")
			return args, names
		}
	}
}

// namedArgument looks whether words and a colon are next.
func (p *parser) namedArgument() bool {
	i := 0
	for k := p.ahead(i).kind; k == tokenName || k == tokenQuotedName; k = p.ahead(i).kind {
		i++
	}
	return i > 0 && p.ahead(i).is(":")
}
