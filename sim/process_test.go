package sim

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// children are what a process of this test binary does in place of tests.
var children = map[string]func(){
	"blocking": func() {
		stall := func(o *options) { o.stall = 300 * time.Millisecond }
		_, err := Explore("child/blocking", "random", func(w *World) {
			never := make(chan int)
			w.Go("stuck", func() { <-never })
		}, stall)
		_, _ = os.Stderr.WriteString("came back: " + show(err))
	},
	"foreign": func() {
		o := newOptions(nil)
		again("child/foreign", func(w *World) {
			x := sched.NewUint64(w.Scheduler(), "x", 0)
			done := make(chan int)
			go func() {
				x.Add(1)
				close(done)
			}()
			<-done
		}, &o, Choices{}, false)
		_, _ = os.Stderr.WriteString("came back")
	},
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

func TestWhatCannotBeUnwoundEndsTheProcess(t *testing.T) {
	for _, kind := range []string{"blocking", "foreign"} {
		t.Run(kind, func(t *testing.T) {
			out := t.TempDir()
			text, status := runChild(t, nil, childVar+"="+kind, "MILLRACE_OUT="+out)
			if status != exitStuck || !strings.Contains(text, "check child/"+kind+": "+kind) {
				t.Fatalf("status %d, want %d, and the verdict:\n%s", status, exitStuck, text)
			}
			folders, err := filepath.Glob(filepath.Join(out, "failures", "child-"+kind+"-*"))
			if err != nil || len(folders) != 1 {
				t.Fatalf("folders %v, %v", folders, err)
			}
			for _, name := range []string{"schedule.json", "trace.txt", "replay.txt"} {
				if _, err := os.Stat(filepath.Join(folders[0], name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// records runs one test of this binary in a process of its own and returns the records that it left.
func records(t *testing.T, test string, env ...string) ([]inventory.Record, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "records.jsonl")
	text, _ := runChild(t, []string{"-test.run=^" + test + "$"}, append(env, inventory.RecordsVar+"="+path)...)
	found, err := inventory.ReadRecords(path)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return found, text
}

// Every strategy finds the planted programs and the faults of nodes; each schedule gives the same verdict and hash in another process.
func TestSchedulesReplayInAFreshProcess(t *testing.T) {
	const found = "(TestSimPlanted|TestSimEveryNodeFaultIsFoundAndReplays)"
	for _, strategy := range append(samplers, searchName, searchName+"2", optimalName) {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			out := "MILLRACE_OUT=" + t.TempDir()
			first, text := records(t, found, out, "MILLRACE_SIM=seeds=1000 strategy="+strategy)
			if len(first) != 7 {
				t.Fatalf("%d records\n%s", len(first), text)
			}
			for _, rec := range first {
				if !rec.Passed || rec.Folder == "" {
					t.Fatalf("%s: %+v\n%s", rec.Check, rec, text)
				}
				file := filepath.Join(rec.Folder, "schedule.json")
				second, text := records(t, found, out, "MILLRACE_REPLAY="+file)
				i := slices.IndexFunc(second, func(r inventory.Record) bool { return r.Check == rec.Check })
				if i < 0 || second[i].Replay == nil || !second[i].Replay.Reproduced {
					t.Fatalf("%s does not replay:\n%s", rec.Check, text)
				}
				s, _, err := ReadSchedule(file)
				if err != nil || second[i].Replay.Hash != s.Hash || second[i].Verdict.String() != rec.Verdict.String() {
					t.Errorf("%s: replayed %s with hash %s, recorded %s with %s, %v", rec.Check, second[i].Verdict, second[i].Replay.Hash,
						rec.Verdict, s.Hash, err)
				}
			}
		})
	}
}

// samplers are the names of all sampling strategies.
var samplers = []string{"random", "pct", "pct3", "pos", "surw", "urw", "rff", portfolioName}

// The same seed gives the same executions on one core, on two, and in another process, under every strategy.
func TestHashesDependOnTheSeedAlone(t *testing.T) {
	for _, strategy := range samplers {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			hashes := func(bounds string) []string {
				found, text := records(t, "TestSimRepeatable", "MILLRACE_SIM=hashes=40 strategy="+strategy+" "+bounds)
				if len(found) != 1 || !found[0].Passed || len(found[0].Hashes) != 40 {
					t.Fatalf("%+v\n%s", found, text)
				}
				return found[0].Hashes
			}
			one, two, three := hashes("cores=1"), hashes("cores=2"), hashes("cores=2 seed=9")
			if !slices.Equal(one, two) {
				t.Error("one core and two give different executions")
			}
			if slices.Equal(one, three) {
				t.Error("another seed gives the same executions")
			}
		})
	}
}

// A livelock replays in another process: what was forced when it was found is a recorded choice like any other.
func TestALivelockReplaysInAFreshProcess(t *testing.T) {
	out := "MILLRACE_OUT=" + t.TempDir()
	first, text := records(t, "TestSimLivelock", out)
	if len(first) != 1 || !first[0].Passed || first[0].Folder == "" {
		t.Fatalf("%+v\n%s", first, text)
	}
	for _, name := range []string{"schedule.json", "original.json"} {
		second, text := records(t, "TestSimLivelock", out, "MILLRACE_REPLAY="+filepath.Join(first[0].Folder, name))
		if len(second) != 1 || second[0].Replay == nil || !second[0].Replay.Reproduced || second[0].Verdict.String() != "livelock both-enter" {
			t.Errorf("%s does not replay: %+v\n%s", name, second, text)
		}
	}
}
