package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/claims"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// runAudit compares the register with the tree and with the records of the last complete runs.
func runAudit(ctx context.Context, args []string) int { return exit("audit", auditTree(ctx, args)) }

func auditTree(ctx context.Context, args []string) error {
	a, err := grammar{flags: []string{"--run", "--all"}}.parse(args)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	if a.flags["--run"] {
		for _, l := range laneTable {
			if len(s.cat.InLanes(l.lanes...)) == 0 {
				continue
			}
			if _, err := s.runLane(ctx, l, "", nil); err != nil {
				return err
			}
		}
	}
	runs, err := s.lastRuns()
	if err != nil {
		return err
	}
	static, err := s.auditStatic()
	if err != nil {
		return err
	}
	s.printAudit(static, runs, a.flags["--all"])
	findings := withRuns(static, runs)
	if len(findings) > 0 {
		err = errFound
	}
	return errors.Join(s.WriteJSON("audit.json", findings), err)
}

// printAudit prints the findings after a line for each lane. Each check of a lane that has not run yet is one: the lane's line stands for
// them, unless all are wanted.
func (s site) printAudit(static []catalog.Fault, runs []lastRun, all bool) {
	shown, total := slices.Clone(static), len(static)
	for _, r := range runs {
		s.Printf("%s\n", r)
		total += len(r.faults)
		if !r.At.IsZero() || all {
			shown = append(shown, r.faults...)
		}
	}
	s.printFindings(shown)
	s.Printf("audit: %d owners, %d checks, %d mutants, %d test functions; %d findings",
		len(s.cat.Owners), len(s.cat.Checks), len(s.cat.Mutants()), len(s.cat.Tests), total)
	if left := total - len(shown); left > 0 {
		s.Printf(", %d of them checks that no complete run has seen yet (--all and out/audit.json list them)", left)
	}
	s.Printf("\n")
}

// audit returns every finding.
func (s site) audit() ([]catalog.Fault, error) {
	runs, err := s.lastRuns()
	if err != nil {
		return nil, err
	}
	static, err := s.auditStatic()
	return withRuns(static, runs), err
}

// auditStatic returns what is wrong whatever has run.
func (s site) auditStatic() ([]catalog.Fault, error) {
	findings, err := s.claims()
	if err != nil {
		return nil, err
	}
	return append(findings, audit.Static(s.cat)...), nil
}

// withRuns returns static and what is wrong with runs.
func withRuns(static []catalog.Fault, runs []lastRun) []catalog.Fault {
	all := slices.Clone(static)
	for _, r := range runs {
		all = append(all, r.faults...)
	}
	return all
}

// lastRun is the last complete run of a lane.
type lastRun struct {
	Name    string           `json:"name"`
	Command string           `json:"command"`
	Lanes   []inventory.Lane `json:"lanes"`
	Checks  int              `json:"checks"`        // registered
	At      time.Time        `json:"at,omitzero"`   // when it ended; zero: there was none
	Part    time.Time        `json:"part,omitzero"` // when the last run of a part ended, if that was later
	records []inventory.Record
	last    map[string]inventory.Record
	faults  []catalog.Fault // of the lane's checks: without a record, or with one that is none
}

// lastRuns returns the last complete run of each lane. No file is no record: every check of the lane is then a finding.
func (s site) lastRuns() ([]lastRun, error) {
	var runs []lastRun
	for _, l := range laneTable {
		r := lastRun{Name: l.name, Command: l.command, Lanes: l.lanes, Checks: len(s.cat.InLanes(l.lanes...))}
		var err error
		if r.At, err = s.recordsTime(l.recordFile(false)); err != nil {
			return nil, err
		}
		if r.Part, err = s.recordsTime(l.recordFile(true)); err != nil {
			return nil, err
		}
		if r.Part.Before(r.At) {
			r.Part = time.Time{}
		}
		if !r.At.IsZero() {
			if r.records, err = inventory.ReadRecords(s.recordsPath(l.recordFile(false))); err != nil {
				return nil, err
			}
		}
		r.last, r.faults = audit.Last(r.records), audit.Records(s.cat, r.Lanes, r.records)
		runs = append(runs, r)
	}
	return runs, nil
}

func (s site) recordsPath(name string) string { return filepath.Join(s.Out, "records", name) }

// recordsTime is when records were written, zero for none.
func (s site) recordsTime(name string) (time.Time, error) {
	info, err := os.Stat(s.recordsPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("look for records: %w", err)
	}
	return info.ModTime(), nil
}

// String says what a lane's numbers are from.
func (r lastRun) String() string {
	text := fmt.Sprintf("lane %-16s %3d checks, ", r.Name, r.Checks)
	switch {
	case r.Checks == 0:
		return fmt.Sprintf("lane %-16s no check; each owner gives its reason", r.Name)
	case r.At.IsZero():
		text += "no complete run yet: run ./just " + r.Command
	default:
		text += "complete run " + ago(r.At)
	}
	if !r.Part.IsZero() {
		text += "; the run of a part " + ago(r.Part) + " does not count"
	}
	return text
}

func ago(at time.Time) string { return time.Since(at).Round(time.Second).String() + " ago" }

// claims compares the claims register with the catalogue and the commands of this program and of the node.
func (s site) claims() ([]catalog.Fault, error) {
	names := []string{"millrace demo"}
	for _, c := range commands() {
		names = append(names, "verify "+c.name)
	}
	return claims.Audit(s.Root, s.cat, names)
}
