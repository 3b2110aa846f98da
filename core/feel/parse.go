package feel

import (
	"fmt"
	"slices"
)

// Expression is a parsed expression. It is immutable and safe for concurrent use.
type Expression struct {
	source    string
	root      node
	variables []string
}

// Parse reads one expression. An error is an *Error with the place and the reason; it wraps ErrSyntax.
func Parse(source string) (*Expression, error) {
	tokens, err := tokenize(source)
	if err != nil {
		return nil, fmt.Errorf("parse expression: %w", err)
	}
	p := &parser{source: source, tokens: tokens}
	root := p.expression()
	if end := p.peek(); end.kind != tokenEnd {
		p.fail(end.pos, "unexpected %v after the expression%s", end, p.hint(end))
	}
	if p.err != nil {
		return nil, fmt.Errorf("parse expression: %w", p.err)
	}
	slices.Sort(p.free)
	return &Expression{source: source, root: root, variables: slices.Compact(p.free)}, nil
}

// Source returns the text the expression was parsed from.
func (e *Expression) Source() string { return e.source }

// String returns the expression in canonical form. Parsing it gives an equal expression.
func (e *Expression) String() string { return printNode(e.root) }

// Variables returns, sorted, the names that the expression may look up in its scope. A name used inside a
// filter is among them although an entry of the filtered items may be meant.
func (e *Expression) Variables() []string { return slices.Clone(e.variables) }

// parser builds the tree by recursive descent. The first fault is kept in err and moves the parser to the
// end of the text, where every rule stops by itself, so rules need not test for it.
type parser struct {
	source string
	tokens []token
	next   int
	err    *Error
	depth  int
	locals []string // names bound by enclosing functions, iterators and contexts
	free   []string
}

func (p *parser) fail(pos int, format string, args ...any) node {
	if p.err == nil {
		p.err = errorAt(p.source, pos, format, args...)
	}
	p.next = len(p.tokens) - 1
	return &literalNode{at(pos), Null{}, "null"}
}

// hint explains the most common reason for two names in a row.
func (p *parser) hint(t token) string {
	if p.next > 0 && t.kind == tokenName && !isKeyword(t.text) && p.tokens[p.next-1].kind == tokenName {
		return " (a name with blanks is written in backticks)"
	}
	return ""
}

func (p *parser) peek() token { return p.tokens[p.next] }

