package syntax

// Expr is a node of the syntax tree of an expression.
type Expr interface {
	// Pos is the place of the node's first token.
	Pos() Pos
}

// Node carries the place of a node.
type Node struct{ P Pos }

// Pos returns the place.
func (n Node) Pos() Pos { return n.P }

// Expressions.
type (
	// Num is an integer literal in its source spelling.
	Num struct {
		Node
		Text string
	}
	// Str is a string literal without quotes.
	Str struct {
		Node
		Val string
	}
	// At is "@" inside EXCEPT.
	At struct{ Node }
	// Part is one element of a name: an identifier, an operator, or a selector such as 1, <<, >>, @, :.
	Part struct {
		Name string
		Args []Expr
	}
	// Ref names an operator or variable, with arguments; several parts are joined by "!".
	Ref struct {
		Node
		Parts []Part
	}
	// Op is an application written prefix, infix or postfix. "\X" may have more than two arguments.
	Op struct {
		Node
		Name string
		Fix  Fixity
		Args []Expr
	}
	// Paren is an expression in parentheses.
	Paren struct {
		Node
		X Expr
	}
	// Junction is a list of conjuncts or disjuncts aligned by column.
	Junction struct {
		Node
		Name  string // "/\" or "\/"
		Items []Expr
	}
	// Bound is one group of bound identifiers: x, y \in S, or <<x, y>> \in S; Set is nil when unbounded.
	Bound struct {
		P     Pos
		Names []string
		Tuple bool
		Set   Expr
	}
	// Quant is \A, \E, \AA, \EE or CHOOSE.
	Quant struct {
		Node
		Kind   string
		Bounds []Bound
		Body   Expr
	}
	// SetEnum is {a, b}.
	SetEnum struct {
		Node
		Elems []Expr
	}
	// SetFilter is {x \in S : P}.
	SetFilter struct {
		Node
		B    Bound
		Body Expr
	}
	// SetMap is {e : x \in S}.
	SetMap struct {
		Node
		Body   Expr
		Bounds []Bound
	}
	// FcnDef is [x \in S |-> e].
	FcnDef struct {
		Node
		Bounds []Bound
		Body   Expr
	}
	// FcnApp is f[a, b].
	FcnApp struct {
		Node
		Fn   Expr
		Args []Expr
	}
	// FcnSet is [S -> T].
	FcnSet struct {
		Node
		Dom, Rng Expr
	}
	// Field is one name with its value or set.
	Field struct {
		Name string
		X    Expr
	}
	// Record is [a |-> e, …]; with Set it is [a : S, …].
	Record struct {
		Node
		Set    bool
		Fields []Field
	}
	// Dot is r.name.
	Dot struct {
		Node
		X    Expr
		Name string
	}
	// ExceptPath is one step of a path: a field name or function arguments.
	ExceptPath struct {
		Name string
		Args []Expr
	}
	// ExceptSpec is one replacement !path = value.
	ExceptSpec struct {
		P    Pos
		Path []ExceptPath
		X    Expr
	}
	// Except is [f EXCEPT …].
	Except struct {
		Node
		Fn    Expr
		Specs []ExceptSpec
	}
	// Tuple is <<a, b>>.
	Tuple struct {
		Node
		Elems []Expr
	}
	// If is IF … THEN … ELSE ….
	If struct {
		Node
		Cond, Then, Else Expr
	}
	// Arm is one case; Cond is nil for OTHER.
	Arm struct{ Cond, Body Expr }
	// Case is CASE … [] ….
	Case struct {
		Node
		Arms []Arm
	}
	// Let is LET … IN ….
	Let struct {
		Node
		Defs []Unit
		Body Expr
	}
	// Lambda is LAMBDA x : e.
	Lambda struct {
		Node
		Params []string
		Body   Expr
	}
	// Box is [A]_v, or <<A>>_v with Angle.
	Box struct {
		Node
		Angle bool
		A, V  Expr
	}
	// Fair is WF_v(A), or SF_v(A) with Strong.
	Fair struct {
		Node
		Strong bool
		V, A   Expr
	}
	// Label is name(params):: e.
	Label struct {
		Node
		Name   string
		Params []string
		X      Expr
	}
)

// Unit is an element of a module's body or of a LET.
type Unit interface {
	Pos() Pos
	// Doc returns the comments before the unit.
	Doc() []string
}

// Decl carries place and comments of a unit.
type Decl struct {
	Node
	Comments []string
}

// Doc returns the comments before the unit.
func (d Decl) Doc() []string { return d.Comments }

// Param is a formal parameter with its arity and, for operators, its fixity.
type Param struct {
	Name  string
	Arity int
	Fix   Fixity
}

// Units.
type (
	// Constants declares constants and constant operators.
	Constants struct {
		Decl
		Params []Param
	}
	// Variables declares variables.
	Variables struct {
		Decl
		Names []string
	}
	// Recursive declares operators that are used before their definition.
	Recursive struct {
		Decl
		Params []Param
	}
	// Def defines an operator, or with Bounds a function.
	Def struct {
		Decl
		Local  bool
		Name   string
		Fix    Fixity
		Params []Param
		Bounds []Bound
		Body   Expr
	}
	// Subst is one substitution of an INSTANCE.
	Subst struct {
		Name string
		X    Expr
	}
	// Instance is INSTANCE M WITH …; Name and Params are empty for the unnamed form.
	Instance struct {
		Decl
		Local  bool
		Name   string
		Params []Param
		Module string
		Substs []Subst
	}
	// Assume is ASSUME e, with an optional name.
	Assume struct {
		Decl
		Name string
		X    Expr
	}
	// Text is a theorem, a proof or a USE or HIDE, kept as it was written. X is the statement of a named
	// theorem when it is an expression.
	Text struct {
		Decl
		Name string
		Src  string
		X    Expr
	}
	// Rule is a separator line.
	Rule struct{ Decl }
	// Nested is a module inside a module.
	Nested struct {
		Decl
		M *Module
	}
)

// Module is a parsed module.
type Module struct {
	File    string
	Name    string
	P       Pos
	Extends []string
	Units   []Unit
	// Strings lists the string literals and identifiers in order of first appearance.
	Strings []string
}
