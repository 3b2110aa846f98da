package feel

// node is one element of the syntax tree. The tree is immutable after Parse.
//
// Precedence, from the loosest: for, if, some, every and function reach as far right as they can; then or,
// and, comparisons (in and between included), + -, * /, **, unary minus, instance of, and tightest the
// postfix forms (path, filter, call). All binary operators group to the left, ** included, as the standard
// says; unary minus binds tighter than **, so -2 ** 2 is 4.
type node interface {
	// position is the byte offset that errors and notes point at.
	position() int
	// precedence is the tightness of the node's outermost operator; see the levels below.
	precedence() int
}

// Levels of precedence, loosest first.
const (
	levelTop = iota
	levelOr
	levelAnd
	levelCompare
	levelAdd
	levelMultiply
	levelPower
	levelNegate
	levelInstance
	levelPostfix
	levelAtom
)

type at int

func (p at) position() int { return int(p) }

// operator is a binary operator.
type operator uint8

const (
	opOr operator = iota
	opAnd
	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opAdd
	opSubtract
	opMultiply
	opDivide
	opPower
)

// String returns the operator's sign.
func (o operator) String() string {
	signs := [...]string{"or", "and", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "**"}
	return signs[o]
}

func (o operator) level() int {
	levels := [...]int{
		levelOr, levelAnd, levelCompare, levelCompare, levelCompare, levelCompare, levelCompare, levelCompare,
		levelAdd, levelAdd, levelMultiply, levelMultiply, levelPower,
	}
	return levels[o]
}

type (
	// literalNode is a constant; text is its canonical source.
	literalNode struct {
		at
		value Value
		text  string
	}
	// nameNode refers to a variable; builtin is what it means when no variable has the name.
	nameNode struct {
		at
		name    string
		builtin *builtin
	}
	// zonedNode is an @"…" literal with a time zone name, which needs Options.Zone at evaluation.
	zonedNode struct {
		at
		text string
	}
	binaryNode struct {
		at
		op          operator
		left, right node
	}
	negateNode struct {
		at
		operand node
	}
	betweenNode struct {
		at
		value, low, high node
	}
	// inNode tests value against any of tests; a rangeNode with one endpoint is a comparison.
	inNode struct {
		at
		value node
		tests []node
	}
	instanceNode struct {
		at
		value node
		want  *typeRef
	}
	pathNode struct {
		at
		value node
		name  string
	}
	filterNode struct {
		at
		list, filter node
	}
	callNode struct {
		at
		callee  node     // nil when builtin is set
		builtin *builtin // resolved by the parser
		args    []node   // nil for an optional parameter left out in the middle of named ones
		names   []string // of a call with named arguments; else nil
	}
	listNode struct {
		at
		items []node
	}
	contextNode struct {
		at
		keys   []string
		values []node
	}
	// rangeNode is a range literal; a nil endpoint is unbounded.
	rangeNode struct {
		at
		low, high                 node
		lowIncluded, highIncluded bool
	}
	ifNode struct {
		at
		condition, then, otherwise node
	}
	// iterator is one "name in domain" of for, some and every. With to set it counts from..to.
	iterator struct {
		name     string
		from, to node
	}
	forNode struct {
		at
		iterators []iterator
		body      node
	}
	quantifiedNode struct {
		at
		every     bool
		iterators []iterator
		condition node
	}
	functionNode struct {
		at
		params []string
		body   node
	}
)

// typeRef is a type after "instance of".
type typeRef struct {
	any     bool
	kind    Kind
	element *typeRef    // of list<…> and range<…>
	fields  []typeField // of context<…>
	params  []*typeRef  // of function<…>
	result  *typeRef    // of function<…>
}

type typeField struct {
	name string
	typ  *typeRef
}

func (*literalNode) precedence() int    { return levelAtom }
func (n *binaryNode) precedence() int   { return n.op.level() }
func (*nameNode) precedence() int       { return levelAtom }
func (*zonedNode) precedence() int      { return levelAtom }
func (*negateNode) precedence() int     { return levelNegate }
func (*betweenNode) precedence() int    { return levelCompare }
func (*inNode) precedence() int         { return levelCompare }
func (*instanceNode) precedence() int   { return levelInstance }
func (*pathNode) precedence() int       { return levelPostfix }
func (*filterNode) precedence() int     { return levelPostfix }
func (*callNode) precedence() int       { return levelPostfix }
func (*listNode) precedence() int       { return levelAtom }
func (*contextNode) precedence() int    { return levelAtom }
func (*rangeNode) precedence() int      { return levelAtom }
func (*ifNode) precedence() int         { return levelTop }
func (*forNode) precedence() int        { return levelTop }
func (*quantifiedNode) precedence() int { return levelTop }
func (*functionNode) precedence() int   { return levelTop }
