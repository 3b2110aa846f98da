package feel

import "strings"

// printer writes a syntax tree as canonical source: one blank around operators, parentheses only where
// the grammar needs them. Parsing the result gives the same tree.
type printer struct{ b strings.Builder }

func printNode(n node) string {
	var p printer
	p.node(n, levelTop)
	return p.b.String()
}

func (p *printer) text(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

// node writes n so that it stands where an operand of at least this level is expected.
func (p *printer) node(n node, level int) {
	if n.precedence() < level {
		p.text("(")
		p.bare(n)
		p.text(")")
		return
	}
	p.bare(n)
}

func (p *printer) bare(n node) {
	switch n := n.(type) {
	case *literalNode:
		p.text(n.text)
	case *zonedNode:
		p.text("@", quote(n.text))
	case *nameNode:
		p.text(p.reference(n))
	case *binaryNode:
		p.node(n.left, n.op.level())
		p.text(" ", n.op.String(), " ")
		p.node(n.right, n.op.level()+1)
	case *negateNode:
		p.text("-")
		p.node(n.operand, levelNegate)
	case *betweenNode:
		p.node(n.value, levelCompare)
		p.text(" between ")
		p.node(n.low, levelAdd)
		p.text(" and ")
		p.node(n.high, levelAdd)
	case *inNode:
		p.in(n)
	case *instanceNode:
		p.node(n.value, levelInstance)
		p.text(" instance of ")
		p.typ(n.want)
	case *ifNode:
		p.text("if ")
		p.node(n.condition, levelTop)
		p.text(" then ")
		p.node(n.then, levelTop)
		p.text(" else ")
		p.node(n.otherwise, levelTop)
	case *forNode:
		p.text("for ")
		p.iterators(n.iterators)
		p.text(" return ")
		p.node(n.body, levelTop)
	case *quantifiedNode:
		p.text(pick(n.every, "every ", "some "))
		p.iterators(n.iterators)
		p.text(" satisfies ")
		p.node(n.condition, levelTop)
	default:
		p.composite(n)
	}
}

// composite writes the bracketed and postfix forms.
func (p *printer) composite(n node) {
	switch n := n.(type) {
	case *pathNode:
		p.node(n.value, levelPostfix)
		p.text(".", printName(n.name))
	case *filterNode:
		p.node(n.list, levelPostfix)
		p.text("[")
		p.node(n.filter, levelTop)
		p.text("]")
	case *callNode:
		p.call(n)
	case *listNode:
		p.text("[")
		p.list(n.items)
		p.text("]")
	case *contextNode:
		p.text("{")
		for i, key := range n.keys {
			p.separate(i)
			p.text(printKey(key), ": ")
			p.node(n.values[i], levelTop)
		}
		p.text("}")
	case *rangeNode:
		p.rangeLiteral(n)
	case *functionNode:
		p.text("function(")
		for i, name := range n.params {
			p.separate(i)
			p.text(printName(name))
		}
		p.text(") ")
		p.node(n.body, levelTop)
	}
}

func (p *printer) separate(i int) {
	if i > 0 {
		p.text(", ")
	}
}

func (p *printer) list(items []node) {
	for i, item := range items {
		p.separate(i)
		p.node(item, levelTop)
	}
}

// reference writes a built-in's name bare, which may have blanks, and a variable's in backticks if needed.
func (p *printer) reference(n *nameNode) string {
	if n.builtin != nil {
		return n.name
	}
	return printName(n.name)
}

// in writes one test bare when it cannot be mistaken for a list of tests, which starts with "(".
func (p *printer) in(n *inNode) {
	p.node(n.value, levelCompare)
	p.text(" in ")
	if len(n.tests) == 1 {
		if text := testText(n.tests[0]); isRange(n.tests[0]) || !strings.HasPrefix(text, "(") {
			p.text(text)
			return
		}
	}
	p.text("(")
	for i, test := range n.tests {
		p.separate(i)
		p.text(testText(test))
	}
	p.text(")")
}

func isRange(n node) bool {
	_, ok := n.(*rangeNode)
	return ok
}

// testText is the text of a test; a one-sided range stands without its parentheses.
func testText(n node) string {
	var p printer
	if r, ok := n.(*rangeNode); ok && (r.low == nil || r.high == nil) {
		p.oneSided(r)
	} else {
		p.node(n, levelAdd)
	}
	return p.b.String()
}

func (p *printer) call(n *callNode) {
	if n.builtin != nil {
		p.text(n.builtin.name)
	} else {
		p.node(n.callee, levelPostfix)
	}
	p.text("(")
	written := 0
	for i, arg := range n.args {
		if arg == nil {
			continue
		}
		p.separate(written)
		written++
		if n.names != nil {
			p.text(printParameter(n.names[i]), ": ")
		}
		p.node(arg, levelTop)
	}
	p.text(")")
}

// printParameter writes the name of an argument: words stand as they are.
func printParameter(name string) string {
	for word := range strings.SplitSeq(name, " ") {
		if !plainName(word) {
			return "`" + name + "`"
		}
	}
	return name
}

func (p *printer) rangeLiteral(n *rangeNode) {
	if n.low == nil || n.high == nil {
		p.text("(")
		p.oneSided(n)
		p.text(")")
		return
	}
	p.text(pick(n.lowIncluded, "[", "("))
	p.node(n.low, levelAdd)
	p.text("..")
	p.node(n.high, levelAdd)
	p.text(pick(n.highIncluded, "]", ")"))
}

func (p *printer) oneSided(n *rangeNode) {
	if n.low == nil {
		p.text(pick(n.highIncluded, "<= ", "< "))
		p.node(n.high, levelAdd)
		return
	}
	p.text(pick(n.lowIncluded, ">= ", "> "))
	p.node(n.low, levelAdd)
}

func (p *printer) iterators(list []iterator) {
	for i, it := range list {
		p.separate(i)
		p.text(printName(it.name), " in ")
		p.node(it.from, levelAdd)
		if it.to != nil {
			p.text("..")
			p.node(it.to, levelAdd)
		}
	}
}

func (p *printer) typ(t *typeRef) {
	switch {
	case t.any:
		p.text("Any")
	case t.element != nil:
		p.text(t.kind.String(), "<")
		p.typ(t.element)
		p.text(">")
	case t.fields != nil:
		p.text("context<")
		for i, field := range t.fields {
			p.separate(i)
			p.text(printName(field.name), ": ")
			p.typ(field.typ)
		}
		p.text(">")
	case t.result != nil:
		p.text("function<")
		for i, param := range t.params {
			p.separate(i)
			p.typ(param)
		}
		p.text("> -> ")
		p.typ(t.result)
	default:
		p.text(t.kind.String())
	}
}
