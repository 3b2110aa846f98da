package ratchet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// Tree is the production code of a module: no test files.
type Tree struct {
	Root     string
	Module   string
	Packages []*Package
	files    *token.FileSet
	exports  map[string]string // export data by import path
}

// Package is one package of the tree.
type Package struct {
	Dir     string // relative to the root, with slashes
	Imports []Import
	path    string
	files   []*ast.File
}

// Import is an import of another package of the same module.
type Import struct {
	Dir string
	At  catalog.Position
}

// listed is what the go command says about a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	Module                  *struct{ Path, Dir string }
	Error                   *struct{ Err string }
}

// Load lists and parses the module's packages. A package that does not build is an error only where the
// types of what it exports are needed.
func Load(ctx context.Context, root, module string) (*Tree, error) {
	t := &Tree{Root: root, Module: module, files: token.NewFileSet(), exports: map[string]string{}}
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Module,Error", "./...")
	cmd.Dir = root
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages of %s: %w\n%s", module, err, complaints.String())
	}
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, fmt.Errorf("list packages of %s: %w", module, err)
		}
		t.exports[p.ImportPath] = p.Export
		if p.Module == nil || p.Module.Path != module {
			continue
		}
		if err := t.add(p); err != nil {
			return nil, err
		}
	}
}

func (t *Tree) add(p listed) error {
	pkg := &Package{Dir: t.relative(p.Dir), path: p.ImportPath}
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		file, err := parser.ParseFile(t.files, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse package %s: %w", p.ImportPath, err)
		}
		pkg.files = append(pkg.files, file)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("parse package %s: import %s: %w", p.ImportPath, spec.Path.Value, err)
			}
			if dir, ok := strings.CutPrefix(path, t.Module+"/"); ok {
				pkg.Imports = append(pkg.Imports, Import{dir, t.position(spec.Pos())})
			}
		}
	}
	t.Packages = append(t.Packages, pkg)
	return nil
}

// check type-checks a package against the export data of what it imports. After an error, the first one,
// the information is incomplete.
func (t *Tree) check(pkg *Package) (*types.Info, error) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: importer.ForCompiler(t.files, "gc", func(path string) (io.ReadCloser, error) {
		file, err := os.Open(t.exports[path])
		if err != nil {
			return nil, fmt.Errorf("open export data of %s: %w", path, err)
		}
		return file, nil
	}), Error: func(error) {}} // with a handler the check goes on after an error, and returns the first
	if _, err := config.Check(pkg.path, t.files, pkg.files, info); err != nil {
		return info, fmt.Errorf("check types of %s: %w", pkg.Dir, err)
	}
	return info, nil
}

func (t *Tree) position(p token.Pos) catalog.Position {
	at := t.files.Position(p)
	return catalog.Position{File: t.relative(at.Filename), Line: at.Line}
}

func (t *Tree) relative(path string) string {
	rel, err := filepath.Rel(t.Root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
