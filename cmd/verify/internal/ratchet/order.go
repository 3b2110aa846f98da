package ratchet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// orderMark is the comment that says why a map range's order does not escape.
const orderMark = "//order:"

// mapRanges finds map ranges whose order can escape. The order cannot escape from a body that only
// counts, deletes, writes under the range's own key, or collects into a slice that the function sorts;
// for anything else the author writes "//order: reason" on the line of the range or the one above.
func (b *ban) mapRanges(file *ast.File, fn *ast.FuncDecl) {
	sorted := b.sortedSlices(fn)
	ast.Inspect(fn, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !b.unordered(loop.X) {
			return true
		}
		if !b.orderless(loop, sorted) && !b.explained(file, loop) {
			b.found(ruleOrder, loop.Pos(), fn.Name.Name,
				"the order of a map can escape from this range: sort the keys, or say why not after "+orderMark)
		}
		return true
	})
}

// unordered reports whether ranging over e visits a map, directly or through package maps.
func (b *ban) unordered(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
			o := b.info.Uses[selector.Sel]
			return o != nil && o.Pkg() != nil && o.Pkg().Path() == "maps"
		}
	}
	_, ok := b.typeOf(e).(*types.Map)
	return ok
}

// sortedSlices returns the variables that the function passes to a sort.
func (b *ban) sortedSlices(fn *ast.FuncDecl) map[types.Object]bool {
	sorted := map[types.Object]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		o := b.info.Uses[selector.Sel]
		if o == nil || o.Pkg() == nil || o.Pkg().Path() != "slices" && o.Pkg().Path() != "sort" {
			return true
		}
		if name := selector.Sel.Name; strings.HasPrefix(name, "Sort") || o.Pkg().Path() == "sort" {
			if target := b.object(call.Args[0]); target != nil {
				sorted[target] = true
			}
		}
		return true
	})
	return sorted
}

// object returns the variable or field that an expression names.
func (b *ban) object(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		if o := b.info.Uses[e]; o != nil {
			return o
		}
		return b.info.Defs[e]
	case *ast.SelectorExpr:
		return b.info.Uses[e.Sel]
	}
	return nil
}

// orderless reports whether every statement of the loop's body is one whose effect is the same in any
// order.
func (b *ban) orderless(loop *ast.RangeStmt, sorted map[types.Object]bool) bool {
	if loop.Key == nil {
		return true // neither key nor value is seen
	}
	return b.orderlessBlock(loop, loop.Body.List, sorted)
}

func (b *ban) orderlessBlock(loop *ast.RangeStmt, list []ast.Stmt, sorted map[types.Object]bool) bool {
	for _, statement := range list {
		if !b.orderlessStatement(loop, statement, sorted) {
			return false
		}
	}
	return true
}

func (b *ban) orderlessStatement(loop *ast.RangeStmt, s ast.Stmt, sorted map[types.Object]bool) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := call.Fun.(*ast.Ident)
		return ok && name.Name == "delete"
	case *ast.IfStmt:
		alternative := true
		if block, ok := s.Else.(*ast.BlockStmt); ok {
			alternative = b.orderlessBlock(loop, block.List, sorted)
		} else if s.Else != nil {
			alternative = b.orderlessStatement(loop, s.Else, sorted)
		}
		return alternative && b.orderlessBlock(loop, s.Body.List, sorted)
	case *ast.ReturnStmt:
		return constants(b.info, s.Results)
	case *ast.AssignStmt:
		return b.orderlessAssign(loop, s, sorted)
	}
	return false
}

func (b *ban) orderlessAssign(loop *ast.RangeStmt, s *ast.AssignStmt, sorted map[types.Object]bool) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return false
	}
	switch s.Tok {
	case token.ADD_ASSIGN, token.OR_ASSIGN, token.XOR_ASSIGN:
		basic, ok := b.typeOf(s.Lhs[0]).(*types.Basic)
		return ok && basic.Info()&types.IsInteger != 0
	case token.DEFINE:
		return false
	default:
	}
	if index, ok := s.Lhs[0].(*ast.IndexExpr); ok {
		key := b.object(index.Index)
		return key != nil && loop.Key != nil && key == b.object(loop.Key)
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	target := b.object(s.Lhs[0])
	return ok && name.Name == "append" && target != nil && sorted[target]
}

// constants reports whether every result is a constant: which element led to it does not matter.
func constants(info *types.Info, results []ast.Expr) bool {
	for _, e := range results {
		tv := info.Types[e]
		if tv.Value == nil && !tv.IsNil() {
			return false
		}
	}
	return true
}

// explained reports whether an //order: comment with a reason stands at the loop.
func (b *ban) explained(file *ast.File, loop *ast.RangeStmt) bool {
	line := b.tree.files.Position(loop.Pos()).Line
	for _, group := range file.Comments {
		for _, c := range group.List {
			at := b.tree.files.Position(c.Pos()).Line
			reason, ok := strings.CutPrefix(c.Text, orderMark)
			if ok && strings.TrimSpace(reason) != "" && (at == line || at == line-1) {
				return true
			}
		}
	}
	return false
}
