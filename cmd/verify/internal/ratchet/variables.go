package ratchet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// variables finds package variables that something changes: worlds would share them. A variable that
// is only read after its declaration (a sentinel error, a table) is fine; one whose address is taken,
// on which a pointer method is called, or whose type holds a synchronization primitive is not.
func (b *ban) variables() {
	for _, file := range b.pkg.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, target := range n.Lhs {
						b.changed(target)
					}
				}
			case *ast.IncDecStmt:
				b.changed(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					b.changed(n.X)
				}
			case *ast.CallExpr:
				b.changedByCall(n)
			}
			return true
		})
		b.declared(file)
	}
}

// changedByCall finds delete, clear and copy into a package variable, and methods with a pointer
// receiver called on one.
func (b *ban) changedByCall(call *ast.CallExpr) {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if _, ok := b.info.Uses[fun].(*types.Builtin); ok && len(call.Args) > 0 {
			switch fun.Name {
			case "delete", "clear", "copy":
				b.changed(call.Args[0])
			}
		}
	case *ast.SelectorExpr:
		s := b.info.Selections[fun]
		if s == nil || s.Kind() != types.MethodVal {
			return
		}
		method, ok := s.Obj().(*types.Func)
		if !ok || method.Signature().Recv() == nil {
			return
		}
		_, byPointer := method.Signature().Recv().Type().(*types.Pointer)
		if _, isPointer := s.Recv().(*types.Pointer); byPointer && !isPointer {
			b.changed(fun.X)
		}
	}
}

// changed reports the package variable that an expression reaches into, if it does.
func (b *ban) changed(e ast.Expr) {
	if v := b.packageVariable(e); v != nil {
		b.found(ruleVariable, e.Pos(), v.Name(), "package variable "+v.Name()+" is changed: worlds would share it")
	}
}

// packageVariable returns the package variable at the root of x, x.f, x[i], *x or (x).
func (b *ban) packageVariable(e ast.Expr) *types.Var {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if v := isPackageVariable(b.info.Uses[x.Sel]); v != nil {
				return v
			}
			e = x.X
		case *ast.Ident:
			return isPackageVariable(b.info.Uses[x])
		default:
			return nil
		}
	}
}

func isPackageVariable(o types.Object) *types.Var {
	v, ok := o.(*types.Var)
	if ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return v
	}
	return nil
}

// declared reports package variables whose type is made to be changed.
func (b *ban) declared(file *ast.File) {
	for _, decl := range file.Decls {
		vars, ok := decl.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		for _, spec := range vars.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, name := range values.Names {
				if o := b.info.Defs[name]; o != nil && shares(o.Type(), 0) {
					b.found(ruleVariable, name.Pos(), name.Name,
						"package variable "+name.Name+" holds a synchronization primitive: worlds would share it")
				}
			}
		}
	}
}

// shares reports whether a type holds a channel or a primitive of sync or core/sched by value. The
// depth bounds types that hold themselves through pointers, which are not followed anyway.
func shares(t types.Type, depth int) bool {
	const deepest = 8
	if depth > deepest {
		return false
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil {
		switch path := named.Obj().Pkg().Path(); {
		case path == "sync" || path == "sync/atomic":
			return true
		case strings.HasSuffix(path, "/core/sched"):
			_, isStruct := named.Underlying().(*types.Struct)
			return isStruct && named.NumMethods() > 0
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Struct:
		for i := range u.NumFields() {
			if shares(u.Field(i).Type(), depth+1) {
				return true
			}
		}
	case *types.Array:
		return shares(u.Elem(), depth+1)
	}
	return false
}
