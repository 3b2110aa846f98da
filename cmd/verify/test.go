package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// gate is one run of everything that gates.
type gate struct {
	site
	Steps   []step      `json:"steps"`
	Checks  []checkRow  `json:"checks"`
	Mutants []mutantRow `json:"mutants,omitempty"`
	Passed  int         `json:"passed"`
	Failed  int         `json:"failed"`
	Seconds float64     `json:"seconds"`
}

// step is one line of the time table.
type step struct {
	Name    string  `json:"name"`
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"`
}

// tally is what a step counted; an error adds one failure and is printed.
type tally struct{ passed, failed int }

// runTest runs everything that gates. A failed step does not hide the later ones.
func runTest(ctx context.Context, args []string) int { return exit("test", test(ctx, args)) }

func test(ctx context.Context, args []string) error {
	a, err := grammar{words: 1}.parse(args)
	if err != nil {
		return err
	}
	quick := a.word() == "quick"
	if a.word() != "" && !quick {
		return usagef("the only word test knows is quick, which leaves out lint, chaos and mutants; got %q", a.word())
	}
	s, err := open()
	if err != nil {
		return err
	}
	g := &gate{site: s}
	g.run(ctx, quick)
	return errors.Join(g.WriteJSON("test.json", g), ctx.Err(), g.err())
}

// run runs every step and prints the summary; quick leaves out lint, chaos and mutants.
func (g *gate) run(ctx context.Context, quick bool) {
	started := time.Now()
	g.sources(ctx, quick)
	g.step(ctx, "postgresql", func(ctx context.Context) (tally, error) { return one(g.providePostgres(ctx)) })
	g.step(ctx, "compile tests", g.compileAll)
	g.step(ctx, "unit", g.units)
	if !quick {
		g.step(ctx, "race", g.race)
		g.step(ctx, "timeline", g.timelineStep)
		g.step(ctx, "feel", g.feelStep)
	}
	for _, l := range laneTable {
		g.lane(ctx, l)
	}
	g.specs(ctx)
	if !quick {
		g.step(ctx, "chaos", g.chaosStep)
	}
	g.step(ctx, "audit", g.auditStep)
	if !quick {
		g.step(ctx, "mutants", g.qualify)
	}
	g.Seconds = time.Since(started).Seconds()
	g.summary()
}

func (g *gate) err() error {
	if g.Failed > 0 {
		return errFound
	}
	return nil
}

// step runs one part, counts it and prints its line of the table at once.
func (g *gate) step(ctx context.Context, name string, run func(context.Context) (tally, error)) {
	if ctx.Err() != nil {
		return
	}
	g.Printf("== %s\n", name)
	started := time.Now()
	counted, err := run(ctx)
	if err != nil {
		counted.failed++
		g.Printf("%v\n", err)
	}
	st := step{name, counted.passed, counted.failed, time.Since(started).Seconds()}
	g.Steps = append(g.Steps, st)
	g.Passed += st.Passed
	g.Failed += st.Failed
	g.Printf("   %s: %d passed, %d failed, %.1f s\n", name, st.Passed, st.Failed, st.Seconds)
}

// sources runs what needs no test: build, vet, lint, ratchet.
func (g *gate) sources(ctx context.Context, quick bool) {
	g.step(ctx, "build", g.tool("go", "build", "./..."))
	g.step(ctx, "vet", g.tool("go", "vet", "./..."))
	g.step(ctx, "ratchet", func(ctx context.Context) (tally, error) {
		findings, packages, err := g.ratchet(ctx)
		g.printFindings(findings)
		return tally{max(0, packages-len(findings)), len(findings)}, err
	})
	if !quick {
		g.step(ctx, "lint", func(ctx context.Context) (tally, error) { return one(g.lint(ctx)) })
	}
}

// one counts a part that is one check of its own.
func one(err error) (tally, error) {
	if err != nil {
		return tally{}, err
	}
	return tally{passed: 1}, nil
}

// tool runs a command of the toolchain as a step.
func (g *gate) tool(name string, args ...string) func(context.Context) (tally, error) {
	return func(ctx context.Context) (tally, error) {
		p := g.NewProgress(name+" "+args[0], 0)
		text, err := g.Command(ctx, ".", name, args...).CombinedOutput()
		p.Close()
		if err != nil {
			return tally{}, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, harness.Tail(string(text), 100))
		}
		return tally{passed: 1}, nil
	}
}

// compileAll builds every test binary once, so that the lanes' times are those of their checks.
func (g *gate) compileAll(ctx context.Context) (tally, error) {
	var dirs []string
	for _, t := range g.cat.Tests {
		if !slices.Contains(dirs, t.Dir) {
			dirs = append(dirs, t.Dir)
		}
	}
	p := g.NewProgress("compile tests", 0)
	defer p.Close()
	binaries, err := g.Compile(ctx, dirs)
	return tally{passed: len(binaries)}, err
}

