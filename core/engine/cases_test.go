package engine_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/sim"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the cases with what the engine did")

// A case is a transcript: a file of commands, each with what the engine came to, separated by blank lines.
//
//	flow ID                     a process, in BPMN; the lines after it are its elements, and "flow NAME: A -> B [when EXPRESSION]"
//	                            is short for a sequence flow
//	keep DURATION               messages that nobody waits for are kept
//	handler TYPE VERB TEXT      what a service task of the type does: returns JSON, fails TEXT, panics TEXT, throws CODE
//	start FLOW ID [KEY] {JSON}  a delivery that starts the flow
//	message NAME KEY ID {JSON}  a delivery that resumes
//	wait DURATION               moves the clock
//	down DURATION               stops the engine for that long and starts another over the same store
//	deploy NAME                 starts another engine with the same flows as another deployment
//	complete ELEMENT {JSON}     a user task
//	lock TYPE [DURATION]        a worker fetches one task
//	done {JSON}                 by the worker that locked last; so are
//	fail RETRIES BACKOFF, extend DURATION, error CODE {JSON}
//	late done                   the same, by the worker that locked before
//	resolve {JSON}              corrects variables and tries the first incident again
//	cancel [called]             the instance, or the flow that it calls alone
//
// Commands act on the instance that a step happened in last, or on the one named by "@NAME" at their beginning.
func TestCases(t *testing.T) {
	for _, file := range caseFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text := read(t, file)
			told := ""
			result, err := sim.Explore("case", "random", func(w *sim.World) { told = tell(w, text, 1) }, sim.Runs(1), sim.Steps(200_000), sim.Seed(1))
			if err != nil || result.Failure != nil {
				t.Fatalf("%v %+v\n%s", err, result.Failure, told)
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if told != text {
				t.Errorf("it went otherwise (rewrite with -rewrite); now:\n%s", told)
			}
		})
	}
}

// Each case comes to the same on one lane and on several, and in whatever order tasks run.
func TestSimL1CasesEndTheSameOnAnyLanes(t *testing.T) {
	var texts []string
	for _, file := range caseFiles(t) {
		texts = append(texts, read(t, file))
	}
	sim.Check(t, "L1/cases-end-the-same-on-any-lanes", func(w *sim.World) {
		text := texts[w.Choose("case", len(texts))]
		told := tell(w, text, 1+w.Choose("lanes", 3))
		w.Require(told == text, "L1.case", "it went otherwise:\n%s", told)
	}, sim.Steps(200_000))
}

func caseFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
