package ratchet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// checkers are imported by tests and by cmd/verify only: production carries nothing of them.
var checkers = []string{"sim", "deadlock", "tla", "fuzz"}

// references are judged against production code, so they must not share it; an exception names the
// package of values they speak in.
var references = []string{"models", "linearizability"}

// Imports returns the imports of production files that break the order of dependencies.
func (r *Rules) Imports(t *Tree) []catalog.Fault {
	var findings []catalog.Fault
	for _, pkg := range t.Packages {
		if _, ok := r.levelOf(pkg.Dir); !ok {
			findings = append(findings, catalog.Fault{
				At: catalog.Position{File: pkg.Dir, Line: 1}, Message: "no layer of " + ruleFile + " covers this package",
			})
			continue
		}
		for _, imp := range pkg.Imports {
			if why := r.importFault(pkg.Dir, imp.Dir); why != "" && !r.allowed("import", pkg.Dir, imp.Dir) {
				findings = append(findings, catalog.Fault{
					At: imp.At, Message: fmt.Sprintf("%s imports %s: %s", pkg.Dir, imp.Dir, why),
				})
			}
		}
	}
	return findings
}

// importFault says why from may not import to, both folders of the module, or "".
func (r *Rules) importFault(from, to string) string {
	switch {
	case inAny(to, checkers) && !inAny(from, checkers) && !within(from, "cmd/verify") && !inAny(from, references):
		return "only tests and cmd/verify may use what checks production code"
	case inAny(from, references) && within(to, "core"):
		return "a reference must not share the code it judges; value types need an exception with a reason"
	case inAny(from, []string{"sim"}) && within(to, "core") && !within(to, "core/sched"):
		return "the simulator knows the boundary and no owner"
	case strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(from, "cmd/"):
		return "commands are imported by nothing"
	}
	above, _ := r.levelOf(to)
	here, _ := r.levelOf(from)
	if above > here {
		return fmt.Sprintf("layer %s must not know layer %s", r.layers[here].name, r.layers[above].name)
	}
	return ""
}

func inAny(dir string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return within(dir, folder) })
}
