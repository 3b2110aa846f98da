package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// divergence is one check that two processes ran differently.
type divergence struct {
	At        string `json:"at"`
	Check     string `json:"check"`
	Test      string `json:"test"`
	Package   string `json:"package"`
	Strategy  string `json:"strategy,omitempty"`
	Execution int    `json:"execution"`
	What      string `json:"what"`
	Step      string `json:"step,omitempty"` // the first one that differs, with what either process did
}

func (d divergence) String() string {
	text := fmt.Sprintf("%s: check %s: %s", d.At, d.Check, d.What)
	if d.Step != "" {
		text += "\n  " + d.Step
	}
	return text
}

const (
	stepsFor   = 5 // divergences whose step is looked for
	stepsTries = 4 // pairs of processes for each, because chance may let a pair agree
)

// findSteps runs the first diverged executions again, each in two processes that write their steps.
func (s site) findSteps(ctx context.Context, bounds []string, diverged []divergence) {
	for i := range diverged[:min(len(diverged), stepsFor)] {
		d := &diverged[i]
		if d.Strategy == "" {
			continue
		}
		step, err := s.firstStep(ctx, bounds, d)
		if err != nil {
			step = "its steps could not be compared: " + err.Error()
		}
		d.Step = step
	}
}

func (s site) firstStep(ctx context.Context, bounds []string, d *divergence) (string, error) {
	for range stepsTries {
		var sides [2][]inventory.Step
		for i := range sides {
			var err error
			if sides[i], err = s.stepsOf(ctx, bounds, d); err != nil {
				return "", err
			}
		}
		if step := inventory.FirstDifference(sides[0], sides[1]); step != "" {
			return "first diverging " + step, nil
		}
	}
	return fmt.Sprintf("run up to this execution on one core, %d pairs of processes agree: what differs comes from executions beside it, or by chance",
		stepsTries), nil
}

// stepsOf runs one execution, and those before it, in a process of its own.
func (s site) stepsOf(ctx context.Context, bounds []string, d *divergence) ([]inventory.Step, error) {
	file, err := s.freshRecords("steps.jsonl")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file) //nolint:errcheck // out/ is disposable
	cmd := s.Command(ctx, ".", "go", "test", "-run=^"+d.Test+"$", "-count=1", d.Package)
	cmd.Env = append(os.Environ(), simVar+"="+strings.Join(bounds, " "), inventory.StepsVar+"="+file,
		fmt.Sprintf("%s=%s %s %d", inventory.StepsOfVar, d.Check, d.Strategy, d.Execution))
	text, failed := cmd.CombinedOutput()
	steps, err := inventory.ReadSteps(file)
	if err != nil || failed != nil {
		return nil, fmt.Errorf("run %s again: %w, %w\n%s", d.Check, err, failed, harness.Tail(string(text), 20))
	}
	return steps, nil
}
