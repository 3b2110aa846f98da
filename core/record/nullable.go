package record

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// mayBeNull reports whether the expression can give null. CEL's types answer this for most types but
// not for timestamps, which CEL lets be null everywhere. An operator or function never gives null: a
// null operand is an error that refuses the row. The recursion is bounded by MaxExpressionDepth.
func (s *Scope) mayBeNull(e ast.Expr) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		return e.AsLiteral() == types.NullValue
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return false
		}
		i := s.columnOf(e)
		return i < 0 || s.schema.fields[i].Nullable
	case ast.CallKind:
		return s.callMayBeNull(e.AsCall())
	case ast.ListKind:
		return s.anyMayBeNull(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			if s.mayBeNull(entry.AsMapEntry().Value()) {
				return true
			}
		}
		return false
	default: // the scope has no other kind that can be the result
		return false
	}
}

func (s *Scope) callMayBeNull(call ast.CallExpr) bool {
	arguments := call.Args()
	switch call.FunctionName() {
	case "coalesce":
		return s.mayBeNull(arguments[1])
	case operators.Conditional:
		return s.anyMayBeNull(arguments[1:])
	case operators.Index:
		return s.mayBeNull(arguments[0])
	case "dyn":
		return s.mayBeNull(arguments[0])
	}
	return false
}

func (s *Scope) anyMayBeNull(expressions []ast.Expr) bool {
	for _, e := range expressions {
		if s.mayBeNull(e) {
			return true
		}
	}
	return false
}
