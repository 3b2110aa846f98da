package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/audit"
	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// lane is one command that runs registered checks: one or two lanes of the register.
type lane struct {
	name    string // of its record file
	command string
	lanes   []inventory.Lane
	timeout time.Duration // of one package's binary
	part    bool          // run with bounds other than the checks' own: no evidence for the audit
}

var laneTable = []lane{
	{"sim", "test-sim", []inventory.Lane{inventory.LaneSim, inventory.LaneExhaustive}, 10 * time.Minute, false},
	{"models", "test-models", []inventory.Lane{inventory.LaneModel}, 10 * time.Minute, false},
	{"linearizability", "test-linearizability", []inventory.Lane{inventory.LaneLinear}, 10 * time.Minute, false},
	{"deadlock", "test-deadlock", []inventory.Lane{inventory.LaneDeadlock}, 10 * time.Minute, false},
	{"specification", "test-traces", []inventory.Lane{inventory.LaneSpec}, 10 * time.Minute, false},
}

func findLane(name string) lane {
	i := slices.IndexFunc(laneTable, func(l lane) bool { return l.name == name })
	if i < 0 {
		panic("no lane " + name)
	}
	return laneTable[i]
}

// laneRun is one run of a lane: what was selected and what came of it.
type laneRun struct {
	Lane       string            `json:"lane"`
	Filter     string            `json:"filter,omitempty"`
	Part       bool              `json:"part,omitempty"` // a filter, other bounds, or interrupted
	Discovered int               `json:"discovered"`
	Selected   int               `json:"selected"`
	Executed   int               `json:"executed"`
	Complete   int               `json:"complete"`
	Seconds    float64           `json:"seconds"`
	Rows       []checkRow        `json:"checks"`
	Outcomes   []harness.Outcome `json:"tests"`
	Findings   []catalog.Fault   `json:"findings,omitempty"`
	records    []inventory.Record
}

// checkRow is what one check did.
type checkRow struct {
	Check      string  `json:"check"`
	Lane       string  `json:"lane"`
	Executions int     `json:"executions"`
	Declared   int     `json:"declared"`
	Distinct   int     `json:"distinct"`
	Exhaustive string  `json:"exhaustive,omitempty"`
	Seconds    float64 `json:"seconds"`
	Passed     bool    `json:"passed"`
	Complete   bool    `json:"complete"`
	Verdict    string  `json:"verdict,omitempty"`
	Folder     string  `json:"folder,omitempty"`
}

// errNothing means that a lane has nothing to run: that is never a pass.
var errNothing = errors.New("selects nothing")

// errOutside means that a test binary failed although each of its tests passed: a leak, or TestMain.
var errOutside = errors.New("failed outside its tests")

// errNoOutcome means that a test binary ended without the outcome of a single test.
var errNoOutcome = errors.New("ended without running a test")

func laneCommand(name string) func(context.Context, []string) int {
	return func(ctx context.Context, args []string) int {
		l := findLane(name)
		return exit(l.command, runLaneCommand(ctx, l, args))
	}
}

func runLaneCommand(ctx context.Context, l lane, args []string) error {
	a, err := grammar{words: 1, keys: []string{"seed", "checks", "steps"}}.parse(args)
	if err != nil {
		return err
	}
	var bounds []string
	for _, key := range []string{"seed", "checks", "steps"} {
		n, err := a.count(key, 0)
		if err != nil {
			return err
		}
		if n > 0 {
			bounds = append(bounds, fmt.Sprintf("%s=%d", key, n))
		}
	}
	s, err := open()
	if err != nil {
		return err
	}
	if len(bounds) > 0 {
		l.part = true
	}
	run, err := s.runLane(ctx, l, a.word(), []string{inventory.ModelVar + "=" + strings.Join(bounds, " ")})
	if err != nil {
		return err
	}
	s.printLane(run)
	return errors.Join(s.WriteJSON(run.resultFile(l.command), run), run.err())
}

func (r laneRun) err() error {
	if len(r.Findings) > 0 || r.failedTests() > 0 {
		return errFound
	}
	return nil
}

// partPrefix marks what a part of a lane left: a run with a filter, with other bounds, or one that was interrupted.
const partPrefix = "partial-"

