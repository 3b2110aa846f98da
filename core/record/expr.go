package record

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/millrace-dev/millrace/core/scan"
)

// ExprFault is one reason why an expression was refused, with its place in the expression's text.
type ExprFault struct {
	// Line is the 1-based line and Column the 1-based character within it.
	Line, Column int
	Message      string
}

// Error returns "1:5: undefined field 'amont'".
func (f ExprFault) Error() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message) }

// Expr is a compiled expression over rows of its scope. It is immutable and may be evaluated by any
// number of tasks.
type Expr struct {
	scope   *Scope
	text    string
	result  Field // Type and Nullable of the result; no name
	program cel.Program
	column  int // the field's position when the expression is only a field, else -1
}

// Text returns the expression's source.
func (e *Expr) Text() string { return e.text }

// Type returns the type of the result.
func (e *Expr) Type() Type { return e.result.Type }

// Nullable reports that the result can be null.
func (e *Expr) Nullable() bool { return e.result.Nullable }

// Compile checks text and returns its expression, or every fault found. The result must have one of
// the field types.
func (s *Scope) Compile(text string) (*Expr, []ExprFault) {
	if len(text) > MaxExpressionBytes {
		return nil, []ExprFault{{1, 1, fmt.Sprintf("expression has %d bytes, the limit is %d", len(text), MaxExpressionBytes)}}
	}
	if strings.TrimSpace(text) == "" {
		return nil, []ExprFault{{1, 1, "expression is empty"}}
	}
	checked, issues := s.env.Compile(text)
	if issues.Err() != nil {
		return nil, s.faults(issues)
	}
	native := checked.NativeRep()
	if faults := s.checkShape(native); len(faults) > 0 {
		return nil, faults
	}
	result, ok := fromCEL(checked.OutputType())
	if !ok {
		return nil, []ExprFault{{1, 1, fmt.Sprintf("expression is of type %s, want one of %s",
			cel.FormatCELType(checked.OutputType()), strings.Join(TypeNames(), ", "))}}
	}
	result.Nullable = result.Nullable || s.mayBeNull(native.Expr())
	e := &Expr{scope: s, text: text, result: result, column: s.columnOf(native.Expr())}
	program, err := s.env.Program(checked, s.programOptions(checked)...)
	if err != nil {
		return nil, []ExprFault{{1, 1, err.Error()}}
	}
	e.program = program
	return e, nil
}

func (s *Scope) faults(issues *cel.Issues) []ExprFault {
	var faults []ExprFault
	for _, e := range issues.Errors() {
		f := ExprFault{Line: max(e.Location.Line(), 1), Column: max(e.Location.Column()+1, 1), Message: s.explain(e.Message)}
		if strings.HasPrefix(e.Message, "undefined field") {
			f.Column++ // the checker points at the dot before the name
		}
		faults = append(faults, f)
	}
	return faults
}

// explain adds to CEL's message what a reader of a package needs to mend it.
func (s *Scope) explain(message string) string {
	message = strings.TrimPrefix(message, "Syntax error: ")
	switch {
	case strings.HasPrefix(message, "undefined field"):
		return message + fmt.Sprintf("; schema %s has %s", s.schema.name, strings.Join(s.fieldNames(), ", "))
	case strings.HasPrefix(message, "undeclared reference to"):
		return message + fmt.Sprintf("; there are the variable %s, CEL's standard functions and coalesce, "+
			"and no comprehension macros", s.variable)
	case strings.Contains(message, "recursion limit exceeded"), strings.Contains(message, "max recursion depth"):
		return tooNested()
	case strings.HasPrefix(message, "found no matching overload"):
		return message + "; there are no implicit casts"
	}
	return message
}

func tooNested() string { return fmt.Sprintf("expression nests over %d levels", MaxExpressionDepth) }

func (s *Scope) fieldNames() []string {
	names := make([]string, 0, len(s.schema.fields))
	for _, f := range s.schema.fields {
		names = append(names, f.Name)
	}
	return names
}

// checkShape refuses what the checker accepts and this package does not: the row as a value of its
// own, messages that are made on the spot, regular expressions that come with the data (they would be
// compiled for each row, and their faults found there), and nesting that the parser's own count did
// not see (it counts grammar rules, not operators).
func (s *Scope) checkShape(tree *ast.AST) []ExprFault {
	if ast.ExceedsDepth(tree, MaxExpressionDepth) {
		return []ExprFault{{1, 1, tooNested()}}
	}
	selected := make(map[int64]bool) // idents that are the operand of a field selection
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind {
			selected[e.AsSelect().Operand().ID()] = true
		}
	}))
	var faults []ExprFault
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		reason := ""
		switch {
		case e.Kind() == ast.IdentKind && e.AsIdent() == s.variable && !selected[e.ID()]:
			reason = s.variable + " is not a value; name one of its fields"
		case e.Kind() == ast.StructKind:
			reason = "messages cannot be made in an expression"
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "matches" && !literalPattern(e.AsCall()):
			reason = "the pattern of matches must be a text in quotes"
		}
		if reason != "" {
			at := tree.SourceInfo().GetStartLocation(e.ID())
			faults = append(faults, ExprFault{at.Line(), at.Column() + 1, reason})
		}
	}))
	return faults
}

