package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// errUnusable marks why a mutant could not be put before its check: nothing is known of the check then.
var errUnusable = errors.New("unusable")

// Why a mutant was not killed.
var (
	errSurvived     = errors.New("survived: the check passed")
	errNoCheck      = errors.New("the check is not registered or no test runs it")
	errNoRecord     = errors.New("the check left no record")
	errTimeout      = errors.New("timed out, which is an error and not a kill")
	errSameBinary   = fmt.Errorf("%w: the mutant's test binary is the original's: the patched code is not in it", errUnusable)
	errOtherVerdict = errors.New("failed with another verdict than expected")
	errNoSchedule   = errors.New("the failure left no schedule to replay")
	errNotStrict    = errors.New("the counterexample does not replay on the mutant")
	errNotLenient   = errors.New("the counterexample fails on the original too")
)

// trial is one mutant before one of its checks.
type trial struct {
	site
	mutant   catalog.Mutant
	check    catalog.Check
	expected string
	folder   string // under out/mutants
	original string // test binary
	binary   string // test binary of the mutant
	bounds   []string
}

// tryMutant applies the mutant once and puts it before each check that must reject it.
func (s site) tryMutant(
	ctx context.Context, m catalog.Mutant, originals map[string]string, bounds []string,
) []mutantRow {
	var rows []mutantRow
	folder := filepath.Join(s.Out, "mutants", m.ID())
	built := map[string]string{} // binaries by package folder: several checks may share one
	overlay := ""
	unlock, err := s.Lock("mutants", m.ID()+".lock")
	if err == nil {
		defer unlock()
		// What an earlier run left there must not pass for this one's.
		err = os.RemoveAll(folder)
	}
	if err == nil {
		if overlay, err = s.overlay(m, folder); err != nil {
			err = fmt.Errorf("%w: %w", errUnusable, err)
		}
	}
	for i, e := range m.Expects {
		row := mutantRow{Mutant: m.ID(), What: m.What, At: m.At.String(), Check: e.Check, Expected: e.Verdict}
		started := time.Now()
		check, ok := s.cat.Check(e.Check)
		failed := err
		if failed == nil && (!ok || check.Test == nil) {
			failed = fmt.Errorf("%w: check %s: %w", errUnusable, e.Check, errNoCheck)
		}
		if failed == nil {
			t := trial{
				site: s, mutant: m, check: check, expected: e.Verdict, bounds: bounds,
				folder: filepath.Join(folder, fmt.Sprintf("check-%d", i+1)), original: originals[check.Test.Dir],
			}
			t.binary, failed = s.buildMutant(ctx, check.Test.Dir, overlay, built)
			if failed == nil {
				failed = t.run(ctx, &row)
			}
		}
		row.Killed, row.Unusable, row.Seconds = failed == nil, errors.Is(failed, errUnusable), time.Since(started).Seconds()
		if failed != nil {
			row.Error = failed.Error()
		}
		rows = append(rows, row)
	}
	for _, binary := range built {
		// A kept binary per mutant would fill the disk, and the overlay rebuilds it.
		os.Remove(binary) //nolint:errcheck // out/ is disposable
	}
	return rows
}

// buildMutant compiles the test binary of a package folder with the overlay, once.
func (s site) buildMutant(ctx context.Context, dir, overlay string, built map[string]string) (string, error) {
	if binary, done := built[dir]; done {
		return binary, nil
	}
	binary := filepath.Join(filepath.Dir(overlay), harness.Slug(dir)+".test")
	if err := s.CompileOverlay(ctx, dir, overlay, binary); err != nil {
		return "", fmt.Errorf("%w: %w", errUnusable, err)
	}
	built[dir] = binary
	return binary, nil
}

func (s site) overlay(m catalog.Mutant, folder string) (string, error) {
	patch, dir, err := s.cat.Patch(m)
	if err != nil {
		return "", err
	}
	return patch.WriteOverlay(dir, folder)
}

// run demands the expected verdict from the built mutant and replays the counterexample.
func (t *trial) run(ctx context.Context, row *mutantRow) error {
	if err := os.MkdirAll(t.folder, 0o755); err != nil {
		return fmt.Errorf("try mutant: %w", err)
	}
	if err := differ(t.binary, t.original); err != nil {
		return err
	}
	rec, err := t.execute(ctx, t.binary, "records.jsonl", t.boundEnv()...)
	if err != nil {
		return err
	}
	row.Executions = rec.Executions
	if rec.Verdict != nil {
		row.Verdict = rec.Verdict.String()
	}
	switch {
	case rec.Passed:
		return fmt.Errorf("%w after %d executions", errSurvived, rec.Executions)
	case row.Verdict != t.expected:
		return fmt.Errorf("%w: %q, expected %q\n%s", errOtherVerdict, row.Verdict, t.expected, message(rec))
	case !simulated(t.check.Lane):
		row.Replay = "not applicable: lane " + string(t.check.Lane) + " has no schedule"
		return nil
	}
	return t.replay(ctx, rec, row)
}

