package main

import (
	"regexp"
	"strings"
	"testing"
)

// Each mutant of the fixture ends in the way its name says; only a rejection with the expected verdict,
// whose counterexample replays, counts as killed.
func TestQualifyTellsKillsFromEverythingElse(t *testing.T) {
	s, out := fixture(t)
	mutants, err := s.selectMutants(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := s.qualifyAll(t.Context(), mutants, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // part of the error; "" for a kill
		"Z1.no-bound":      "",
		"Z1.leave-twice":   "",
		"Z1.survivor":      errSurvived.Error(),
		"Z1.no-build":      "build failed",
		"Z1.no-fit":        "patch does not apply exactly once: found 0 times",
		"Z1.comment":       errSameBinary.Error(),
		"Z1.other-verdict": errOtherVerdict.Error(),
	}
	if len(rows) != len(want) {
		t.Errorf("%d rows, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		part, known := want[r.Mutant]
		if !known || r.Killed != (part == "") || !strings.Contains(r.Error, part) {
			t.Errorf("mutant %s: killed %v, error %q; want an error with %q", r.Mutant, r.Killed, r.Error, part)
		}
	}
	for _, r := range rows {
		switch r.Mutant {
		case "Z1.no-bound":
			if r.Replay != "replays; original passes, leaves it at step 4" || r.Executions == 0 {
				t.Errorf("simulated mutant: replay %q after %d executions", r.Replay, r.Executions)
			}
		case "Z1.leave-twice":
			if !strings.Contains(r.Replay, "not applicable") {
				t.Errorf("model mutant: replay %q", r.Replay)
			}
		}
	}
	s.printMutants(rows)
	text := out.String()
	if !strings.Contains(text, "2 of 7 mutants rejected, 3 unusable") {
		t.Errorf("printed %s", text)
	}
	for mutant, word := range map[string]string{
		"survivor": "SURVIVED", "other-verdict": "SURVIVED", "no-build": "UNUSABLE", "no-fit": "UNUSABLE", "comment": "UNUSABLE",
	} {
		if !regexp.MustCompile(`mutant Z1\.` + mutant + ` \([^)]*\) ` + word + `: \S`).MatchString(text) {
			t.Errorf("%s is not called %s with its reason in\n%s", mutant, word, text)
		}
	}
}

// A counterexample that the mutant does not follow to the same failure is none.
func TestQualifyDemandsAReplay(t *testing.T) {
	cases := map[string]struct {
		change [3]string
		want   error
	}{
		"no folder":     {[3]string{checkFile, "rec.Folder = write", "write"}, errNoSchedule},
		"other hash":    {[3]string{checkFile, "Hash: hash(f.Choices),", `Hash: "0",`}, errNotStrict},
		"lenient fails": {[3]string{checkFile, "if rec.Verdict != nil {\n\t\tt.Errorf(\"%s\"", "if true {\n\t\tt.Errorf(\"%s\""}, errNotLenient},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := fixture(t, c.change)
			mutants, err := s.selectMutants([]string{"Z1.no-bound"})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.qualifyAll(t.Context(), mutants, nil)
			if err != nil || len(rows) != 1 {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			if rows[0].Killed || !strings.Contains(rows[0].Error, c.want.Error()) {
				t.Errorf("killed %v, error %q; want %v", rows[0].Killed, rows[0].Error, c.want)
			}
		})
	}
}

func TestQualifyRefusesUnknownNames(t *testing.T) {
	s, _ := fixture(t)
	if _, err := s.selectMutants([]string{"Z9"}); err == nil {
		t.Error("Z9 was accepted")
	}
	for _, word := range []string{"Z1", "no-bound", "Z1.no-bound"} {
		if found, err := s.selectMutants([]string{word}); err != nil || len(found) == 0 {
			t.Errorf("%s selects %d mutants, %v", word, len(found), err)
		}
	}
}
