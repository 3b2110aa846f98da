package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// soakStrategies take turns, one a round: what one of them cannot see another may.
var soakStrategies = []string{"random", "pct3", "pos", "surw", "rff", "pct5"}

const (
	soakDefault = 10 * time.Minute
	soakFirst   = 10        // executions of each check in the first round, then twice as many a round: all owners have a turn early
	soakHashes  = 1_000_000 // of each check and round: all of them
	soakRecords = "soak-records.jsonl"
)

// soakRun is what a soak has seen so far. One line of its log is one package in one round.
type soakRun struct {
	Seconds    float64        `json:"seconds"`
	Round      int            `json:"round"`
	Seed       int            `json:"seed"`
	Strategy   string         `json:"strategy"`
	Dir        string         `json:"dir"`
	Executions int            `json:"executions"`       // all, so far
	Distinct   int            `json:"distinct"`         // traces by hash, so far
	Estimated  bool           `json:"estimated"`        // Distinct is, from a million on: memory stays flat
	Pairs      int            `json:"pairs"`            // reads-from pairs of each check, whatever the strategy, so far
	Faults     map[string]int `json:"faults,omitempty"` // taken so far, by place and kind

	Actions map[string]int64 `json:"actions,omitempty"` // how often executions took each action of a specification

	seen    *traceCount // traces
	pairs   *traceCount
	started time.Time
	limit   time.Duration
}

// runSoak runs the registered simulated checks round-robin over fresh seeds until the time is over or one fails.
func runSoak(ctx context.Context, args []string) int { return exit("soak", soak(ctx, args)) }

func soak(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"seed", "seeds", "filter"}}.parse(args)
	if err != nil {
		return err
	}
	limit := soakDefault
	if a.word() != "" {
		if limit, err = time.ParseDuration(a.word()); err != nil || limit <= 0 {
			return usagef("soak %s: not a time like 30s, 10m or 2h", a.word())
		}
	}
	seed, err := a.count("seed", int(time.Now().Unix()))
	if err != nil {
		return err
	}
	seeds, err := a.count("seeds", 100)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	return s.soak(ctx, newSoak(seed, limit), seeds, a.values["filter"])
}

func newSoak(seed int, limit time.Duration) *soakRun {
	return &soakRun{
		Seed: seed, seen: newTraceCount(distinctExact), pairs: newTraceCount(distinctExact), Faults: map[string]int{}, Actions: map[string]int64{},
		started: time.Now(), limit: limit,
	}
}

// soakTests are those of the simulated lane whose checks are owners': a planted program fails on purpose.
func (s site) soakTests(filter string) (dirs []string, tests map[string][]string) {
	tests = map[string][]string{}
	_, selected := s.selectTests(lane{lanes: []inventory.Lane{inventory.LaneSim}}, filter)
	for _, t := range selected {
		checks := s.cat.ChecksOf(t)
		if len(checks) == 0 || slices.ContainsFunc(checks, catalog.Check.Planted) {
			continue
		}
		if tests[t.Dir] == nil {
			dirs = append(dirs, t.Dir)
		}
		tests[t.Dir] = append(tests[t.Dir], t.Name)
	}
	return dirs, tests
}

func (s site) soak(ctx context.Context, run *soakRun, seeds int, filter string) error {
	dirs, tests := s.soakTests(filter)
	if len(dirs) == 0 {
		return nothing("soak", filter)
	}
	path, err := s.Path("soak.jsonl")
	if err != nil {
		return err
	}
	log, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	defer log.Close() //nolint:errcheck // each line is written at once
	p := s.NewProgress("soak", 0)
	defer p.Close()
	p.Label("compiling")
	binaries, err := s.Compile(ctx, dirs)
	if err != nil {
		return err
	}
	first := run.Seed
	run.started = time.Now() // compiling is not soaking
	for ; ctx.Err() == nil; run.Round++ {
		run.Seed, run.Strategy = first+run.Round, soakStrategies[run.Round%len(soakStrategies)]
		for _, run.Dir = range dirs {
			if run.left() <= 0 {
				p.Note("%s\n%s", run.line(), run.never())
				return s.WriteJSON("soak.json", run)
			}
			if err := s.soakPackage(ctx, run, binaries[run.Dir], tests[run.Dir], soakSeeds(run.Round, seeds), p); err != nil {
				return err
			}
			p.Label(run.line())
			if err := json.NewEncoder(log).Encode(run); err != nil {
				return fmt.Errorf("soak log: %w", err)
			}
		}
		p.Note("%s", run.line())
	}
	return ctx.Err()
}

