package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// Building for the detector: everything is instrumented but the simulator itself, whose hand-overs the detector must not see.
var detectorFlags = []string{"-race", "-gcflags=github.com/millrace-dev/millrace/sim=-race=false"}

// detectorEnv makes the simulator hand over out of the detector's sight. Each execution counts its own reports, also of a race
// that was reported before.
func detectorEnv(log string) []string {
	return []string{
		"MILLRACE_RACE=batons",
		"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0 log_path=" + log,
	}
}

// detected is what one program showed under one strategy.
type detected struct {
	Program    string `json:"program"`
	Strategy   string `json:"strategy"`
	Executions string `json:"executions"`
	Verdict    string `json:"verdict"`
	OK         bool   `json:"ok"`
}

var errDetector = errors.New("the race detector did not judge as planted")

// runRace checks plain memory with Go's race detector over simulated schedules: first that it reports planted races and nothing
// else, then, with a filter, the registered checks.
func runRace(ctx context.Context, args []string) int { return exit("race", race(ctx, args)) }

func race(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"seeds", "strategy", "seed"}}.parse(args)
	if err != nil {
		return err
	}
	if err := a.simulates(); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	rows, err := s.detect(ctx)
	s.printDetected(rows)
	if err != nil {
		return err
	}
	if err := s.WriteJSON("race.json", rows); err != nil || a.word() == "" {
		return err
	}
	bounds := simBounds(a)
	if _, set := a.values["seeds"]; !set {
		bounds = append(bounds, "seeds=20")
	}
	return s.detectChecks(ctx, a.word(), bounds)
}

// detect builds and runs the planted programs.
func (s site) detect(ctx context.Context) ([]detected, error) {
	binary, err := s.Path("race", "detect")
	if err != nil {
		return nil, err
	}
	p := s.NewProgress("race", 0)
	defer p.Close()
	args := append([]string{"build", "-o", binary}, append(detectorFlags, "./sim/detect")...)
	if text, err := s.Command(ctx, ".", "go", args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build for the race detector: %w\n%s", err, harness.Tail(string(text), 40))
	}
	cmd := s.Command(ctx, ".", binary)
	cmd.Env = append(os.Environ(), detectorEnv(binary+".report")...)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run under the race detector: %w\n%s", err, text)
	}
	return judgeDetected(string(text))
}

// judgeDetected reads the lines of sim/detect: planted races must be found, nothing else may be.
func judgeDetected(text string) ([]detected, error) {
	var rows []detected
	wrong := 0
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 4 {
			return rows, fmt.Errorf("read %q: %w", line, errDetector)
		}
		want := "silent"
		if strings.HasPrefix(f[0], "planted ") {
			want = "race memory"
		}
		row := detected{f[0], f[1], f[2], f[3], f[3] == want}
		if !row.OK {
			wrong++
		}
		rows = append(rows, row)
	}
	if wrong > 0 || len(rows) == 0 {
		return rows, fmt.Errorf("%d of %d: %w", wrong, len(rows), errDetector)
	}
	return rows, nil
}

func (s site) printDetected(rows []detected) {
	var table [][]string
	for _, r := range rows {
		result := "as expected"
		if !r.OK {
			result = "WRONG"
		}
		table = append(table, []string{r.Program, r.Strategy, r.Executions, r.Verdict, result})
	}
	s.Table([]string{"program", "strategy", "executions", "verdict", "result"}, table)
}

// detectChecks runs registered checks under the detector. Tests fail when it reports anything, also memory that the check keeps
// beside the program, so the records judge: the simulator leaves those out.
func (s site) detectChecks(ctx context.Context, filter string, bounds []string) error {
	apart := site{s.Apart("race", detectorFlags...), s.cat}
	log, err := apart.Path("report")
	if err != nil {
		return err
	}
	l := findLane("sim")
	l.name, l.command = "race", "race"
	bounds = append(bounds, fmt.Sprintf("hashes=%d", twiceHashes))
	run, err := apart.runLane(ctx, l, filter, append(detectorEnv(log), simVar+"="+strings.Join(bounds, " ")))
	if err != nil {
		return err
	}
	found := s.printRaces(run.records)
	if len(run.records) == 0 {
		return nothing("race", filter)
	}
	if found > 0 {
		return fmt.Errorf("race: %d of %d checks: %w", found, len(run.records), errFound)
	}
	return s.holdWithoutDetector(ctx, filter, bounds, run.records)
}

// printRaces prints what the detector said of each check and returns how many it found something in.
func (s site) printRaces(records []inventory.Record) (found int) {
	var table [][]string
	for _, rec := range records {
		result := "silent"
		if rec.Verdict != nil && rec.Folder != "" && !rec.Passed {
			found++
			result = rec.Verdict.String() + "\n" + harness.Tail(rec.Verdict.Message, 30)
		}
		table = append(table, []string{rec.Check, fmt.Sprint(rec.Executions), result})
	}
	s.Table([]string{"check", "executions", "result"}, table)
	return found
}

// holdWithoutDetector evaluates what the detector's build leaves out, invariants and specifications, on the same executions: a second
// run without the detector, whose trace hashes must be the same where executions are sampled.
func (s site) holdWithoutDetector(ctx context.Context, filter string, bounds []string, detected []inventory.Record) error {
	apart := site{s.Apart("race/without"), s.cat}
	l := findLane("sim")
	l.name, l.command = "race", "race again"
	run, err := apart.runLane(ctx, l, filter, []string{simVar + "=" + strings.Join(append(bounds, "traces=1"), " ")})
	if err != nil {
		return err
	}
	broken := 0
	for _, rec := range run.records {
		if rec.Passed {
			continue
		}
		broken++
		verdict := "not passed"
		if rec.Verdict != nil {
			verdict = rec.Verdict.String() + "\n  " + s.replayLine(rec.Folder)
		}
		s.Printf("without the detector: %s: %s\n", rec.Check, verdict)
	}
	same := compareTwice(s.cat, sampled(detected), run.records)
	for _, d := range same.Diverged {
		s.Printf("%s\n", d)
	}
	s.Printf("invariants and specifications: evaluated without the detector on %s executions with the same trace hashes; %d checks broken, %d diverged\n",
		harness.Count(same.Executions), broken, len(same.Diverged))
	if broken > 0 {
		return fmt.Errorf("race: without the detector: %w", errFound)
	}
	return same.err()
}

// sampled returns the records in which the detector found nothing, as passed: their tests fail all the same where it reported memory of
// the check. A search is not compared execution by execution: without invariants more steps are independent, so it takes other ones. It is
// complete in both runs.
func sampled(records []inventory.Record) []inventory.Record {
	var kept []inventory.Record
	for _, rec := range records {
		if rec.Verdict == nil && rec.Exhaustive == "" {
			rec.Passed = true
			kept = append(kept, rec)
		}
	}
	return kept
}

// race is the gating part: the detector still sees what is planted, and nothing else.
func (g *gate) race(ctx context.Context) (tally, error) {
	rows, err := g.detect(ctx)
	t := tally{}
	for _, r := range rows {
		if r.OK {
			t.passed++
		}
	}
	if err != nil {
		g.printDetected(rows)
	}
	return t, err
}
