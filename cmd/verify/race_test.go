package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

func TestJudgeDetected(t *testing.T) {
	for _, c := range []struct {
		text string
		rows int
		ok   bool
	}{
		{"planted map\trandom\t1\trace memory\nmutex\trandom\t40\tsilent\n", 2, true},
		{"planted map\trandom\t40\tsilent\n", 1, false},
		{"mutex\trandom\t3\trace memory\n", 1, false},
		{"planted map\trandom\t1\tdeadlock m\n", 1, false},
		{"mutex\trandom\n", 0, false},
		{"", 0, false},
	} {
		rows, err := judgeDetected(c.text)
		if len(rows) != c.rows || (err == nil) != c.ok || err != nil && !errors.Is(err, errDetector) {
			t.Errorf("%q: %d rows, %v", c.text, len(rows), err)
		}
	}
}

// What the detector's build leaves out is evaluated on the same executions without it: a broken invariant fails, and so does an execution
// that is another one there.
func TestInvariantsAreHeldWithoutTheDetector(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes [][3]string
		hash    string // in place of the first that the detector's run left
		search  string
		ok      bool
		says    string
	}{
		{"the same executions", nil, "", "", true, "executions with the same trace hashes; 0 checks broken, 0 diverged"},
		{"another execution", nil, "other", "", false, "execution 0 of"},
		{"a search, which goes its own way", nil, "other", inventory.Complete, true, "on 0 executions"},
		{"a broken invariant", [][3]string{{gateFile, "g.inside == 2 {", "g.inside == 9 {"}}, "", "", false, "without the detector: Z1/never-three-inside: invariant Z1.I1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sound, _ := fixture(t)
			run, err := sound.runSim(t.Context(), "Z1", nil)
			if err != nil || len(run.records) != 1 || len(run.records[0].Hashes) == 0 {
				t.Fatalf("%+v, %v", run.records, err)
			}
			run.records[0].Passed = false // it was, but for memory of the check
			run.records[0].Exhaustive = c.search
			if c.hash != "" {
				run.records[0].Hashes[0] = c.hash
			}
			s, out := fixture(t, c.changes...)
			err = s.holdWithoutDetector(t.Context(), "Z1", []string{fmt.Sprintf("hashes=%d", twiceHashes)}, run.records)
			if (err == nil) != c.ok || err != nil && !errors.Is(err, errFound) || !strings.Contains(out.String(), c.says) {
				t.Errorf("%v, printed\n%s", err, out)
			}
		})
	}
}
