package sim

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// everyStrategy is what RoundTrip goes through: all that sample and all that search.
var everyStrategy = append(slices.Clone(samplers), searchName, searchName+"2", optimalName)

// samplers are the names of all sampling strategies.
var samplers = []string{"random", "pct", "pct3", "pos", "surw", "urw", "rff", portfolioName}

// RoundTrip runs a test of this test binary once for each strategy, every time in a process of its own, and its planted programs are those
// that needed names. Each must be found, and what is left of it after shrinking must have taken exactly the faults that needed lists, in that order. Then each
// schedule.json is replayed strictly in another process, which must come to the same verdict and the same trace hash.
func RoundTrip(t *testing.T, test string, needed map[string][]string) {
	t.Helper()
	for _, strategy := range everyStrategy {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			out := "MILLRACE_OUT=" + t.TempDir()
			first, text := recordsOf(t, test, out, "MILLRACE_SIM=seeds=1000 strategy="+strategy)
			if len(first) != len(needed) {
				t.Fatalf("%d records, want %d\n%s", len(first), len(needed), text)
			}
			for _, rec := range first {
				faults, planted := needed[rec.Check]
				if !planted || !rec.Passed || rec.Folder == "" {
					t.Fatalf("%s: %+v\n%s", rec.Check, rec, text)
				}
				returns(t, test, out, rec, faults)
			}
		})
	}
}

// returns replays what one planted program left.
func returns(t *testing.T, test, out string, rec inventory.Record, faults []string) {
	t.Helper()
	file := filepath.Join(rec.Folder, "schedule.json")
	s, _, err := ReadSchedule(file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Faults, faults) {
		t.Errorf("%s: what is left took the faults %q, and %q are needed", rec.Check, s.Faults, faults)
	}
	second, text := recordsOf(t, test, out, "MILLRACE_REPLAY="+file)
	i := slices.IndexFunc(second, func(r inventory.Record) bool { return r.Check == rec.Check })
	if i < 0 || second[i].Replay == nil || !second[i].Replay.Reproduced {
		t.Fatalf("%s does not replay:\n%s", rec.Check, text)
	}
	if second[i].Replay.Hash != s.Hash || second[i].Verdict.String() != rec.Verdict.String() {
		t.Errorf("%s: replayed %s with hash %s, recorded %s with %s", rec.Check, second[i].Verdict, second[i].Replay.Hash, rec.Verdict, s.Hash)
	}
}

// recordsOf runs one test of this binary in a process of its own and returns the records that it left, and what it printed.
func recordsOf(t *testing.T, test string, env ...string) ([]inventory.Record, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.jsonl")
	text, _ := runChild(t, []string{"-test.run=^" + test + "$"}, append(env, inventory.RecordsVar+"="+path)...)
	found, err := inventory.ReadRecords(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return found, text
}

// runChild runs this test binary again and returns what it printed and its exit status.
func runChild(t *testing.T, args []string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
