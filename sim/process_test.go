package sim

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
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

// neededHere are the faults without which the planted programs do not fail.
var neededHere = map[string][]string{
	"planted/across-locks": nil, "planted/lost-wake-up": nil, "planted/unguarded-cell": nil,
	"fault/crash":      {"crash node n"},
	"fault/pause":      {"pause node n", "resume node n"},
	"fault/clock-jump": {"jump the clock of node n"},
	"fault/drawn":      {"here second"},

	"fault/early-timeout": nil, "fault/late-store": nil,
}

// Every strategy finds the planted programs and the faults of nodes; each schedule gives the same verdict and hash in another process.
func TestSchedulesReplayInAFreshProcess(t *testing.T) {
	RoundTrip(t, "(TestSimPlanted|TestSimEveryNodeFaultIsFoundAndReplays|TestSimEarlyTimeoutsAndLateStoresAreFound)", neededHere)
}

// A schedule that needs delayed stores says so itself: who replays it need not.
func TestDelayedStoresReplayInAFreshProcess(t *testing.T) {
	out := "MILLRACE_OUT=" + t.TempDir()
	first, text := recordsOf(t, "TestSimDekker", out, "MILLRACE_SIM=tso seeds=200")
	if len(first) != 1 || first[0].Passed || first[0].Verdict.String() != "race inside" {
		t.Fatalf("%+v\n%s", first, text)
	}
	for _, name := range []string{"schedule.json", "original.json"} {
		second, text := recordsOf(t, "TestSimDekker", out, "MILLRACE_REPLAY="+filepath.Join(first[0].Folder, name))
		if len(second) != 1 || second[0].Replay == nil || !second[0].Replay.Reproduced || second[0].Verdict.String() != "race inside" {
			t.Errorf("%s does not replay: %+v\n%s", name, second, text)
		}
	}
}

// The same seed gives the same executions on one core, on two, and in another process, under every strategy.
func TestHashesDependOnTheSeedAlone(t *testing.T) {
	for _, strategy := range samplers {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			hashes := func(bounds string) []string {
				found, text := recordsOf(t, "TestSimRepeatable", "MILLRACE_SIM=hashes=40 strategy="+strategy+" "+bounds)
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
	first, text := recordsOf(t, "TestSimLivelock", out)
	if len(first) != 1 || !first[0].Passed || first[0].Folder == "" {
		t.Fatalf("%+v\n%s", first, text)
	}
	for _, name := range []string{"schedule.json", "original.json"} {
		second, text := recordsOf(t, "TestSimLivelock", out, "MILLRACE_REPLAY="+filepath.Join(first[0].Folder, name))
		if len(second) != 1 || second[0].Replay == nil || !second[0].Replay.Reproduced || second[0].Verdict.String() != "livelock both-enter" {
			t.Errorf("%s does not replay: %+v\n%s", name, second, text)
		}
	}
}
