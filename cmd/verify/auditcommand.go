package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/claims"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// runAudit compares the register with the tree and with the records of the last complete runs.
func runAudit(ctx context.Context, args []string) int { return exit("audit", auditTree(ctx, args)) }

func auditTree(ctx context.Context, args []string) error {
	a, err := grammar{flags: []string{"--run"}}.parse(args)
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
	findings, err := s.audit(true)
	if err != nil {
		return err
	}
	s.printFindings(findings)
	s.Printf("audit: %d owners, %d checks, %d mutants, %d test functions; %d findings\n",
		len(s.cat.Owners), len(s.cat.Checks), len(s.cat.Mutants()), len(s.cat.Tests), len(findings))
	if len(findings) > 0 {
		err = errFound
	}
	return errors.Join(s.WriteJSON("audit.json", findings), err)
}

// audit returns every finding; say makes it print how old the records are.
func (s site) audit(say bool) ([]catalog.Fault, error) {
	findings, err := s.claims()
	if err != nil {
		return nil, err
	}
	findings = append(findings, audit.Static(s.cat)...)
	for _, l := range laneTable {
		registered, tests := len(s.cat.InLanes(l.lanes...)), len(s.cat.TestsInLanes(l.lanes...))
		if registered == 0 && tests == 0 {
			if say {
				s.Printf("lane %-16s no check; each owner gives its reason\n", l.name)
			}
			continue
		}
		records, age, err := s.lastRecords(l)
		if err != nil {
			return nil, err
		}
		if say {
			s.Printf("lane %-16s %d checks, records %s\n", l.name, registered, age)
		}
		findings = append(findings, audit.Records(s.cat, l.lanes, records)...)
	}
	return findings, nil
}

// lastRecords returns the records of the lane's last complete run, and their age for people. No file is
// no record: every check of the lane is then a finding.
func (s site) lastRecords(l lane) ([]inventory.Record, string, error) {
	file := filepath.Join(s.Out, "records", l.recordFile(""))
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "none: run just " + l.command, nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("audit lane %s: %w", l.name, err)
	}
	records, err := inventory.ReadRecords(file)
	return records, "of " + time.Since(info.ModTime()).Round(time.Second).String() + " ago", err
}

// claims compares the claims register with the catalogue and the commands of this program and of the node.
func (s site) claims() ([]catalog.Fault, error) {
	names := []string{"millrace demo"}
	for _, c := range commands() {
		names = append(names, "verify "+c.name)
	}
	return claims.Audit(s.Root, s.cat, names)
}
