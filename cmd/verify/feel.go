package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/millrace-dev/millrace/cmd/verify/internal/feelin"
)

// The run that gates has a fixed seed, so that it does not fail for somebody else's change.
const (
	feelCases = 4000
	feelSeed  = 1
)

var errFeel = errors.New("package feel and its oracle differ")

// runFeel compares core/feel with another implementation.
func runFeel(ctx context.Context, args []string) int { return exit("feel", feelCommand(ctx, args)) }

func feelCommand(ctx context.Context, args []string) error {
	a, err := grammar{keys: []string{"seed", "n"}}.parse(args)
	if err != nil {
		return err
	}
	seed, err := a.seed(feelSeed)
	if err != nil {
		return err
	}
	n, err := a.count("n", feelCases)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	t, err := s.feel(ctx, seed, n)
	if err == nil && t.failed > 0 {
		return errFeel
	}
	return err
}

// feelStep is the run that gates.
func (g *gate) feelStep(ctx context.Context) (tally, error) { return g.feel(ctx, feelSeed, feelCases) }

// feel evaluates n drawn expressions with both, and one of each known difference, which must still differ.
func (s site) feel(ctx context.Context, seed uint64, n int) (t tally, err error) {
	dir, err := s.feelin(ctx)
	if err != nil {
		return t, err
	}
	known := feelin.Differences()
	cases, err := feelin.Cases(seed, n)
	if err != nil {
		return t, err
	}
	for _, d := range known {
		c, err := feelin.CaseOf(d.Example)
		if err != nil {
			return t, err
		}
		cases = append(cases, c)
	}
	answers, err := feelin.Ask(ctx, dir, cases)
	if err != nil {
		return t, err
	}
	for i, x := range answers {
		differs := !x.Same
		switch {
		case i < n && differs:
			t.failed++
			s.Printf("expression %d of seed %d: %s\n  here  %s\n  there %s%s\n", i, seed, cases[i].Expression, cases[i].Literal, x.Theirs, x.Refused)
		case i >= n && !differs:
			t.failed++
			s.Printf("%s: no difference any more (%s)\n", cases[i].Expression, known[i-n].Reason)
		default:
			t.passed++
		}
	}
	s.Printf("feel: %d expressions of seed %d, %d known differences\n", n, seed, len(known))
	if err := s.WriteJSON("feel.json", map[string]any{"seed": seed, "expressions": n, "differences": known, "failed": t.failed}); err != nil {
		return t, err
	}
	return t, nil
}

// feelin returns the folder with the oracle, which it installs with npm when it is not there; node comes from the distribution.
func (s site) feelin(ctx context.Context) (string, error) {
	for tool, name := range map[string]string{"node": "nodejs", "npm": "npm"} { //order:each is independent
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if err := s.install(ctx, name); err != nil {
			return "", err
		}
	}
	packages := feelin.Packages()
	dir := filepath.Join(s.Root, ".tools", packages[0])
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "feelin", "package.json")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("install oracle: %w", err)
	}
	args := append([]string{
		"install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error",
	}, packages...)
	if err := s.run(ctx, "npm", args...); err != nil {
		return "", fmt.Errorf("install oracle: %w", err)
	}
	return dir, nil
}
