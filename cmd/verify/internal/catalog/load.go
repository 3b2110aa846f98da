package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// ErrNoModule means that no go.mod was found.
var ErrNoModule = errors.New("no go.mod here or above")

// FindRoot returns the folder of the module that dir is in.
func FindRoot(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find module of %s: %w", dir, err)
	}
	for at := start; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find module of %s: %w", start, ErrNoModule)
		}
	}
}

// Load reads the declarations and the test functions of the module at root. A tree that cannot be read
// or parsed is an error; wrong declarations are Faults.
func Load(root string) (*Catalog, error) {
	module, err := modulePath(root)
	if err != nil {
		return nil, err
	}
	c := &Catalog{Root: root, Module: module}
	l := loader{catalog: c, files: token.NewFileSet(), packages: map[string]*testPackage{}}
	if err := l.walk(root); err != nil {
		return nil, fmt.Errorf("load catalog of %s: %w", module, err)
	}
	l.collectTests()
	c.validate()
	c.resolve()
	slices.SortFunc(c.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	return c, nil
}

func modulePath(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read module: %w", err)
	}
	for line := range bytes.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "module "); ok {
			return strings.TrimSpace(path), nil
		}
	}
	return "", fmt.Errorf("read module %s/go.mod: no module line", root)
}

// testPackage is the parsed test files of one directory. An external test package is kept with the
// package it tests: the two make one test binary.
type testPackage struct {
	functions map[string]*function
	tests     []*Test
	first     Position // of its first test file
}

type function struct {
	literals map[string]bool
	calls    map[string]bool
}

type loader struct {
	catalog  *Catalog
	files    *token.FileSet
	packages map[string]*testPackage
}

// walk visits every test file of the module, but no nested module, test data, output or hidden folder.
func (l *loader) walk(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != root && skipped(path, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return l.parse(path)
	})
}

func skipped(path, name string) bool {
	if name == "testdata" || name == "out" || name == "vendor" || name == "node_modules" ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func (l *loader) parse(path string) error {
	file, err := parser.ParseFile(l.files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err // names file, line and column itself
	}
	dir := l.relative(filepath.Dir(path))
	pkg := l.packages[dir]
	if pkg == nil {
		pkg = &testPackage{functions: map[string]*function{}, first: Position{l.relative(path), 1}}
		l.packages[dir] = pkg
	}
	alias := inventoryName(file)
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			l.addFunction(pkg, dir, decl)
		case *ast.GenDecl:
			if alias != "" && decl.Tok == token.VAR {
				l.readDeclarations(dir, alias, decl)
			}
		}
	}
	return nil
}

// inventoryName returns the name under which the file imports sim/inventory, or "".
func inventoryName(file *ast.File) string {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasSuffix(path, "/sim/inventory") {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return "inventory"
	}
	return ""
}

func (l *loader) addFunction(pkg *testPackage, dir string, decl *ast.FuncDecl) {
	f := &function{literals: map[string]bool{}, calls: map[string]bool{}}
	if decl.Body != nil {
		ast.Inspect(decl.Body, func(n ast.Node) bool { return f.visit(n) })
	}
	name := decl.Name.Name
	pkg.functions[name] = f
	isTest := decl.Recv == nil && (isTestName(name, "Test") || isTestName(name, "Fuzz")) && name != "TestMain"
	if !isTest {
		return
	}
	lane, _ := inventory.LaneOfTest(name)
	pkg.tests = append(pkg.tests, &Test{Name: name, Lane: lane, Dir: dir, At: l.position(decl.Pos())})
}

// isTestName applies the go command's rule: the prefix is followed by no lower-case letter.
func isTestName(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

func (f *function) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if s, ok := stringLiteral(n); ok {
			f.literals[s] = true
		}
	case *ast.BasicLit:
		if s, ok := stringLiteral(n); ok {
			f.literals[s] = true
		}
	case *ast.Ident:
		f.calls[n.Name] = true
	}
	return true
}

// collectTests gives each test its literals, those of its own body apart from those of the functions of
// its package that it mentions.
func (l *loader) collectTests() {
	for dir, pkg := range l.packages {
		if len(pkg.tests) > 0 && !pkg.checksLeaks() {
			l.catalog.fault(pkg.first, "package %s has tests, but no TestMain that calls sim.Main or goleak.VerifyTestMain", dir)
		}
		for _, t := range pkg.tests {
			t.direct = pkg.functions[t.Name].literals
			t.reached = pkg.reach(t.Name)
			l.catalog.Tests = append(l.catalog.Tests, t)
		}
	}
	slices.SortFunc(l.catalog.Tests, func(a, b *Test) int {
		return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name))
	})
}

// checksLeaks reports whether the package's TestMain looks for goroutines that its tests leave.
func (p *testPackage) checksLeaks() bool {
	f := p.functions["TestMain"]
	return f != nil && (f.calls["VerifyTestMain"] || f.calls["sim"] && f.calls["Main"])
}

func (p *testPackage) reach(name string) map[string]bool {
	literals, seen, queue := map[string]bool{}, map[string]bool{name: true}, []string{name}
	for len(queue) > 0 {
		f := p.functions[queue[0]]
		queue = queue[1:]
		for s := range f.literals {
			literals[s] = true
		}
		for called := range f.calls {
			if p.functions[called] != nil && !seen[called] {
				seen[called] = true
				queue = append(queue, called)
			}
		}
	}
	return literals
}

func (l *loader) position(p token.Pos) Position {
	at := l.files.Position(p)
	return Position{File: l.relative(at.Filename), Line: at.Line}
}

func (l *loader) relative(path string) string {
	rel, err := filepath.Rel(l.catalog.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// stringLiteral returns the value of a string literal or of a sum of them.
func stringLiteral(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return stringLiteral(e.X)
	case *ast.BinaryExpr:
		left, ok := stringLiteral(e.X)
		right, also := stringLiteral(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	}
	return "", false
}
