package catalog

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/sim/inventory"
)

var (
	ownerID    = regexp.MustCompile(`^[A-Z]{1,3}[0-9]{0,3}$`)
	checkID    = regexp.MustCompile(`^[A-Za-z0-9]+(/[a-z0-9][a-z0-9.-]*)+$`)
	mutantName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// validate faults declarations that contradict the tree or each other.
func (c *Catalog) validate() {
	owners := map[string]Position{}
	for i := range c.Owners {
		o := &c.Owners[i]
		if first, twice := owners[o.ID]; twice {
			c.fault(o.At, "owner %s is declared already at %s", o.ID, first)
		}
		owners[o.ID] = o.At
		if !ownerID.MatchString(o.ID) {
			c.fault(o.At, "owner id %q is not a catalogue id such as L3", o.ID)
		}
		c.validateCells(o)
		c.validateMutants(o)
	}
	c.validateChecks()
	c.validateMutantFiles()
}

// validateCells holds each lane to "checks or a reason". Both together is a fault too: the reason is
// then out of date.
func (c *Catalog) validateCells(o *Owner) {
	for _, lane := range inventory.Lanes() {
		_, reasoned := o.Reasons[lane]
		switch checks := len(o.Checks[lane]); {
		case checks == 0 && !reasoned:
			c.fault(o.At, "owner %s: lane %s (%s) has neither a check nor a reason", o.ID, lane, lane.Name())
		case checks > 0 && reasoned:
			c.fault(o.At, "owner %s: lane %s (%s) has checks and a reason for having none", o.ID, lane, lane.Name())
		}
	}
}

func (c *Catalog) validateMutants(o *Owner) {
	names := map[string]bool{}
	for _, m := range o.Mutants {
		if names[m.Name] {
			c.fault(m.At, "mutant %s is declared twice", m.ID())
		}
		names[m.Name] = true
		if !mutantName.MatchString(m.Name) {
			c.fault(m.At, "mutant %s: its name must be lower-case words joined by hyphens", m.ID())
		}
		if _, err := os.Stat(filepath.Join(c.Root, filepath.FromSlash(m.File()))); err != nil {
			c.fault(m.At, "mutant %s: there is no %s", m.ID(), m.File())
		}
		for _, e := range m.Expects {
			c.validateRejection(m, e)
		}
	}
}

func (c *Catalog) validateRejection(m Mutant, e inventory.Rejection) {
	if _, ok := c.Check(e.Check); !ok {
		c.fault(m.At, "mutant %s: its rejecting check %s is not registered", m.ID(), e.Check)
	}
	v, err := inventory.ParseVerdict(e.Verdict)
	switch {
	case err != nil:
		c.fault(m.At, "mutant %s: %v", m.ID(), err)
	case v.Kind == inventory.KindSteps:
		c.fault(m.At, "mutant %s: the step bound is not a rejection", m.ID())
	case v.Kind == inventory.KindAssertion && v.ID == "":
		c.fault(m.At, "mutant %s: an assertion needs its id, any failure would match", m.ID())
	}
}

func (c *Catalog) validateChecks() {
	seen := map[string]Position{}
	for _, check := range c.Checks {
		if first, twice := seen[check.ID]; twice {
			c.fault(check.At, "check %s is registered already at %s", check.ID, first)
		}
		seen[check.ID] = check.At
		if !checkID.MatchString(check.ID) {
			c.fault(check.At, "check id %q is not of the form L3/what-it-states", check.ID)
		}
		if prefix, _, _ := strings.Cut(check.ID, "/"); check.Owner != "" && prefix != check.Owner {
			c.fault(check.At, "check %s is declared by owner %s", check.ID, check.Owner)
		}
	}
}

// validateMutantFiles faults patches that no declaration names: they would never be tried.
func (c *Catalog) validateMutantFiles() {
	declared := map[string]bool{}
	var dirs []string
	for _, o := range c.Owners {
		dirs = append(dirs, o.Dir)
		for _, m := range o.Mutants {
			declared[m.File()] = true
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		folder := dir + "/testdata/mutants"
		entries, err := os.ReadDir(filepath.Join(c.Root, filepath.FromSlash(folder)))
		if err != nil {
			continue // no folder: every declared mutant of it is faulted above
		}
		for _, entry := range entries {
			if file := folder + "/" + entry.Name(); !declared[file] {
				c.fault(Position{file, 1}, "no owner declares this mutant")
			}
		}
	}
}

// resolve finds the test function of each check: the one whose body names the check's id, or else the
// one that reaches it through functions of its package.
func (c *Catalog) resolve() {
	for i := range c.Checks {
		check := &c.Checks[i]
		lane := check.Lane
		if check.Planted() {
			lane = inventory.LaneSim
		}
		candidates := c.naming(check.ID, lane)
		if len(candidates) == 0 {
			candidates = c.naming(check.ID, check.Lane) // a planted program's test may be of no lane
		}
		if len(candidates) == 0 {
			continue // the audit reports a missing check
		}
		check.Test = candidates[0]
		for _, other := range candidates[1:] {
			c.fault(other.At, "check %s is run by %s and by %s: one id, one test",
				check.ID, candidates[0].Name, other.Name)
		}
	}
}

// naming returns the tests of a lane whose bodies name a check, or else those that reach its name.
func (c *Catalog) naming(id string, lane inventory.Lane) []*Test {
	for _, literals := range []func(*Test) map[string]bool{
		func(t *Test) map[string]bool { return t.direct }, func(t *Test) map[string]bool { return t.reached },
	} {
		var found []*Test
		for _, t := range c.Tests {
			if t.Lane == lane && literals(t)[id] {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
