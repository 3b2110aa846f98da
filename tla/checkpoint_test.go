package tla_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
)

func runModel(t *testing.T, module, cfg string, opt check.Options) *check.Result {
	t.Helper()
	r, err := tla.Run(tla.Spec{Module: "testdata/" + module + ".tla", Config: "testdata/" + module + "-" + cfg + ".cfg", Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestResumedRunsFindTheSame stops a search at growing bounds, goes on from its checkpoint each time, and
// expects what one run without a stop finds: counts, depth, verdict and the length of the trace.
func TestResumedRunsFindTheSame(t *testing.T) {
	for _, m := range [][2]string{
		{"Wide", "ok"}, {"TwoPhase", "4"}, {"TwoPhase", "sym"}, {"Token", "ok"}, {"Token", "weak"}, {"Counter", "short"}, {"Clock", "nofair"},
	} {
		t.Run(m[0]+"-"+m[1], func(t *testing.T) {
			want := runModel(t, m[0], m[1], check.Options{})
			opt := check.Options{Checkpoint: filepath.Join(t.TempDir(), "c"), MaxStates: 1, FrontierBytes: 100, SpillDir: t.TempDir()}
			stops := 0
			got := runModel(t, m[0], m[1], opt)
			for ; got.Verdict == check.Unfinished && stops < 1000; stops++ {
				opt.Resume = true
				opt.MaxStates = int(got.Distinct) + max(1, int(want.Distinct)/8)
				got = runModel(t, m[0], m[1], opt)
			}
			if stops == 0 {
				t.Fatalf("never stopped: %s", got)
			}
			if got.Verdict != want.Verdict || got.Violated != want.Violated || len(got.Trace) != len(want.Trace) || got.Depth != want.Depth {
				t.Errorf("after %d stops: expected %s (%d states in the trace), found %s (%d)", stops, want, len(want.Trace), got, len(got.Trace))
			}
			if want.Verdict == check.Success && (got.Distinct != want.Distinct || got.Generated != want.Generated) {
				t.Errorf("after %d stops: expected %s, found %s", stops, want, got)
			}
		})
	}
}

// TestCheckpointsWithinALevel saves after every chunk of a level; the last file goes on to the end.
func TestCheckpointsWithinALevel(t *testing.T) {
	opt := check.Options{Checkpoint: filepath.Join(t.TempDir(), "c"), CheckpointEvery: time.Nanosecond, Workers: 2}
	want := runModel(t, "Wide", "ok", check.Options{})
	if got := runModel(t, "Wide", "ok", opt); got.Verdict != check.Success || got.Distinct != want.Distinct || got.Generated != want.Generated {
		t.Errorf("expected %s, found %s", want, got)
	}
	opt.CheckpointEvery, opt.Resume = 0, true
	if got := runModel(t, "Wide", "ok", opt); got.Verdict != check.Success || got.Distinct != want.Distinct || got.Generated != want.Generated {
		t.Errorf("resumed: expected %s, found %s", want, got)
	}
}

// TestDamagedCheckpointsAreRefused changes, cuts and swaps a checkpoint.
func TestDamagedCheckpointsAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c")
	opt := check.Options{Checkpoint: file, MaxStates: 200}
	if r := runModel(t, "TwoPhase", "4", opt); r.Verdict != check.Unfinished {
		t.Fatal(r)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	opt.Resume = true
	refused := func(what, module, cfg string) {
		t.Helper()
		if r := runModel(t, module, cfg, opt); r.Verdict != check.Fault || !errors.Is(r.Err, check.ErrCheckpoint) {
			t.Errorf("%s: expected a refusal, found %s", what, r)
		}
	}
	refused("other configuration", "TwoPhase", "sym")
	refused("other module", "Token", "ok")
	for at := 0; at < len(good); at += len(good)/60 + 1 {
		bad := append([]byte(nil), good...)
		bad[at] ^= 0x55
		if err := os.WriteFile(file, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		refused("changed byte", "TwoPhase", "4")
		if err := os.WriteFile(file, good[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		refused("cut", "TwoPhase", "4")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if r := runModel(t, "TwoPhase", "4", opt); r.Verdict != check.Fault || !errors.Is(r.Err, os.ErrNotExist) {
		t.Errorf("missing file: %s", r)
	}
}
