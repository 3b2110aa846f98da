package main

import (
	"context"
	"errors"
	"slices"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/ratchet"
)

// runRatchet checks the source contracts.
func runRatchet(ctx context.Context, args []string) int {
	return exit("ratchet", ratchetTree(ctx, args))
}

func ratchetTree(ctx context.Context, args []string) error {
	if _, err := (grammar{}).parse(args); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	findings, packages, err := s.ratchet(ctx)
	if err != nil {
		return err
	}
	s.printFindings(findings)
	s.Printf("ratchet: %d packages, %d findings\n", packages, len(findings))
	if len(findings) > 0 {
		err = errFound
	}
	return errors.Join(s.WriteJSON("ratchet.json", findings), err)
}

// ratchet returns the findings and the number of packages looked at.
func (s site) ratchet(ctx context.Context) ([]catalog.Fault, int, error) {
	rules, err := ratchet.Read(s.Root)
	if err != nil {
		return nil, 0, err
	}
	p := s.NewProgress("ratchet", 0)
	defer p.Close()
	tree, err := ratchet.Load(ctx, s.Root, s.cat.Module)
	if err != nil {
		return nil, 0, err
	}
	return slices.Concat(rules.Imports(tree), rules.Bans(tree), rules.Unused()), len(tree.Packages), nil
}
