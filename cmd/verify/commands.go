package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// command is one entry of the table. Its run parses its own arguments and returns an exit code; a new
// command is a file of its own and one line here.
type command struct {
	name, usage, help string
	run               func(ctx context.Context, args []string) int
}

// commands returns the table in the order help shows it.
func commands() []command {
	return []command{
		{"test", "[quick]", "everything that gates: build, vet, lints, units, every lane, audit, two mutants of each owner", runTest},
		{"test-sim", "[FILTER] [seeds=N] [strategy=S] [--once]", "registered simulation checks, then again in a second process", runTestSim},
		{"sim", "-tso [FILTER] [seeds=N] [strategy=S]", "which owners' checks still pass when stores reach memory late", runSimUnder},
		{"soak", "[time] [seed=N] [seeds=N] [filter=TEXT]", "registered simulated checks over fresh seeds, until one fails or the time is over", runSoak},
		{"timeline", "", "failures' pages in a headless browser: columns, arrows, faults, keys, search, both schedules", runTimeline},
		{"race", "[FILTER] [seeds=N] [strategy=S]", "plain memory under Go's race detector: planted races, then the checks that FILTER selects", runRace},
		{"test-models", "[FILTER] [seed=N] [checks=N]", "operation sequences against the reference models", laneCommand("models")},
		{"test-linearizability", "[FILTER] [seed=N] [checks=N]", "histories judged by porcupine", laneCommand("linearizability")},
		{"test-deadlock", "[FILTER]", "workloads under deadlock instrumentation", laneCommand("deadlock")},
		{"test-traces", "[FILTER]", "traces of simulated runs judged by the specifications", laneCommand("specification")},
		{"feel", "[seed=N] [n=N]", "drawn FEEL expressions beside another implementation, feelin, which it installs with npm", runFeel},
		{"fuzz", "[TARGET] [time=30s]", "go fuzzing, each target for a time", runFuzz},
		{"crash", "[--runs N] [--orders N] [--seed S]", "the demo's account over random kills and failpoints", runCrash},
		{"chaos", "[time=D] [seed=N] [clients=N] [break=NAME]", "replicas on one PostgreSQL under kills, pauses, spoilt connections and an activation; histories judged by porcupine", runChaos},
		{"replay", "FILE [mode=strict|lenient]", "one recorded execution again, in a fresh process", runReplay},
		{"show", "FILE", "a recorded failure: verdict, schedule and trace", runShow},
		{"qualify", "[ID…]", "every mutant (or those of an owner): each must be rejected by its checks", runQualify},
		{"audit", "[--run] [--all]", "the register against what exists and what ran", runAudit},
		{"matrix", "", "owner × lane, from the register and the last results", runMatrix},
		{"tla", "[PROTOCOL] [--gating] | check|simulate|trace|coverage|fmt|corpus …", "every specification and its mutants; or the TLA+ checker: tla help", runTLA},
		{"lint", "[--fix]", "golangci-lint, built from the pinned tools module", runLint},
		{"ratchet", "", "source contracts: imports and raw concurrency", runRatchet},
		{"profile", "", "the profile that cmd/millrace is compiled with, made anew", runProfile},
		{"bench-sched", "[FILTER] [rounds=N] [layouts=N] [--check]", "primitives and structures against the bare standard library, compiled as the node is", runBenchSched},
		{"bench-node", "", "HTTP to file, records per second and CPU beside a single-purpose program", runBenchNode},
		{"bench-flows", "[n=N] [rounds=N] [parked=N] [--check]", "flow instances per second and CPU on Pebble and PostgreSQL beside go-workflows and DBOS, with their bars", runBenchFlows},
		{"bench-tla", "[rounds=N] [--check]", "the specification checker: states per second, memory, start-up, with their bars", runBenchTLA},
		{"bench-sim", "[search|speed|finding|patterns|sct] [rounds=N] [trials=N] [limit=N] [sct-trials=N] [schedules=N] [program=TEXT] [strategy=NAME] [--resume] [--check]", "the simulator: exhaustive counts, speed, bug finding, Go bug patterns, the SCT programs", runBenchSim},
	}
}

// site is what most commands start from: the lab and the catalogue of the tree they stand in.
type site struct {
	*harness.Lab
	cat *catalog.Catalog
}

// open finds the module and reads its declarations.
func open() (site, error) {
	root, err := catalog.FindRoot(".")
	if err != nil {
		return site{}, err
	}
	cat, err := catalog.Load(root)
	if err != nil {
		return site{}, err
	}
	return site{harness.NewLab(root, os.Stdout), cat}, nil
}

// errUsage marks errors of the person who called; the exit code is then 2.
var errUsage = errors.New("usage")

// usagef is fmt.Errorf for them: what format wraps stays wrapped.
func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUsage, fmt.Errorf(format, args...))
}

// exit prints err for the command and returns the exit code it deserves.
func exit(name string, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(os.Stderr, "verify %s: %v\n", name, err)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailed
}

// errFound means that the command has printed what does not hold.
var errFound = errors.New("does not hold, see above")