// ahead returns the token n places after the next one.
func (p *parser) ahead(n int) token { return p.tokens[min(p.next+n, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != tokenEnd {
		p.next++
	}
	return t
}

// accept takes the symbol if it is next.
func (p *parser) accept(symbol string) bool {
	if p.peek().is(symbol) {
		p.next++
		return true
	}
	return false
}

func (p *parser) acceptWord(name string) bool {
	if p.peek().word(name) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(symbol, where string) {
	if t := p.peek(); !p.accept(symbol) {
		p.fail(t.pos, "expected %q %s, found %v%s", symbol, where, t, p.hint(t))
	}
}

func (p *parser) expectWord(name, where string) {
	if t := p.peek(); !p.acceptWord(name) {
		p.fail(t.pos, "expected %q %s, found %v%s", name, where, t, p.hint(t))
	}
}

// nested runs one rule a level deeper.
func (p *parser) nested(rule func() node) node {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(p.peek().pos, "the expression nests deeper than %d", MaxDepth)
	}
	defer func() { p.depth-- }()
	return rule()
}

// expression parses any expression.
func (p *parser) expression() node {
	return p.nested(func() node {
		t := p.peek()
		if t.kind == tokenName {
			switch t.text {
			case "if":
				return p.conditional()
			case "for":
				return p.loop()
			case "some", "every":
				return p.quantified()
			}
		}
		return p.binary(levelOr)
	})
}

// operatorAt returns the binary operator that t stands for.
func operatorAt(t token) (operator, bool) {
	if t.kind != tokenSymbol && t.kind != tokenName {
		return 0, false
	}
	for op := opOr; op <= opPower; op++ {
		if op.String() == t.text {
			return op, true
		}
	}
	return 0, false
}

// binary parses operators of the given level and tighter, grouping to the left.
func (p *parser) binary(level int) node {
	if level > levelPower {
		return p.negation()
	}
	left := p.binary(level + 1)
	for {
		t := p.peek()
		if op, ok := operatorAt(t); ok && op.level() == level {
			p.take()
			left = &binaryNode{at(t.pos), op, left, p.operand(level + 1)}
			continue
		}
		if level == levelCompare && t.word("between") {
			left = p.between(left)
			continue
		}
		if level == levelCompare && t.word("in") {
			left = p.in(left)
			continue
		}
		return left
	}
}

// operand parses the right side of an operator. The forms that reach as far right as they can may stand
// there without parentheses.
func (p *parser) operand(level int) node {
	if t := p.peek(); t.word("if") || t.word("for") || t.word("some") || t.word("every") {
		return p.expression()
	}
	return p.binary(level)
}

func (p *parser) between(value node) node {
	pos := p.take().pos
	low := p.binary(levelAdd)
	p.expectWord("and", "between the bounds")
	return &betweenNode{at(pos), value, low, p.binary(levelAdd)}
}

// in parses the tests after "in": one, or several in parentheses.
func (p *parser) in(value node) node {
	pos := p.take().pos
	if !p.peek().is("(") {
		return &inNode{at(pos), value, []node{p.test()}}
	}
	open := p.take()
	first := p.nested(p.test)
	if p.peek().is("..") {
		return &inNode{at(pos), value, []node{p.rangeFrom(open.pos, first, false)}}
	}
	tests := []node{first}
	for p.accept(",") {
		tests = append(tests, p.nested(p.test))
	}
	p.expect(")", "after the tests")
	return &inNode{at(pos), value, tests}
}

// test parses one comparison such as "< 5", or an expression.
func (p *parser) test() node {
	if r := p.oneSided(); r != nil {
		return r
	}
	return p.operand(levelAdd)
}

// oneSided parses a range with one endpoint, if there is one.
func (p *parser) oneSided() node {
	t := p.peek()
	switch {
	case p.accept("<"):
		return &rangeNode{at: at(t.pos), high: p.binary(levelAdd)}
	case p.accept("<="):
		return &rangeNode{at: at(t.pos), high: p.binary(levelAdd), highIncluded: true}
	case p.accept(">"):
		return &rangeNode{at: at(t.pos), low: p.binary(levelAdd)}
	case p.accept(">="):
		return &rangeNode{at: at(t.pos), low: p.binary(levelAdd), lowIncluded: true}
	}
	return nil
}

func (p *parser) negation() node {
	t := p.peek()
	if !p.accept("-") {
		return p.instance()
	}
	return p.nested(func() node { return &negateNode{at(t.pos), p.negation()} })
}

func (p *parser) instance() node {
	value := p.postfix()
	for p.peek().word("instance") && p.ahead(1).word("of") {
		pos := p.take().pos
		p.take()
		value = &instanceNode{at(pos), value, p.typ()}
	}
	return value
}

// postfix parses paths, filters and calls.
func (p *parser) postfix() node {
	value := p.atom()
	for {
		t := p.peek()
		switch {
		case t.is("."):
			p.take()
			value = &pathNode{at(t.pos), value, p.property()}
		case t.is("[") && startsExpression(p.ahead(1)):
			p.take()
			filter := p.expression()
			p.expect("]", "after the filter")
			value = &filterNode{at(t.pos), value, filter}
		case t.is("("):
			value = p.call(value)
		default:
			return value
		}
	}
}

// startsExpression tells a filter from the "[" that ends a range such as ]1..3[.
func startsExpression(t token) bool {
	switch t.kind {
	case tokenSymbol:
		return t.is("(") || t.is("[") || t.is("{") || t.is("-")
	case tokenName:
		return !isKeyword(t.text) || startsWord(t.text)
	case tokenEnd:
		return false
	case tokenQuotedName, tokenNumber, tokenString, tokenAt:
		return true
	}
	return false
}

func startsWord(name string) bool {
	switch name {
	case "if", "for", "some", "every", "function", "true", "false", "null":
		return true
	}
	return false
}

// isKeyword reports whether the word cannot name a variable.
func isKeyword(name string) bool {
	switch name {
	case "and", "or", "in", "between", "then", "else", "return", "satisfies":
		return true
	}
	return startsWord(name)
}

// property parses the name after a point. Keywords are allowed, and so are the built-in properties that
// have a blank in their name.
func (p *parser) property() string {
	t := p.peek()
	if t.kind != tokenName && t.kind != tokenQuotedName {
		p.fail(t.pos, "expected a name after \".\", found %v", t)
		return ""
	}
	p.take()
	if t.kind == tokenName {
		switch two := t.text + " " + p.peek().text; two {
		case "time offset", "start included", "end included":
			if p.peek().kind == tokenName {
				p.take()
				return two
			}
		}
	}
	return t.text
}