func literalPattern(call ast.CallExpr) bool {
	arguments := call.Args() // one after a receiver, else two: the pattern is the last
	return len(arguments) > 0 && arguments[len(arguments)-1].Kind() == ast.LiteralKind
}

// columnOf returns the field that an expression reads when it does nothing else, or -1.
func (s *Scope) columnOf(e ast.Expr) int {
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return -1
	}
	operand := e.AsSelect().Operand()
	if operand.Kind() != ast.IdentKind || operand.AsIdent() != s.variable {
		return -1
	}
	i, ok := s.schema.Index(e.AsSelect().FieldName())
	if !ok {
		return -1
	}
	return i
}

// programOptions leaves cost tracking out where the checker has already proved that no row can reach
// the limit, because tracking costs more than most expressions do.
func (s *Scope) programOptions(checked *cel.Ast) []cel.ProgramOption {
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	estimate, err := s.env.EstimateCost(checked, sizes{})
	if err == nil && estimate.Max <= MaxExpressionCost {
		return options
	}
	return append(options, cel.CostLimit(MaxExpressionCost))
}

// sizes tells the cost estimate how long the text of a field can be.
type sizes struct{}

func (sizes) EstimateSize(node cost.AstNode) *cost.SizeEstimate {
	if len(node.Path()) < 2 {
		return nil
	}
	size := cost.RangedSizeEstimate(0, MaxMaxLineBytes)
	return &size
}

func (sizes) EstimateCallCost(string, string, *cost.AstNode, []cost.AstNode) *cost.CallEstimate {
	return nil
}

// Eval evaluates the expression on row, which must be of the scope's schema. A String or Bytes result
// may refer to the row's batch.
func (e *Expr) Eval(row Row) (Value, *Rejection) {
	if e.column >= 0 { // the plain field needs no cursor, and so no allocation
		if v := row.Value(e.column); !v.null || e.result.Nullable {
			return v, nil
		}
	}
	return e.eval(&cursor{variable: e.scope.variable, row: row})
}

func (e *Expr) eval(c *cursor) (Value, *Rejection) {
	if e.column >= 0 {
		return e.admit(c, c.row.Value(e.column))
	}
	out, _, err := e.program.Eval(c)
	if err != nil {
		return Value{}, e.refuse(c, err)
	}
	v, reason := fromRef(out, e.result.Type)
	if reason != "" {
		return Value{}, &Rejection{Row: c.row.row, Reason: OutOfRange, Detail: e.quoted() + ": " + reason}
	}
	return e.admit(c, v)
}

// admit refuses a null that checking has excluded. It is a second line of defence: the row is refused
// where a wrong answer of the checker would otherwise put a null into a key or a column.
func (e *Expr) admit(c *cursor, v Value) (Value, *Rejection) {
	if v.null && !e.result.Nullable {
		return Value{}, &Rejection{Row: c.row.row, Reason: NullResult, Detail: e.quoted() + ": result is null"}
	}
	return v, nil
}

func (e *Expr) refuse(c *cursor, err error) *Rejection {
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded {
		return &Rejection{
			Row: c.row.row, Reason: CostExceeded,
			Detail: fmt.Sprintf("%s: cost is over %d", e.quoted(), MaxExpressionCost),
		}
	}
	message := err.Error()
	if strings.HasPrefix(message, "no such overload") {
		message = "an operand is null, or of a type that dyn has hidden"
	}
	return &Rejection{Row: c.row.row, Reason: Evaluation, Detail: e.quoted() + ": " + scan.Clip(message, maxPointerBytes)}
}

func (e *Expr) quoted() string { return "`" + scan.Clip(e.text, 80) + "`" }

// fromRef turns a result into a value of the type that the checker promised. The reason says why the
// field type cannot hold it.
func fromRef(out ref.Val, want Type) (Value, string) {
	switch v := out.(type) {
	case types.Null:
		return NullValue(want), ""
	case types.String:
		return StringValue(string(v)), ""
	case types.Bool:
		return BoolValue(bool(v)), ""
	case types.Int:
		return Int64Value(int64(v)), ""
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return Value{}, "result is not a finite number"
		}
		return Float64Value(float64(v)), ""
	case types.Timestamp:
		ns, ok := nanoseconds(v.Time)
		if !ok {
			return Value{}, "result is outside the years 1677 to 2262"
		}
		return TimestampValue(ns), ""
	case types.Bytes:
		return BytesValue(string(v)), ""
	}
	panic(fmt.Sprintf("record: expression of type %s gave %T", want, out))
}