// soakSeeds is how many executions of each check a round has, of at most most.
func soakSeeds(round, most int) int { return min(most, soakFirst<<min(round, 20)) }

// soakPackage runs one package's tests once and adds up what they covered. The first failure ends the soak.
func (s site) soakPackage(ctx context.Context, run *soakRun, binary string, tests []string, seeds int, p *harness.Progress) error {
	file, err := s.freshRecords(soakRecords)
	if err != nil {
		return err
	}
	l := findLane("sim")
	l.name, l.command = "soak", "soak"
	log, err := s.Path("logs", "soak-"+harness.Slug(run.Dir)+".log")
	if err != nil {
		return err
	}
	p.Label(run.line())
	result, failed := s.Run(ctx, harness.Order{
		Dir: run.Dir, Binary: binary, Run: exactly(tests), Env: append(s.checkEnv(file), run.bounds(seeds)), Log: log,
		Timeout: min(l.timeout, max(run.left(), time.Second)),
	})
	records, err := s.keepRecords(file, soakRecords)
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	run.addActions(records)
	for _, rec := range records {
		run.add(rec)
		if !rec.Passed {
			return s.soakFailed(run, rec)
		}
	}
	if result.TimedOut && run.left() <= 0 {
		return nil // the soak's time is over, not the test's: what ended until then counts
	}
	if !result.OK() || len(records) == 0 {
		return fmt.Errorf("soak: tests of %s (%s, seed %d) failed without a record\n%s", run.Dir, run.Strategy, run.Seed, harness.Tail(result.Output, 40))
	}
	return nil
}

// bounds is what the checks of a round are told. Every execution whose owner has a specification is checked against it.
func (r *soakRun) bounds(seeds int) string {
	return fmt.Sprintf("%s=seed=%d seeds=%d strategy=%s hashes=%d traces=1 %s", simVar, r.Seed, seeds, r.Strategy, soakHashes, inventory.PairsWord)
}

func (s site) soakFailed(run *soakRun, rec inventory.Record) error {
	verdict := "failed"
	if rec.Verdict != nil {
		verdict = rec.Verdict.String() + ": " + rec.Verdict.Message
	}
	s.Printf("\ncheck %s (%s, seed %d): %s\n  %s\n%s\n", rec.Check, run.Strategy, run.Seed, verdict, s.replayLine(rec.Folder), run.line())
	return fmt.Errorf("soak: check %s: %w", rec.Check, errors.Join(errFound, s.WriteJSON("soak.json", run)))
}

// add takes over what one check covered.
func (r *soakRun) add(rec inventory.Record) {
	r.Executions += rec.Executions
	for _, h := range rec.Hashes {
		r.seen.add(rec.Check, h)
	}
	r.Distinct, r.Estimated = r.seen.count(), r.seen.estimated()
	for what, n := range rec.Faults {
		r.Faults[what] += n
	}
	for _, p := range rec.PairHashes {
		r.pairs.add(rec.Check, p)
	}
	r.Pairs = r.pairs.count()
	r.Seconds = time.Since(r.started).Seconds()
}

// addActions takes over how often one process took the actions of specifications.
func (r *soakRun) addActions(records []inventory.Record) {
	for action, n := range takenActions(records) { //order:sums
		r.Actions[action] += n
	}
}

// never lists the actions of specifications that no execution has taken yet.
func (r *soakRun) never() string {
	var names []string
	for _, action := range slices.Sorted(maps.Keys(r.Actions)) {
		if r.Actions[action] == 0 {
			names = append(names, action)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("all %d actions of the specifications were taken", len(r.Actions))
	}
	return fmt.Sprintf("of %d actions of specifications never taken: %s", len(r.Actions), strings.Join(names, ", "))
}

func (r *soakRun) left() time.Duration { return r.limit - time.Since(r.started) }

// line is the progress: rate, distinct traces and time left.
func (r *soakRun) line() string {
	faults := 0
	for n := range maps.Values(r.Faults) {
		faults += n
	}
	rate := 0
	if r.Seconds > 0 {
		rate = int(float64(r.Executions) / r.Seconds)
	}
	about := ""
	if r.Estimated {
		about = "about "
	}
	return strings.TrimSpace(fmt.Sprintf("round %d %s, %s executions, %s/s, %s%s distinct traces, %s reads-from pairs, %s faults, %s left",
		r.Round+1, r.Strategy, harness.Count(r.Executions), harness.Count(rate), about, harness.Count(r.Distinct), harness.Count(r.Pairs),
		harness.Count(faults), max(r.left(), 0).Round(time.Second)))
}
