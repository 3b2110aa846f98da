// Package ratchet checks source contracts that no compiler knows: which package may import which, and
// that production code under core synchronizes, reads time and draws random numbers only through
// core/sched, so that the simulator sees everything it does.
//
// An exception is a line of cmd/verify/ratchet.txt with its reason. An exception that nothing needs is a finding too:
// the list only shrinks by itself.
package ratchet

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// layer is one level of the dependency order; a package may import its own level and those below.
type layer struct {
	name     string
	prefixes []string
}

// exception allows one thing with a reason.
type exception struct {
	kind   string // "import" or a rule of the ban list
	from   string // package or file, relative to the module root
	what   string // what is imported or used; "*" for anything
	reason string
	line   int
	used   bool
}

// edge is a folder or file that is exempt from the ban list: it talks to the outside.
type edge struct {
	path string
	line int
	used bool
}

// Rules are the contents of a tree's rule file.
type Rules struct {
	layers     []layer
	edges      []*edge
	exceptions []*exception
}

// ruleFile is where a tree keeps its rules.
const ruleFile = "cmd/verify/ratchet.txt"

// Read returns the rules of the module at root.
func Read(root string) (*Rules, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(ruleFile)))
	if err != nil {
		return nil, fmt.Errorf("read source contracts: %w", err)
	}
	return Parse(string(text))
}

// Parse reads rules: lines "layer NAME PREFIX…", "edge PATH reason…", "allow KIND FROM WHAT reason…";
// empty lines and lines that start with # say nothing.
func Parse(text string) (*Rules, error) {
	r := &Rules{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if err := r.add(number, fields); err != nil {
			return nil, fmt.Errorf("parse %s:%d: %w", ruleFile, number, err)
		}
	}
	return r, lines.Err()
}

func (r *Rules) add(number int, fields []string) error {
	switch {
	case fields[0] == "layer" && len(fields) > 2:
		r.layers = append(r.layers, layer{fields[1], fields[2:]})
	case fields[0] == "edge" && len(fields) > 2:
		r.edges = append(r.edges, &edge{path: fields[1], line: number})
	case fields[0] == "allow" && len(fields) > 4:
		r.exceptions = append(r.exceptions, &exception{
			kind: fields[1], from: fields[2], what: fields[3], reason: strings.Join(fields[4:], " "), line: number,
		})
	default:
		return fmt.Errorf("%q is no rule, or its reason is missing", strings.Join(fields, " ")) //nolint:err113 // shown to people
	}
	return nil
}

// allowed reports whether an exception covers the use, and marks it used.
func (r *Rules) allowed(kind, from, what string) bool {
	found := false
	for _, e := range r.exceptions {
		if e.kind == kind && within(from, e.from) && (e.what == "*" || e.what == what) {
			e.used, found = true, true
		}
	}
	return found
}

// Unused returns the edges and exceptions that nothing needed.
func (r *Rules) Unused() []catalog.Fault {
	var findings []catalog.Fault
	for _, e := range r.edges {
		if !e.used {
			findings = append(findings, catalog.Fault{
				At: catalog.Position{File: ruleFile, Line: e.line}, Message: "nothing at the edge " + e.path + " needs it: delete it",
			})
		}
	}
	for _, e := range r.exceptions {
		if !e.used {
			findings = append(findings, catalog.Fault{
				At:      catalog.Position{File: ruleFile, Line: e.line},
				Message: fmt.Sprintf("nothing needs the exception %s %s %s: delete it", e.kind, e.from, e.what),
			})
		}
	}
	return findings
}

// within reports whether path is folder or below it; a folder may also be a file.
func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// levelOf returns the level of a package folder: the layer with the longest prefix that covers it.
func (r *Rules) levelOf(dir string) (int, bool) {
	level, longest := 0, -1
	for i, l := range r.layers {
		for _, prefix := range l.prefixes {
			if within(dir, prefix) && len(prefix) > longest {
				level, longest = i, len(prefix)
			}
		}
	}
	return level, longest >= 0
}

// atEdge reports whether an edge covers a file, and marks it used.
func (r *Rules) atEdge(file string) bool {
	found := false
	for _, e := range r.edges {
		if within(file, e.path) {
			e.used, found = true, true
		}
	}
	return found
}
