// Package catalog reads, without building anything, what the tree declares about its checks: the owners
// with their checks, mutants and reasons (declarations of sim/inventory in inventory_test.go files) and
// the test functions that exist. Everything else in cmd/verify compares runs against it.
package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/internal/mutant"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Position is a place in the tree, with a path relative to the module root.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (p Position) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Fault is something wrong with a declaration.
type Fault struct {
	At      Position `json:"at"`
	Message string   `json:"message"`
}

func (f Fault) String() string { return f.At.String() + ": " + f.Message }

// Owner is one declaration of inventory.Owner.
type Owner struct {
	ID      string
	Title   string
	Type    string // the Go type, as written
	Dir     string // of the declaration, relative to the module root, with slashes
	At      Position
	Checks  map[inventory.Lane][]string
	Reasons map[inventory.Lane]string
	Mutants []Mutant
}

// Mutant is one declaration of inventory.Mutant.
type Mutant struct {
	Owner   string
	Name    string
	What    string
	Dir     string // of the owner's package
	At      Position
	Expects []inventory.Rejection
}

// ID returns "L3.commit-without-epoch", the name of the mutant and of its file.
func (m Mutant) ID() string { return m.Owner + "." + m.Name }

// File returns the path of the mutant's patch, relative to the module root.
func (m Mutant) File() string { return m.Dir + "/testdata/mutants/" + m.ID() + ".mutant" }

// Check is one registered check and the test function that runs it.
type Check struct {
	ID    string
	Lane  inventory.Lane // empty for a planted program
	Owner string         // empty for a planted program
	At    Position       // where it is declared
	Test  *Test          // nil when no test function names the check
}

// Planted reports whether the check is a program that must fail.
func (c Check) Planted() bool { return c.Owner == "" }

// Test is one test or fuzz function of the tree.
type Test struct {
	Name string
	Lane inventory.Lane // empty when the name has no lane's prefix
	Dir  string
	At   Position

	direct, reached map[string]bool // string literals in its body, and in functions of its package it calls
}

// Fuzz reports whether the function is a fuzz target.
func (t Test) Fuzz() bool { return strings.HasPrefix(t.Name, "Fuzz") }

// Catalog is everything declared in one tree.
type Catalog struct {
	Root   string
	Module string // module path
	Owners []Owner
	Checks []Check // in the order of owners, then planted programs
	Tests  []*Test
	Faults []Fault // what is wrong with the declarations themselves
}

// Check returns the registered check with the id.
func (c *Catalog) Check(id string) (Check, bool) {
	i := slices.IndexFunc(c.Checks, func(check Check) bool { return check.ID == id })
	if i < 0 {
		return Check{}, false
	}
	return c.Checks[i], true
}

// InLanes returns the registered checks of the lanes; planted programs count as simulation.
func (c *Catalog) InLanes(lanes ...inventory.Lane) []Check {
	var found []Check
	for _, check := range c.Checks {
		lane := check.Lane
		if check.Planted() {
			lane = inventory.LaneSim
		}
		if slices.Contains(lanes, lane) {
			found = append(found, check)
		}
	}
	return found
}

// TestsInLanes returns the test functions of the lanes, by package and name.
func (c *Catalog) TestsInLanes(lanes ...inventory.Lane) []*Test {
	var found []*Test
	for _, t := range c.Tests {
		if slices.Contains(lanes, t.Lane) {
			found = append(found, t)
		}
	}
	return found
}

// ChecksOf returns the registered checks that a test function runs.
func (c *Catalog) ChecksOf(t *Test) []Check {
	var found []Check
	for _, check := range c.Checks {
		if check.Test == t {
			found = append(found, check)
		}
	}
	return found
}

// Unregistered returns what looks like an owner's check in a test function, and in what it calls, but is registered nowhere.
func (c *Catalog) Unregistered(t *Test) []string {
	var found []string
	for text := range t.reached { //order:sorted below
		owner, _, _ := strings.Cut(text, "/")
		if _, registered := c.Check(text); !registered && checkID.MatchString(text) && ownerID.MatchString(owner) {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return found
}

// Mutants returns every declared mutant in the order of owners.
func (c *Catalog) Mutants() []Mutant {
	var all []Mutant
	for _, o := range c.Owners {
		all = append(all, o.Mutants...)
	}
	return all
}

// Patch reads a mutant's patch; dir is the folder of the files that it changes.
func (c *Catalog) Patch(m Mutant) (patch mutant.Patch, dir string, err error) {
	patch, err = mutant.Read(filepath.Join(c.Root, filepath.FromSlash(m.File())))
	return patch, filepath.Join(c.Root, filepath.FromSlash(m.Dir)), err
}

// ImportPath returns the import path of a directory of the tree.
func (c *Catalog) ImportPath(dir string) string {
	if dir == "." || dir == "" {
		return c.Module
	}
	return c.Module + "/" + dir
}

func (c *Catalog) fault(at Position, format string, args ...any) {
	c.Faults = append(c.Faults, Fault{at, fmt.Sprintf(format, args...)})
}
