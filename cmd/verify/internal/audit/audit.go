// Package audit compares what is registered with what exists and with what ran. Every finding is
// something that a green run could otherwise hide: a check nobody runs, a test nobody registered, a run
// that stopped early.
package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Static returns what is wrong without running anything: faulty declarations, registered checks that no
// test names, test functions of a lane that run no registered check, mutants of code that has moved on,
// mutants that no header names.
func Static(c *catalog.Catalog) []catalog.Fault {
	findings := slices.Clone(c.Faults)
	if len(c.Owners) == 0 {
		findings = append(findings, catalog.Fault{
			At: catalog.Position{File: "go.mod", Line: 1}, Message: "no owner is registered in this module",
		})
	}
	for _, check := range c.Checks {
		if check.Test == nil {
			findings = append(findings, catalog.Fault{
				At: check.At, Message: "check " + check.ID + " is registered, but no test function of its lane names it",
			})
		}
	}
	for _, t := range c.Tests {
		if t.Lane != "" && len(c.ChecksOf(t)) == 0 {
			findings = append(findings, catalog.Fault{
				At:      t.At,
				Message: t.Name + " is a " + t.Lane.Name() + " test, but runs no registered check",
			})
		}
	}
	for _, m := range c.Mutants() {
		if err := applies(c, m); err != nil {
			findings = append(findings, catalog.Fault{At: catalog.Position{File: m.File(), Line: 1}, Message: err.Error()})
		}
	}
	return sorted(append(findings, headers(c)...))
}

// applies says why a mutant cannot be tried. Only some of them are when everything else gates.
func applies(c *catalog.Catalog, m catalog.Mutant) error {
	patch, dir, err := c.Patch(m)
	if err != nil {
		return err
	}
	_, err = patch.Apply(dir)
	return err
}

// Records returns what is wrong with a complete run of some lanes: registered checks without a record,
// records of unregistered checks, runs that did not pass, stopped early or were not complete.
func Records(c *catalog.Catalog, lanes []inventory.Lane, records []inventory.Record) []catalog.Fault {
	var findings []catalog.Fault
	last := Last(records)
	for _, check := range c.InLanes(lanes...) {
		rec, ran := last[check.ID]
		if !ran {
			findings = append(findings, catalog.Fault{
				At: check.At, Message: "check " + check.ID + " left no record: it was skipped, or ended before it could say what it did",
			})
			continue
		}
		for _, what := range Shortfalls(check, rec) {
			findings = append(findings, catalog.Fault{At: check.At, Message: "check " + check.ID + " " + what})
		}
	}
	return sorted(append(findings, Unregistered(c, lanes, records)...))
}

// Unregistered returns the records of checks that no owner registers in these lanes. Unlike what is missing, they are a
// finding in a part of a run too.
func Unregistered(c *catalog.Catalog, lanes []inventory.Lane, records []inventory.Record) []catalog.Fault {
	var findings []catalog.Fault
	last, known := Last(records), ids(c.InLanes(lanes...))
	for _, id := range slices.Sorted(maps.Keys(last)) {
		if !slices.Contains(known, id) {
			findings = append(findings, unregistered(c, last[id]))
		}
	}
	return findings
}

// Shortfalls says in which ways a record is less than what its check promises.
func Shortfalls(check catalog.Check, rec inventory.Record) []string {
	var found []string
	if !rec.Passed {
		found = append(found, "failed"+verdictOf(rec))
	}
	if rec.Executions <= 0 {
		found = append(found, "executed nothing")
	}
	// A check that fails stops at its failure, as a planted program must: what they left undone is no
	// finding of its own.
	if check.Planted() || !rec.Passed {
		return found
	}
	if 0 < rec.Executions && rec.Executions < rec.Declared {
		found = append(found, fmt.Sprintf("executed %d of %d declared", rec.Executions, rec.Declared))
	}
	for _, s := range rec.Strategies {
		if s.Executed < s.Declared {
			found = append(found, fmt.Sprintf("executed %d of %d declared with strategy %s", s.Executed, s.Declared, s.Name))
		}
	}
	if rec.Lane != "" && rec.Lane != check.Lane {
		found = append(found, fmt.Sprintf("is registered in lane %s, but ran as lane %s", check.Lane, rec.Lane))
	}
	if check.Lane == inventory.LaneExhaustive && rec.Exhaustive != inventory.Complete {
		found = append(found, fmt.Sprintf("is not complete: %q", rec.Exhaustive))
	}
	return found
}

// Last returns the last record of each check by its id.
func Last(records []inventory.Record) map[string]inventory.Record {
	last := map[string]inventory.Record{}
	for _, rec := range records {
		last[rec.Check] = rec
	}
	return last
}

func verdictOf(rec inventory.Record) string {
	if rec.Verdict == nil {
		return ""
	}
	return ": " + rec.Verdict.String()
}

// unregistered places a record of an unknown check at the test function that made it.
func unregistered(c *catalog.Catalog, rec inventory.Record) catalog.Fault {
	at := catalog.Position{File: rec.Package, Line: 1}
	for _, t := range c.Tests {
		if t.Name == rec.Test && c.ImportPath(t.Dir) == rec.Package {
			at = t.At
		}
	}
	return catalog.Fault{At: at, Message: rec.Test + " ran check " + rec.Check + ", which is not registered in this lane"}
}

func ids(checks []catalog.Check) []string {
	var all []string
	for _, check := range checks {
		all = append(all, check.ID)
	}
	return all
}

func sorted(findings []catalog.Fault) []catalog.Fault {
	slices.SortFunc(findings, func(a, b catalog.Fault) int {
		return cmp.Or(strings.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line),
			strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(findings)
}