// resultFile is where the result of the command goes. That of a part replaces no result of the whole.
func (r laneRun) resultFile(command string) string {
	if r.Part {
		command = partPrefix + command
	}
	return command + ".json"
}

func (r laneRun) failedTests() int {
	failed := 0
	for _, o := range r.Outcomes {
		if o.Status != harness.Passed {
			failed++
		}
	}
	return failed
}

// selectTests returns the lane's tests whose name, folder or check, registered or not, contains the filter.
func (s site) selectTests(l lane, filter string) (all, selected []*catalog.Test) {
	for _, t := range s.cat.Tests {
		checks := s.cat.ChecksOf(t)
		planted := slices.ContainsFunc(checks, catalog.Check.Planted)
		simulated := slices.Contains(l.lanes, inventory.LaneSim)
		if !slices.Contains(l.lanes, t.Lane) && (!planted || !simulated) {
			continue
		}
		all = append(all, t)
		named := strings.Contains(t.Name, filter) || strings.Contains(t.Dir, filter) ||
			slices.ContainsFunc(checks, func(c catalog.Check) bool { return strings.Contains(c.ID, filter) }) ||
			slices.ContainsFunc(s.cat.Unregistered(t), func(id string) bool { return strings.Contains(id, filter) })
		if named {
			selected = append(selected, t)
		}
	}
	return all, selected
}

// recordFile is where the records of a run of the lane go. A part has a file of its own, so that it neither passes for a
// complete run nor erases one.
func (l lane) recordFile(part bool) string {
	if part || l.part {
		return partPrefix + l.name + ".jsonl"
	}
	return l.name + ".jsonl"
}

// runLane runs the selected tests of the lane, package by package: checks use all cores themselves.
func (s site) runLane(ctx context.Context, l lane, filter string, env []string) (laneRun, error) {
	all, selected := s.selectTests(l, filter)
	run := laneRun{Lane: l.name, Filter: filter, Part: l.part || filter != "", Discovered: len(all), Selected: len(selected)}
	if len(selected) == 0 {
		return run, nothing(fmt.Sprintf("lane %s of %d tests (./just matrix shows whose)", l.name, len(all)), filter)
	}
	if err := s.providePostgres(ctx); err != nil {
		return run, err
	}
	records, err := s.freshRecords(l.recordFile(run.Part))
	if err != nil {
		return run, err
	}
	started := time.Now()
	if err := s.runSelected(ctx, l, selected, append(s.checkEnv(records), env...), &run); err != nil {
		run.Findings = append(run.Findings, catalog.Fault{At: catalog.Position{File: "go.mod", Line: 1}, Message: err.Error()})
	}
	run.Seconds = time.Since(started).Seconds()
	run.Part = run.Part || ctx.Err() != nil
	run.records, err = s.keepRecords(records, l.recordFile(run.Part))
	if err != nil {
		return run, err
	}
	s.judge(l, selected, filter, &run)
	return run, ctx.Err()
}

// freshRecords returns the path for the records of a run that begins, named after this process: another
// one may run the same lane.
func (s site) freshRecords(name string) (string, error) {
	file, err := s.Path("records", fmt.Sprintf("%s.%d", name, os.Getpid()))
	if err != nil {
		return "", err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("start records: %w", err)
	}
	return file, nil
}

// keepRecords reads the records of a run that ended and makes them the last ones of that name. None at all
// is no error here: every check that should have left one is then missing.
func (s site) keepRecords(file, name string) ([]inventory.Record, error) {
	records, err := inventory.ReadRecords(file)
	if errors.Is(err, os.ErrNotExist) {
		records, err = nil, os.WriteFile(file, nil, 0o600)
	}
	if err != nil {
		return records, err
	}
	if err := os.Rename(file, filepath.Join(filepath.Dir(file), name)); err != nil {
		return records, fmt.Errorf("keep records: %w", err)
	}
	return records, nil
}

// checkEnv is the environment every check runs in.
func (s site) checkEnv(records string) []string {
	return []string{inventory.RecordsVar + "=" + records, "MILLRACE_OUT=" + s.Out}
}

