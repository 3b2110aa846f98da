package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// unitTimeout bounds the unit tests of one package.
const unitTimeout = 10 * time.Minute

// unitRun runs the unit tests of many packages side by side.
type unitRun struct {
	gate     *gate
	progress *harness.Progress

	mu       sync.Mutex
	tally    tally
	failures []error
}

func (u *unitRun) runAll(ctx context.Context, dirs []string, binaries map[string]string) {
	next := make(chan string)
	var workers sync.WaitGroup
	for range max(1, u.gate.Cores) {
		workers.Go(func() {
			for dir := range next {
				u.run(ctx, dir, binaries[dir])
			}
		})
	}
	for _, dir := range dirs {
		if binaries[dir] != "" && ctx.Err() == nil {
			next <- dir
		}
	}
	close(next)
	workers.Wait()
}

// laneTests is the pattern of every test that a lane runs.
func laneTests() string {
	pattern := ""
	for _, l := range inventory.Lanes() {
		if pattern != "" {
			pattern += "|"
		}
		pattern += "^" + l.Prefix() + "($|[^a-z])"
	}
	return pattern
}

func (u *unitRun) run(ctx context.Context, dir, binary string) {
	log, err := u.gate.Path("logs", "unit-"+harness.Slug(dir)+".log")
	if err != nil {
		u.add(harness.Result{}, err)
		return
	}
	started := time.Now()
	result, err := u.gate.Run(ctx, harness.Order{
		Dir: dir, Binary: binary, Skip: laneTests(), Log: log, Timeout: unitTimeout,
		Ended: func(harness.Outcome) { u.progress.Step(1) },
	})
	u.progress.Label(dir)
	u.progress.Note("%-36s %3d of %3d passed in %.1f s", dir, passed(result.Outcomes), len(result.Outcomes),
		time.Since(started).Seconds())
	u.add(result, err)
	for _, o := range result.Outcomes {
		if o.Status != harness.Passed {
			u.progress.Note("--- %s %s (%s)\n%s", o.Status, o.Test, o.Dir, o.Output)
		}
	}
	if err == nil && !result.OK() && passed(result.Outcomes) == len(result.Outcomes) {
		u.add(harness.Result{}, fmt.Errorf("tests of %s: %w: exit %d\n%s", dir, errOutside, result.Exit, result.Output))
	}
}

func (u *unitRun) add(result harness.Result, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	good := passed(result.Outcomes)
	u.tally.passed += good
	u.tally.failed += len(result.Outcomes) - good
	if err != nil {
		u.failures = append(u.failures, err)
	}
}
