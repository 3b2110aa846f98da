package audit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// named is a mutant that a comment names, or all of an owner: "L3.*".
type named struct {
	id string
	at catalog.Position
}

// mutantName is how a header names a mutant, or all mutants of an owner.
var mutantName = regexp.MustCompile(`\b([A-Z][0-9]+\.(?:[a-z][a-z0-9-]*|\*))`)

// headers compares what the headers of owners say of their mutants with the register: each mutant is named in a file of its owner's
// package, by itself or with all others of the owner, and nothing is named that is not registered.
func headers(c *catalog.Catalog) []catalog.Fault {
	var findings []catalog.Fault
	known := map[string]bool{}
	for _, m := range c.Mutants() {
		known[m.ID()], known[m.Owner+".*"] = true, true
	}
	read := map[string][]named{}
	for _, o := range c.Owners {
		if _, seen := read[o.Dir]; seen || o.Dir == "" {
			continue
		}
		all, err := mutantsNamed(c.Root, o.Dir)
		if err != nil {
			findings = append(findings, catalog.Fault{At: o.At, Message: err.Error()})
		}
		read[o.Dir] = all
		for _, n := range all {
			if !known[n.id] {
				findings = append(findings, catalog.Fault{At: n.at, Message: "a header names mutant " + n.id + ", which is not registered"})
			}
		}
	}
	for _, m := range c.Mutants() {
		has := func(n named) bool { return n.id == m.ID() || n.id == m.Owner+".*" }
		if all, seen := read[m.Dir]; seen && !slices.ContainsFunc(all, has) {
			findings = append(findings, catalog.Fault{At: m.At, Message: "mutant " + m.ID() + " is on no line \"Mutants …\" of a header in " + m.Dir})
		}
	}
	return findings
}

// mutantsNamed returns what the comments of a package's files name behind the word Mutants. Tests have no headers.
func mutantsNamed(root, dir string) ([]named, error) {
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return nil, fmt.Errorf("read headers: %w", err)
	}
	var all []named
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(root, filepath.FromSlash(dir), e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read headers: %w", err)
		}
		for _, group := range file.Comments {
			all = append(all, namedIn(group, catalog.Position{File: path.Join(dir, e.Name()), Line: files.Position(group.Pos()).Line})...)
		}
	}
	return all, nil
}

// namedIn reads one comment. What stands before the word is not about mutants, and what is behind an empty line neither.
func namedIn(group *ast.CommentGroup, at catalog.Position) []named {
	_, text, found := strings.Cut(group.Text(), "Mutants ")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n\n")
	var all []named
	for _, id := range mutantName.FindAllString(text, -1) {
		all = append(all, named{id, at})
	}
	return all
}
