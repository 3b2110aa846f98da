package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failure runs the fixture with a bug in it and returns the failure's recorded schedule.
func failure(t *testing.T) (site, schedule) {
	t.Helper()
	s, _ := fixture(t, [3]string{gateFile, "g.inside == 2 {", "g.inside == 9 {"})
	run, err := s.runSim(t.Context(), "Z1", nil)
	if err != nil || run.err() == nil || len(run.Rows) != 1 || run.Rows[0].Folder == "" {
		t.Fatalf("rows %+v, %v", run.Rows, err)
	}
	recorded, err := readSchedule(run.Rows[0].Folder)
	if err != nil {
		t.Fatal(err)
	}
	return s, recorded
}

func TestReplayReproducesInAFreshProcess(t *testing.T) {
	s, recorded := failure(t)
	rec, err := s.replayFresh(t.Context(), recorded, strictMode)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.printReplay(recorded, rec); err != nil {
		t.Errorf("replay: %v", err)
	}
	recorded.Hash = "0"
	if err := s.printReplay(recorded, rec); !errors.Is(err, errOtherTrace) {
		t.Errorf("replay with another hash: %v, want %v", err, errOtherTrace)
	}
}

func TestReplayOfAFixedBugDiverges(t *testing.T) {
	s, recorded := failure(t)
	path := filepath.Join(s.Root, gateFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "== 9", "== 2", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := s.replayFresh(t.Context(), recorded, strictMode)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.printReplay(recorded, rec); !errors.Is(err, errDiverged) || !strings.Contains(err.Error(), "step 4") {
		t.Errorf("replay: %v, want %v at step 4", err, errDiverged)
	}
}

func TestReplayOfACheckThatIsGoneIsAnError(t *testing.T) {
	s, recorded := failure(t)
	recorded.Test = "TestSimGone"
	if _, err := s.replayFresh(t.Context(), recorded, strictMode); !errors.Is(err, errNoReplay) {
		t.Errorf("replay: %v, want %v", err, errNoReplay)
	}
}

func TestReadScheduleRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.json": "{}", "b.json": "not json", "c.json": `{"check":"x","test":"T","package":"p"}`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSchedule(path); !errors.Is(err, errSchedule) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %v", name, err, errSchedule)
		}
	}
	if _, err := readSchedule(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// What is kept of a failure is shown, its trace where there is one: beside schedule.json, beside original.json, or nowhere.
func TestShowTellsWhatIsKept(t *testing.T) {
	s, recorded := failure(t)
	folder := filepath.Dir(recorded.file)
	text, err := os.ReadFile(recorded.file)
	if err != nil {
		t.Fatal(err)
	}
	original, apart := filepath.Join(folder, "original.json"), filepath.Join(t.TempDir(), "symptom.json")
	for path, text := range map[string]string{original: string(text), apart: string(text), filepath.Join(folder, "original.txt"): "as found\n"} { //order:files
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{folder: "the trace", original: "as found", apart: "no trace is kept beside it"} { //order:each is judged alone
		shown, err := readSchedule(path)
		if err != nil {
			t.Fatal(err)
		}
		shown.Faults = []string{"here second"}
		var out strings.Builder
		lab := *s.Lab
		lab.Stdout = &out
		if err := (site{&lab, s.cat}).show(shown, path); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{want, "invariant Z1.I1", "faults    here second", "schedule  [", "./just replay " + path} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s: %q is not shown:\n%s", path, part, &out)
			}
		}
	}
}
