package feel

import "slices"

// atom parses literals, names, brackets and function definitions.
func (p *parser) atom() node {
	t := p.peek()
	switch t.kind {
	case tokenNumber:
		p.take()
		n, err := ParseNumber(t.text)
		if err != nil {
			return p.fail(t.pos, "%s is not a number of at most %d digits and exponent %d", t.text, precision, maxExponent)
		}
		return &literalNode{at(t.pos), n, n.String()}
	case tokenString:
		p.take()
		return &literalNode{at(t.pos), String(t.text), quote(t.text)}
	case tokenAt:
		p.take()
		return p.atLiteral(t)
	case tokenQuotedName:
		p.take()
		return p.reference(t, nil)
	case tokenName:
		return p.name(t)
	case tokenSymbol:
		return p.bracket(t)
	case tokenEnd:
	}
	return p.fail(t.pos, "expected an expression, found %v", t)
}

// atLiteral parses the content of @"…". One with a time zone name gets its value at evaluation, because
// only Options.Zone knows the zones.
func (p *parser) atLiteral(t token) node {
	value, err := parseTemporal(t.text, func(string) (zone, bool) { return zone{}, true })
	if err != nil {
		return p.fail(t.pos, "%v: %v", t, err)
	}
	if zoned(value) {
		return &zonedNode{at(t.pos), t.text}
	}
	return &literalNode{at(t.pos), value, "@" + quote(value.String())}
}

func (p *parser) name(t token) node {
	switch t.text {
	case "true", "false":
		p.take()
		return &literalNode{at(t.pos), Bool(t.text == "true"), t.text}
	case "null":
		p.take()
		return &literalNode{at(t.pos), Null{}, "null"}
	case "function":
		return p.function()
	case "if", "for", "some", "every":
		return p.fail(t.pos, "%q needs parentheses here", t.text)
	}
	if b, words := p.builtinCall(); b != nil {
		p.next += words
		return p.builtinArguments(t.pos, b)
	}
	if isKeyword(t.text) {
		return p.fail(t.pos, "expected an expression, found %v", t)
	}
	p.take()
	return p.reference(t, findBuiltin(t.text))
}

// maxNameWords is the number of words of the longest built-in name.
const maxNameWords = 4

// builtinCall finds the built-in whose name, followed by "(", is next, and the number of its words.
func (p *parser) builtinCall() (b *builtin, words int) {
	name := ""
	for i := range maxNameWords {
		t := p.ahead(i)
		if t.kind != tokenName {
			break
		}
		name += pick(i > 0, " ", "") + t.text
		if !p.ahead(i+1).is("(") || i == 0 && p.isLocal(name) {
			continue
		}
		if found := findBuiltin(name); found != nil {
			b, words = found, i+1
		}
	}
	return b, words
}

func (p *parser) isLocal(name string) bool { return slices.Contains(p.locals, name) }

func (p *parser) reference(t token, b *builtin) node {
	if p.isLocal(t.text) {
		return &nameNode{at(t.pos), t.text, nil}
	}
	p.free = append(p.free, t.text)
	return &nameNode{at(t.pos), t.text, b}
}

func (p *parser) bracket(t token) node {
	switch {
	case p.accept("("):
		return p.parenthesis(t.pos)
	case p.accept("["):
		return p.listOrRange(t.pos)
	case p.accept("]"):
		return p.rangeFrom(t.pos, p.nested(func() node { return p.binary(levelAdd) }), false)
	case p.accept("{"):
		return p.context(t.pos)
	}
	return p.fail(t.pos, "expected an expression, found %v", t)
}

// parenthesis parses (expression), (low..high) and one-sided ranges such as (< 5).
func (p *parser) parenthesis(pos int) node {
	value := p.nested(func() node { return p.oneSided() })
	if value == nil {
		value = p.expression()
	}
	if p.peek().is("..") {
		return p.rangeFrom(pos, value, false)
	}
	p.expect(")", "after the expression")
	return value
}

func (p *parser) listOrRange(pos int) node {
	n := &listNode{at: at(pos)}
	if p.accept("]") {
		return n
	}
	for {
		n.items = append(n.items, p.expression())
		if len(n.items) == 1 && p.peek().is("..") {
			return p.rangeFrom(pos, n.items[0], true)
		}
		if !p.accept(",") {
			p.expect("]", "after the list")
			return n
		}
	}
}

// rangeFrom parses the rest of a range after its low endpoint.
func (p *parser) rangeFrom(pos int, low node, included bool) node {
	p.expect("..", "in the range")
	n := &rangeNode{at: at(pos), low: low, high: p.nested(func() node { return p.binary(levelAdd) }), lowIncluded: included}
	switch end := p.peek(); {
	case p.accept("]"):
		n.highIncluded = true
	case p.accept(")"), p.accept("["):
	default:
		p.fail(end.pos, "expected \"]\", \")\" or \"[\" after the range, found %v", end)
	}
	return n
}

// context parses {key: value, …}. Each entry may use the ones before it.
func (p *parser) context(pos int) node {
	n := &contextNode{at: at(pos)}
	mark := len(p.locals)
	defer func() { p.locals = p.locals[:mark] }()
	if p.accept("}") {
		return n
	}
	for {
		t := p.peek()
		key := p.key()
		if p.err == nil && slices.Contains(n.keys, key) {
			p.fail(t.pos, "the key %q stands twice in the context", key)
		}
		p.expect(":", "after the key")
		n.keys = append(n.keys, key)
		n.values = append(n.values, p.expression())
		p.locals = append(p.locals, key)
		if !p.accept(",") {
			p.expect("}", "after the context")
			return n
		}
	}
}

// key parses a context key or argument name: a string, or words.
func (p *parser) key() string {
	t := p.take()
	switch t.kind {
	case tokenString, tokenQuotedName:
		return t.text
	case tokenName:
		name := t.text
		for p.peek().kind == tokenName {
			name += " " + p.take().text
		}
		return name
	default:
		p.fail(t.pos, "expected a key, found %v", t)
		return ""
	}
}

// function parses function(parameters) body.
func (p *parser) function() node {
	pos := p.take().pos
	p.expect("(", "after \"function\"")
	n := &functionNode{at: at(pos)}
	for !p.accept(")") {
		t := p.peek()
		if len(n.params) > 0 {
			p.expect(",", "between parameters")
		}
		name := p.variable("a parameter")
		if p.err != nil {
			return n
		}
		if slices.Contains(n.params, name) {
			return p.fail(t.pos, "two parameters are named %q", name)
		}
		n.params = append(n.params, name)
		if p.accept(":") {
			p.typ() // a parameter's type is documentation here; arguments keep their own kind
		}
	}
	if t := p.peek(); t.word("external") {
		return p.fail(t.pos, "external functions are not supported")
	}
	mark := len(p.locals)
	p.locals = append(p.locals, n.params...)
	n.body = p.expression()
	p.locals = p.locals[:mark]
	return n
}

// variable parses a name that is being bound.
func (p *parser) variable(what string) string {
	t := p.take()
	if t.kind == tokenQuotedName || t.kind == tokenName && !isKeyword(t.text) {
		return t.text
	}
	p.fail(t.pos, "expected the name of %s, found %v", what, t)
	return ""
}