func (s site) runSelected(ctx context.Context, l lane, selected []*catalog.Test, env []string, run *laneRun) error {
	byDir := map[string][]string{}
	var dirs []string
	for _, t := range selected {
		if byDir[t.Dir] == nil {
			dirs = append(dirs, t.Dir)
		}
		byDir[t.Dir] = append(byDir[t.Dir], t.Name)
	}
	p := s.NewProgress(l.command, len(selected))
	defer p.Close()
	p.Label("compiling")
	binaries, failed := s.Compile(ctx, dirs)
	for _, dir := range dirs {
		if binaries[dir] == "" || ctx.Err() != nil {
			continue
		}
		p.Label(dir)
		if err := s.runPackage(ctx, l, dir, binaries[dir], byDir[dir], env, run, p); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func (s site) runPackage(
	ctx context.Context, l lane, dir, binary string, tests, env []string, run *laneRun, p *harness.Progress,
) error {
	log, err := s.Path("logs", l.name+"-"+harness.Slug(dir)+".log")
	if err != nil {
		return err
	}
	started := time.Now()
	result, err := s.Run(ctx, harness.Order{
		Dir: dir, Binary: binary, Run: exactly(tests), Env: env, Log: log, Timeout: l.timeout,
		Ended: func(harness.Outcome) { p.Step(1) },
	})
	if err != nil {
		return err
	}
	run.Outcomes = append(run.Outcomes, result.Outcomes...)
	p.Note("%-28s %d of %d tests passed in %.1f s", dir, passed(result.Outcomes), len(tests), time.Since(started).Seconds())
	switch {
	case result.TimedOut:
		return fmt.Errorf("tests of %s exceeded %s\n%s", dir, l.timeout, result.Output)
	case len(result.Outcomes) == 0 || result.Exit != 0 && passed(result.Outcomes) == len(result.Outcomes):
		return fmt.Errorf("tests of %s: %w (exit %d)\n%s", dir, errNoOutcome, result.Exit, result.Output)
	}
	return nil
}

// exactly returns the pattern that selects the named tests and no other.
func exactly(tests []string) string { return "^(" + strings.Join(tests, "|") + ")$" }

func passed(outcomes []harness.Outcome) int {
	n := 0
	for _, o := range outcomes {
		if o.Status == harness.Passed {
			n++
		}
	}
	return n
}

// judge compares the records with what was registered, and makes the rows.
func (s site) judge(l lane, selected []*catalog.Test, filter string, run *laneRun) {
	if filter == "" {
		run.Findings = append(run.Findings, audit.Records(s.cat, l.lanes, run.records)...)
	} else {
		run.Findings = append(run.Findings, audit.Unregistered(s.cat, l.lanes, run.records)...)
	}
	last := audit.Last(run.records)
	for _, t := range selected {
		for _, check := range s.cat.ChecksOf(t) {
			rec, ran := last[check.ID]
			if !ran {
				run.Rows = append(run.Rows, checkRow{Check: check.ID, Lane: string(t.Lane), Verdict: "no record"})
				continue
			}
			row := rowOf(check, rec)
			run.Rows = append(run.Rows, row)
			run.Executed++
			if row.Complete {
				run.Complete++
			} else if filter != "" {
				run.Findings = append(run.Findings, catalog.Fault{
					At: check.At, Message: "check " + check.ID + " " + strings.Join(audit.Shortfalls(check, rec), ", "),
				})
			}
		}
	}
	for _, rec := range run.records {
		if _, registered := s.cat.Check(rec.Check); !registered {
			row := rowOf(catalog.Check{ID: rec.Check, Lane: rec.Lane}, rec)
			row.Complete, row.Verdict = false, strings.TrimSpace("not registered "+row.Verdict)
			run.Rows = append(run.Rows, row)
			run.Executed++
		}
	}
}

func rowOf(check catalog.Check, rec inventory.Record) checkRow {
	row := checkRow{
		Check: rec.Check, Lane: string(rec.Lane), Executions: rec.Executions, Declared: rec.Declared,
		Distinct: rec.Distinct, Exhaustive: rec.Exhaustive, Seconds: float64(rec.Nanos) / 1e9,
		Passed: rec.Passed, Complete: len(audit.Shortfalls(check, rec)) == 0, Folder: rec.Folder,
	}
	if rec.Verdict != nil {
		row.Verdict = rec.Verdict.String()
	}
	return row
}