func message(rec inventory.Record) string {
	if rec.Verdict == nil {
		return ""
	}
	return harness.Tail(rec.Verdict.Message, 20)
}

// boundEnv bounds the simulator: one core, since mutants themselves run side by side, and no more than the
// check's own bounds unless told otherwise. Only checks of the lane of specifications check events: elsewhere a verdict
// of its own is expected. A property check saves no failure of a mutant in the tree.
func (t *trial) boundEnv() []string {
	return []string{
		simVar + "=" + strings.Join(append([]string{"cores=1", "traces=0"}, t.bounds...), " "),
		inventory.ModelVar + "=nofailfile=true",
	}
}

// execute runs the check's test on a binary and returns the check's record.
func (t *trial) execute(ctx context.Context, binary, name string, env ...string) (inventory.Record, error) {
	records := filepath.Join(t.folder, name)
	result, err := t.Run(ctx, harness.Order{
		Dir: t.check.Test.Dir, Binary: binary, Run: exactly([]string{t.check.Test.Name}), Timeout: mutantTimeout,
		Env: append(env, inventory.RecordsVar+"="+records, "MILLRACE_OUT="+t.folder),
		Log: records + ".log",
	})
	switch {
	case err != nil:
		return inventory.Record{}, err
	case result.TimedOut:
		return inventory.Record{}, fmt.Errorf("%s: %w after %s", t.check.Test.Name, errTimeout, mutantTimeout)
	}
	all, err := inventory.ReadRecords(records)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return inventory.Record{}, err
	}
	for _, rec := range all {
		if rec.Check == t.check.ID {
			return rec, nil
		}
	}
	return inventory.Record{}, fmt.Errorf("check %s: %w (exit %d)\n%s", t.check.ID, errNoRecord, result.Exit,
		harness.Tail(result.Output, 40))
}

// replay demands that the counterexample is one: the mutant fails on it again, step for step, and the
// original, following it as far as it can, does not.
func (t *trial) replay(ctx context.Context, rec inventory.Record, row *mutantRow) error {
	if rec.Folder == "" {
		return errNoSchedule
	}
	folder := rec.Folder
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(t.Root, folder)
	}
	recorded, err := readSchedule(folder)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoSchedule, err)
	}
	strict, err := t.execute(ctx, t.binary, "strict.jsonl", replayEnv(recorded.file, strictMode)...)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotStrict, err)
	}
	r := strict.Replay
	if r == nil || !r.Reproduced || r.Diverged > 0 || r.Hash != recorded.Hash ||
		strict.Verdict == nil || strict.Verdict.String() != t.expected {
		return fmt.Errorf("%w: %s", errNotStrict, describe(strict))
	}
	lenient, err := t.execute(ctx, t.original, "lenient.jsonl", replayEnv(recorded.file, lenientMode)...)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLenient, err)
	}
	if lenient.Replay == nil || !lenient.Passed {
		return fmt.Errorf("%w: %s", errNotLenient, describe(lenient))
	}
	row.Replay = "replays; original passes"
	if at := lenient.Replay.Diverged; at > 0 {
		row.Replay += fmt.Sprintf(", leaves it at step %d", at)
	}
	return nil
}

// describe says what a replay did.
func describe(rec inventory.Record) string {
	text := "no replay in its record"
	if r := rec.Replay; r != nil {
		text = fmt.Sprintf("reproduced %v, diverged at step %d, hash %s", r.Reproduced, r.Diverged, r.Hash)
	}
	if rec.Verdict != nil {
		text += ", " + rec.Verdict.String()
	}
	return text
}

// differ demands that two binaries are not the same.
func differ(a, b string) error {
	one, err := digest(a)
	if err != nil {
		return err
	}
	other, err := digest(b)
	if err == nil && bytes.Equal(one, other) {
		return errSameBinary
	}
	return err
}

func digest(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("compare binaries: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return nil, fmt.Errorf("compare binaries: %w", err)
	}
	return h.Sum(nil), nil
}
