package inventory

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLaneOfTestName(t *testing.T) {
	cases := map[string]Lane{
		"TestSimL3Stale": LaneSim, "TestSim": LaneSim, "TestSim2": LaneSim, "TestSimple": "",
		"TestExhaustL3": LaneExhaustive, "TestModelA1": LaneModel, "TestModels": "",
		"TestLinearA1": LaneLinear, "TestLinearize": "", "TestDeadlockL2": LaneDeadlock,
		"TestTraceL3": LaneSpec, "TestMutantX": "", "BenchmarkSim": "",
	}
	for name, want := range cases {
		if got, ok := LaneOfTest(name); got != want || ok != (want != "") {
			t.Errorf("LaneOfTest(%s) = %q, %v; want %q", name, got, ok, want)
		}
	}
}

func TestEveryLaneHasPrefixNameAndCall(t *testing.T) {
	if len(Lanes()) != 6 {
		t.Fatalf("Lanes() = %v", Lanes())
	}
	for _, l := range Lanes() {
		if !l.Known() || l.Prefix() == "" || l.Name() == string(l) {
			t.Errorf("lane %q is incomplete: prefix %q name %q", l, l.Prefix(), l.Name())
		}
	}
	if Lane("Z").Known() || Lane("Z").Name() != "Z" || Lane("Z").Prefix() != "" {
		t.Error("lane Z is known")
	}
	if l, ok := LaneOfCall("Spec"); !ok || l != LaneSpec {
		t.Errorf("LaneOfCall(Spec) = %q, %v", l, ok)
	}
}

func TestVerdictRoundTrip(t *testing.T) {
	for _, text := range []string{"invariant L3.I2", "deadlock", "race routes of gate"} {
		v, err := ParseVerdict(text)
		if err != nil || v.String() != text {
			t.Errorf("ParseVerdict(%q) = %q, %v", text, v, err)
		}
	}
	if _, err := ParseVerdict("rejected L3.I2"); err == nil {
		t.Error("an unknown kind was accepted")
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	t.Setenv(RecordsVar, path)
	want := Record{
		Check: "L3/x", Test: "TestSimL3X", Package: "m/core/claim", Lane: LaneSim, Executions: 7,
		Verdict: &Verdict{Kind: KindInvariant, ID: "L3.I2"}, Replay: &Replay{Mode: "strict", Diverged: 3},
	}
	for range 2 {
		if err := Append(want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadRecords(path)
	if err != nil || len(got) != 2 {
		t.Fatalf("ReadRecords = %d records, %v", len(got), err)
	}
	if got[1].Check != want.Check || got[1].Verdict.String() != "invariant L3.I2" || got[1].Replay.Diverged != 3 {
		t.Errorf("read back %+v", got[1])
	}
}

func TestTornRecordIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(path, []byte("{\"check\":\"a\"}\n{\"chec"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecords(path)
	if err == nil || !strings.Contains(err.Error(), "records.jsonl:2") || len(got) != 1 {
		t.Errorf("ReadRecords = %v, %v", got, err)
	}
}

func TestAppendWithoutVariableWritesNothing(t *testing.T) {
	t.Setenv(RecordsVar, "")
	if err := Append(Record{Check: "a"}); err != nil {
		t.Error(err)
	}
}

func TestRunAppendsItsRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	t.Setenv(RecordsVar, path)
	t.Run("case", func(t *testing.T) {
		run(t, Record{Check: "inventory/run"}, func(*testing.T) int { return 3 })
	})
	got, err := ReadRecords(path)
	if err != nil || len(got) != 1 {
		t.Fatalf("ReadRecords = %v, %v", got, err)
	}
	rec := got[0]
	if !rec.Passed || rec.Executions != 3 || rec.Verdict != nil {
		t.Errorf("record %+v", rec)
	}
}

// A verdict observed in a subtest is one of the check that the subtest is part of.
func TestSubtestsBelongToTheirCheck(t *testing.T) {
	t.Setenv(RecordsVar, "")
	t.Run("check", func(t *testing.T) {
		run(t, Record{Check: "inventory/sub"}, func(t *testing.T) int {
			t.Run("part", func(t *testing.T) {
				t.Run("of it", func(t *testing.T) {
					if got, want := checkOf(t.Name()), "TestSubtestsBelongToTheirCheck/check"; got != want {
						t.Errorf("%s is part of %s, want %s", t.Name(), got, want)
					}
				})
			})
			return 1
		})
	})
	if got := checkOf(t.Name()); got != t.Name() {
		t.Errorf("outside of a check: %s", got)
	}
}

func TestPackageOfFunction(t *testing.T) {
	cases := map[string]string{
		"example.org/m/core/claim_test.TestX.func1": "example.org/m/core/claim",
		"example.org/m/core/claim.(*T).Run":         "example.org/m/core/claim",
		"main.main":                                 "main",
	}
	for in, want := range cases {
		if got := packageOf(in); got != want {
			t.Errorf("packageOf(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestSeedAmongTheBounds(t *testing.T) {
	for bounds, want := range map[string]uint64{"": 1, "seed=7": 7, "checks=3 seed=12": 12} {
		t.Setenv(ModelVar, bounds)
		if got, err := Seed(); got != want || err != nil {
			t.Errorf("%q: %d, %v", bounds, got, err)
		}
	}
	t.Setenv(ModelVar, "seed=x")
	if _, err := Seed(); err == nil || !strings.Contains(err.Error(), `read seed: MILLRACE_MODEL: "seed=x"`) {
		t.Errorf("a bad seed: %v", err)
	}
}

// The flags stand in for those of the property library.
func TestBoundsOfModelsBecomeFlags(t *testing.T) {
	seed := flag.Uint64("rapid.seed", 0, "")
	checks := flag.Int("rapid.checks", 100, "")
	if err := setModelBounds(""); err != nil || *seed != 1 || *checks != 100 {
		t.Errorf("by default: seed %d, checks %d, %v", *seed, *checks, err)
	}
	if err := setModelBounds("seed=7 checks=9 nofailfile=true"); err != nil || *seed != 7 || *checks != 9 {
		t.Errorf("set: seed %d, checks %d, %v", *seed, *checks, err)
	}
	if err := setModelBounds(""); err != nil || *seed != 7 {
		t.Errorf("a seed that was set: seed %d, %v", *seed, err)
	}
	for _, bad := range []string{"seed=x", "log=true", "checks"} {
		if err := setModelBounds(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
