package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// linter is built from source at the version that tools/go.mod pins; it contains gofumpt and staticcheck,
// so that these are not built a second time.
const linter = "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"

var errLint = errors.New("golangci-lint found faults")

// runLint runs the linters of .golangci.yml on the module.
func runLint(ctx context.Context, args []string) int { return exit("lint", lint(ctx, args)) }

func lint(ctx context.Context, args []string) error {
	a, err := grammar{flags: []string{"--fix"}}.parse(args)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	if a.flags["--fix"] {
		return s.lint(ctx, "--fix")
	}
	return s.lint(ctx)
}

func (s site) lint(ctx context.Context, options ...string) error {
	p := s.NewProgress("lint", 0)
	defer p.Close()
	p.Label("building golangci-lint, minutes the first time")
	binary := filepath.Join(s.Root, ".tools", "bin", "golangci-lint")
	if text, err := s.Command(ctx, "tools", "go", "build", "-o", binary, linter).CombinedOutput(); err != nil {
		return fmt.Errorf("build golangci-lint: %w\n%s", err, harness.Tail(string(text), 40))
	}
	p.Label("golangci-lint run")
	args := append([]string{"run", "--timeout=10m", "--allow-parallel-runners"}, options...)
	text, err := s.Command(ctx, ".", binary, append(args, "./...")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %w\n%s", errLint, err, harness.Tail(string(text), 200))
	}
	return nil
}
