// Package claims reads the claims register, a table in RESEARCH.md, and compares its evidence with what exists: a claim whose
// evidence is gone is a claim no more.
package claims

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
)

// File is where the register stands.
const File = "RESEARCH.md"

// columns of a row: id, claim, owners, evidence, limits.
const columns = 5

var (
	idPattern = regexp.MustCompile(`^K[0-9]+$`)
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// Audit returns what is wrong with the register below root. commands are those that may be evidence.
func Audit(root string, c *catalog.Catalog, commands []string) ([]catalog.Fault, error) {
	text, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	return audit(string(text), known(c, commands), owners(c)), nil
}

func known(c *catalog.Catalog, commands []string) map[string]bool {
	all := map[string]bool{}
	for _, x := range c.Checks {
		all[x.ID] = true
	}
	for _, m := range c.Mutants() {
		all[m.ID()] = true
	}
	for _, name := range commands {
		all[name] = true
	}
	return all
}

func owners(c *catalog.Catalog) map[string]bool {
	all := map[string]bool{}
	for _, o := range c.Owners {
		all[o.ID] = true
	}
	return all
}

func audit(text string, evidence, owners map[string]bool) []catalog.Fault {
	var faults []catalog.Fault
	seen, claimed := map[string]bool{}, map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		id := strings.TrimSpace(cells[0])
		if !idPattern.MatchString(id) {
			continue
		}
		fault := func(format string, args ...any) {
			faults = append(faults, catalog.Fault{At: catalog.Position{File: File, Line: number}, Message: "claim " + id + ": " + fmt.Sprintf(format, args...)})
		}
		if len(cells) != columns {
			fault("%d columns, want %d", len(cells), columns)
			continue
		}
		if seen[id] {
			fault("the id is used twice")
		}
		seen[id] = true
		for _, o := range strings.Fields(cells[2]) {
			claimed[o] = true
			if !owners[o] {
				fault("owner %s is not registered", o)
			}
		}
		found := quoted.FindAllStringSubmatch(cells[3], -1)
		if len(found) == 0 {
			fault("no evidence")
		}
		for _, e := range found {
			if !evidence[e[1]] {
				fault("evidence %s does not exist", e[1])
			}
		}
	}
	for _, o := range slices.Sorted(maps.Keys(owners)) {
		if !claimed[o] {
			faults = append(faults, catalog.Fault{At: catalog.Position{File: File, Line: 1}, Message: "no claim is about owner " + o})
		}
	}
	if len(seen) == 0 {
		faults = append(faults, catalog.Fault{At: catalog.Position{File: File, Line: 1}, Message: "the register holds no claim"})
	}
	return faults
}