// units runs every test that belongs to no lane, package by package; those are quick, so several
// packages run side by side.
func (g *gate) units(ctx context.Context) (tally, error) {
	var dirs []string
	total := 0
	for _, t := range g.cat.Tests {
		if t.Lane != "" {
			continue
		}
		total++
		if !slices.Contains(dirs, t.Dir) {
			dirs = append(dirs, t.Dir)
		}
	}
	if total == 0 {
		return tally{}, fmt.Errorf("unit tests: %w", errNothing)
	}
	p := g.NewProgress("unit", total)
	defer p.Close()
	p.Label("compiling")
	binaries, failed := g.Compile(ctx, dirs)
	u := unitRun{gate: g, progress: p}
	u.runAll(ctx, dirs, binaries)
	return u.tally, errors.Join(append(u.failures, failed)...)
}

// lane runs one lane as a step. A lane for which no owner has a check yet is stated and not run: each
// owner has given its reason in the register, which the audit holds it to.
func (g *gate) lane(ctx context.Context, l lane) {
	registered, tests := g.cat.InLanes(l.lanes...), g.cat.TestsInLanes(l.lanes...)
	if len(registered) == 0 && len(tests) == 0 {
		g.Printf("== %s\n   no owner has a check in this lane; the reasons are in the matrix\n", l.command)
		return
	}
	var run laneRun
	g.step(ctx, l.command, func(ctx context.Context) (tally, error) {
		var err error
		if l.name == "sim" {
			run, err = g.runSim(ctx, "", nil)
		} else {
			run, err = g.runLane(ctx, l, "", nil)
		}
		if err != nil {
			return tally{}, err
		}
		g.Checks = append(g.Checks, run.Rows...)
		return g.laneTally(run), nil
	})
	if l.name == "sim" {
		g.step(ctx, "test-sim twice", func(ctx context.Context) (tally, error) {
			twice, err := g.runTwice(ctx, "", nil, run)
			if err != nil {
				return tally{}, err
			}
			g.printTwice(twice)
			return tally{twice.Compared - len(twice.Diverged), len(twice.Diverged)}, nil
		})
	}
}

// laneTally counts tests, and findings as failures; what failed is printed.
func (g *gate) laneTally(run laneRun) tally {
	for _, o := range run.Outcomes {
		if o.Status != harness.Passed {
			g.Printf("\n--- %s %s (%s)\n%s\n", o.Status, o.Test, o.Dir, o.Output)
		}
	}
	g.printFindings(run.Findings)
	return tally{passed(run.Outcomes), run.failedTests() + len(run.Findings)}
}

func (g *gate) auditStep(context.Context) (tally, error) {
	findings, err := g.audit()
	g.printFindings(findings)
	return tally{max(0, len(g.cat.Checks)-len(findings)), len(findings)}, err
}

// gatingPerOwner is how many mutants of each owner gate: the first it declares. The qualify command tries all of them.
const gatingPerOwner = 2

func gatingMutants(all []catalog.Mutant) []catalog.Mutant {
	var some []catalog.Mutant
	tried := map[string]int{}
	for _, m := range all {
		if tried[m.Owner]++; tried[m.Owner] <= gatingPerOwner {
			some = append(some, m)
		}
	}
	return some
}

func (g *gate) qualify(ctx context.Context) (tally, error) {
	rows, err := g.qualifyAll(ctx, gatingMutants(g.cat.Mutants()), nil)
	if err != nil {
		return tally{}, err
	}
	g.Mutants = rows
	var t tally
	for _, r := range rows {
		if r.Killed {
			t.passed++
			continue
		}
		t.failed++
		g.Printf("\n%s\n", r.complaint())
	}
	return t, g.WriteJSON(partialFile, rows)
}

// summary prints the checks, the time table and the closing line.
func (g *gate) summary() {
	kills, err := g.killsByCheck()
	if err != nil {
		g.Printf("%v\n", err)
	}
	var rows [][]string
	for _, r := range g.Checks {
		rows = append(rows, []string{r.Check, r.Lane, harness.Count(r.Executions), distinct(r), kills[r.Check].text(), result(r)})
	}
	g.Printf("\n")
	g.Table([]string{"check", "lane", "executions", "distinct traces", "mutants killed", "result"}, rows)
	g.Printf("\n")
	rows = nil
	for _, st := range g.Steps {
		rows = append(rows, []string{st.Name, fmt.Sprint(st.Passed), fmt.Sprint(st.Failed), fmt.Sprintf("%.1f", st.Seconds)})
	}
	rows = append(rows, []string{"all", fmt.Sprint(g.Passed), fmt.Sprint(g.Failed), fmt.Sprintf("%.1f", g.Seconds)})
	g.Table([]string{"step", "passed", "failed", "seconds"}, rows)
	g.Printf("\nmutants: %s\n", g.sampled())
	g.Printf("\n%d passed, %d failed\n", g.Passed, g.Failed)
}
