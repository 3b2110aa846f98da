package ratchet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// Rules of the ban list, as exceptions name them.
const (
	ruleImport   = "ban-import"   // a package that synchronizes or draws by itself
	ruleCall     = "ban-call"     // a function that starts, waits or reads time
	ruleGo       = "ban-go"       // the go statement
	ruleChannel  = "ban-channel"  // a channel type, operation or select
	ruleVariable = "ban-variable" // a package variable that something changes
	ruleOrder    = "ban-order"    // a map range whose order can escape
)

var bannedImports = []string{
	"sync", "sync/atomic", "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash",
}

// bannedCalls are functions by package; types and constants of these packages are fine.
var bannedCalls = map[string][]string{
	"context": {
		"WithCancel", "WithCancelCause", "WithDeadline", "WithDeadlineCause", "WithTimeout",
		"WithTimeoutCause", "WithoutCancel", "WithValue", "AfterFunc",
	},
	"iter": {"Pull", "Pull2"},
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
}

// Bans returns what core uses, outside the boundary and the edges, that the simulator cannot see.
func (r *Rules) Bans(t *Tree) []catalog.Fault {
	var findings []catalog.Fault
	for _, pkg := range t.Packages {
		if !within(pkg.Dir, "core") || within(pkg.Dir, "core/sched") {
			continue
		}
		info, err := t.check(pkg)
		b := ban{rules: r, tree: t, info: info, pkg: pkg}
		if err != nil {
			// What has a type is judged all the same; what has none could hide anything.
			b.findings = append(b.findings, catalog.Fault{
				At: catalog.Position{File: pkg.Dir, Line: 1}, Message: err.Error(),
			})
		}
		for _, file := range pkg.files {
			b.file(file)
		}
		b.variables()
		findings = append(findings, b.findings...)
	}
	return findings
}

// ban looks at one package.
type ban struct {
	rules    *Rules
	tree     *Tree
	info     *types.Info
	pkg      *Package
	findings []catalog.Fault
}

func (b *ban) found(rule string, pos token.Pos, what, message string) {
	at := b.tree.position(pos)
	if b.rules.atEdge(at.File) || b.rules.allowed(rule, at.File, what) {
		return
	}
	b.findings = append(b.findings, catalog.Fault{At: at, Message: message + " (" + rule + " " + what + ")"})
}

func (b *ban) file(file *ast.File) {
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && slices.Contains(bannedImports, path) {
			b.found(ruleImport, spec.Pos(), path, "core uses core/sched instead of "+path)
		}
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			ast.Inspect(decl, b.visit)
			continue
		}
		ast.Inspect(fn, b.visit)
		b.mapRanges(file, fn)
	}
}

func (b *ban) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		b.found(ruleGo, n.Pos(), "go", "a task is started through the scheduler, not by go")
	case *ast.ChanType:
		b.found(ruleChannel, n.Pos(), "chan", "a channel comes from the scheduler")
	case *ast.SelectStmt:
		b.found(ruleChannel, n.Pos(), "select", "a choice of channels comes from the scheduler")
	case *ast.SendStmt:
		b.found(ruleChannel, n.Pos(), "send", "a channel comes from the scheduler")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			b.found(ruleChannel, n.Pos(), "receive", "a channel comes from the scheduler")
		}
	case *ast.RangeStmt:
		if _, ok := b.typeOf(n.X).(*types.Chan); ok {
			b.found(ruleChannel, n.Pos(), "range", "a channel comes from the scheduler")
		}
	case *ast.SelectorExpr:
		b.selector(n)
	}
	return true
}

// selector finds banned functions, also where they are only mentioned: a function value can be called
// later.
func (b *ban) selector(n *ast.SelectorExpr) {
	fn, ok := b.info.Uses[n.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return
	}
	if path := fn.Pkg().Path(); slices.Contains(bannedCalls[path], fn.Name()) {
		what := path + "." + fn.Name()
		b.found(ruleCall, n.Pos(), what, "time, waiting and cancellation come from the scheduler, not from "+what)
	}
}

// typeOf returns the underlying type of an expression, nil when there is none.
func (b *ban) typeOf(e ast.Expr) types.Type {
	if t := b.info.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}
