package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

const (
	replayVar     = "MILLRACE_REPLAY"
	replayModeVar = "MILLRACE_REPLAY_MODE"
	strictMode    = "strict"
	lenientMode   = "lenient"
)

var (
	errDiverged   = errors.New("the execution diverged from the schedule")
	errNoReplay   = errors.New("the test left no record of a replay")
	errOtherTrace = errors.New("the failure is there, but its trace is another")
)

// runReplay runs exactly one recorded execution again in a fresh process built from the tree as it is.
// In strict mode, the default, the first step that differs from the record fails it.
func runReplay(ctx context.Context, args []string) int { return exit("replay", replay(ctx, args)) }

func replay(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"mode"}}.parse(args)
	if err != nil {
		return err
	}
	if a.word() == "" {
		return usagef("replay needs the path of a schedule.json or of a failure folder")
	}
	mode := strictMode
	if m, ok := a.values["mode"]; ok {
		mode = m
	}
	if mode != strictMode && mode != lenientMode {
		return usagef("mode=%s: known are strict and lenient", mode)
	}
	recorded, err := readSchedule(a.word())
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	s.Printf("%s: %s, %s seed %d, recorded as %s\n",
		recorded.Check, recorded.Package, recorded.Strategy, recorded.Seed, recorded.Verdict)
	rec, err := s.replayFresh(ctx, recorded, mode)
	if err != nil {
		return err
	}
	return s.printReplay(recorded, rec)
}

// replayFresh runs the check's test under the go command.
func (s site) replayFresh(ctx context.Context, recorded schedule, mode string) (inventory.Record, error) {
	records, err := s.freshRecords("replay.jsonl")
	if err != nil {
		return inventory.Record{}, err
	}
	p := s.NewProgress("replay", 0)
	flags, env, err := s.replayBuild(recorded)
	if err != nil {
		return inventory.Record{}, err
	}
	args := append(append([]string{"test"}, flags...), "-run=^"+recorded.Test+"$", "-count=1", recorded.Package)
	cmd := s.Command(ctx, ".", "go", args...)
	cmd.Env = append(append(os.Environ(), append(s.checkEnv(records), replayEnv(recorded.file, mode)...)...), env...)
	text, failed := cmd.CombinedOutput()
	p.Close()
	defer os.Remove(records) //nolint:errcheck // out/ is disposable
	rec, err := replayRecord(records, recorded.Check)
	if err != nil {
		return rec, fmt.Errorf("%w\n%s", errors.Join(err, failed), harness.Tail(string(text), 60))
	}
	return rec, nil
}

// replayBuild says how the schedule's program is built and what it is told: as for `verify race` where that found it.
func (s site) replayBuild(recorded schedule) (flags, env []string, err error) {
	if !slices.Contains(strings.Fields(strings.Trim(string(recorded.Options), `"`)), sim.DetectorWord) {
		return nil, nil, nil
	}
	log, err := s.Path("race", "replay-report")
	return detectorFlags, detectorEnv(log), err
}

func replayEnv(file, mode string) []string {
	return []string{replayVar + "=" + file, replayModeVar + "=" + mode}
}

// replayRecord returns the record that a replay of the check left in the file.
func replayRecord(file, check string) (inventory.Record, error) {
	records, err := inventory.ReadRecords(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return inventory.Record{}, err
	}
	for _, rec := range records {
		if rec.Check == check && rec.Replay != nil {
			return rec, nil
		}
	}
	return inventory.Record{}, fmt.Errorf("replay %s: %w", check, errNoReplay)
}

func (s site) printReplay(recorded schedule, rec inventory.Record) error {
	r := rec.Replay
	if rec.Verdict != nil {
		s.Printf("%s\n%s\n", rec.Verdict, strings.TrimSpace(rec.Verdict.Message))
	}
	if rec.Folder != "" {
		s.Printf("trace: %s\n", filepath.Join(rec.Folder, "trace.txt"))
	}
	switch {
	case r.Diverged > 0:
		s.Printf("diverged at step %d\n", r.Diverged)
		if !r.Reproduced {
			return fmt.Errorf("replay %s: %w at step %d", recorded.Check, errDiverged, r.Diverged)
		}
	case r.Reproduced && r.Hash != recorded.Hash:
		return fmt.Errorf("replay %s: %w: %s, recorded %s", recorded.Check, errOtherTrace, r.Hash, recorded.Hash)
	case !r.Reproduced:
		return fmt.Errorf("replay %s: not reproduced: the schedule was followed to its end without the failure", recorded.Check)
	}
	s.Printf("reproduced, trace hash %s\n", r.Hash)
	return nil
}

// runShow prints a recorded failure.
func runShow(_ context.Context, args []string) int { return exit("show", show(args)) }

func show(args []string) error {
	a, err := grammar{words: 1}.parse(args)
	if err != nil {
		return err
	}
	if a.word() == "" {
		return usagef("show needs the path of a schedule.json or of a failure folder")
	}
	recorded, err := readSchedule(a.word())
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	return s.show(recorded, a.word())
}

// shownChoices bounds how much of a schedule is shown: that of a whole node is long, and is in the file.
const shownChoices = 2000

// show prints what a failure's folder keeps of it. A schedule that was put elsewhere has no trace beside it.
func (s site) show(recorded schedule, path string) error {
	s.Printf("check     %s\ntest      %s in %s\nverdict   %s\nstrategy  %s, seed %d, execution %d\n",
		recorded.Check, recorded.Test, recorded.Package, recorded.Verdict, recorded.Strategy, recorded.Seed, recorded.Execution)
	s.Printf("built     commit %s with %s\noptions   %s\nhash      %s\n", recorded.Commit, recorded.GoVersion, recorded.Options, recorded.Hash)
	if len(recorded.Faults) > 0 {
		s.Printf("faults    %s\n", strings.Join(recorded.Faults, ", "))
	}
	choices := strings.Trim(string(recorded.Choices), `"`)
	if more := len(choices) - shownChoices; more > 0 {
		choices = fmt.Sprintf("%s … and %d characters more", choices[:shownChoices], more)
	}
	s.Printf("schedule  %s\n\n%s\n", choices, strings.TrimSpace(recorded.Verdict.Message))
	text, err := os.ReadFile(recorded.trace())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Printf("\nno trace is kept beside it; a replay writes one\n")
	case err != nil:
		return fmt.Errorf("show trace: %w", err)
	default:
		s.Printf("\n%s\n", strings.TrimRight(string(text), "\n"))
	}
	s.Printf("\nreplay it: ./just replay %s\n", path)
	return nil
}
