package program_test

import (
	"go/build"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/models/oneactor"
	"github.com/millrace-dev/millrace/models/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func draw(t *testing.T, seed uint64) (*program.Program, [][]string) {
	t.Helper()
	p, err := program.Draw(seed)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := p.Expected()
	if err != nil {
		t.Fatal(err)
	}
	return p, lines
}

// The same seed is the same program, whose path has the same effects again.
func TestDrawIsDeterministic(t *testing.T) {
	for seed := range uint64(50) {
		p, one := draw(t, seed)
		q, two := draw(t, seed)
		if !reflect.DeepEqual(p, q) || !reflect.DeepEqual(one, two) {
			t.Fatalf("seed %d gives two programs", seed)
		}
	}
}

// What is drawn reaches every outcome, every kind of wait and incident, and both ends: a comparison that sees none of them says
// nothing.
func TestDrawReachesEverything(t *testing.T) {
	var all strings.Builder
	for seed := range uint64(300) {
		p, lines := draw(t, seed)
		all.WriteString(program.BPMN(p.Root))
		for _, l := range lines {
			all.WriteString(strings.Join(l, "\n") + "\n")
		}
	}
	for _, want := range []string{
		"started", "resumed", "missed", "duplicate", "fired", "lock 2", "accepted", "refused", "gone", "cancelled", "resolved",
		"nothing", "user", "timer due", "message m-", "task t-", "held", "stuck", "no-true-flow", "alias-taken", "error-uncaught",
		"retries-exhausted", "  completed", "  failed", "acknowledge s1 completed", "acknowledge s1 failed",
		"terminateEvent", "<bpmn:error", `cancelActivity="false"`, "callActivity", "eventBasedGateway", "parallelGateway",
		"subProcess", "zeebe:input", "timeCycle", `propagateAllChildVariables="false"`,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no program has %q", want)
		}
	}
}

// A failing program shrinks to what makes it fail.
func TestShrink(t *testing.T) {
	has := func(p *program.Program) bool {
		lines, err := p.Expected()
		if err != nil {
			return false
		}
		for _, l := range lines {
			if strings.Contains(strings.Join(l, "\n"), "no-true-flow") {
				return true
			}
		}
		return false
	}
	for seed := range uint64(100) {
		if p, _ := draw(t, seed); has(p) {
			q := p.Shrink(has)
			if !has(q) || len(q.Deliveries) > len(p.Deliveries) || len(program.BPMN(q.Root)) > len(program.BPMN(p.Root)) {
				t.Fatalf("seed %d shrinks to %d deliveries of %s", seed, len(q.Deliveries), program.BPMN(q.Root))
			}
			return
		}
	}
	t.Fatal("no program lacks a flow")
}

// The references share nothing with what they judge: of this module they import models alone, through any number of packages.
func TestImportsNothingOfTheProduct(t *testing.T) {
	const module = "github.com/millrace-dev/millrace/"
	seen, todo := map[string]bool{}, []string{"models/program", "models/oneactor"}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		pkg, err := build.ImportDir("../../"+dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range pkg.Imports {
			within, ours := strings.CutPrefix(imported, module)
			if !ours || seen[within] {
				continue
			}
			seen[within] = true
			todo = append(todo, within)
			if within != "models" && !strings.HasPrefix(within, "models/") {
				t.Errorf("%s imports %s", dir, imported)
			}
		}
	}
	if !seen["models/oneactor"] {
		t.Fatal("the walk over the imports saw nothing")
	}
}

// A file that is none, or that has what the reference does not execute, is an error.
func TestLoadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "not XML": "<a", "no start": `<d><process id="p"/></d>`, "deep": strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100),
		"unknown element":   `<d><process id="p"><startEvent id="s"/><inclusiveGateway id="g"/></process></d>`,
		"twice":             `<d><process id="p"><startEvent id="s"/><task id="s"/></process></d>`,
		"no such end":       `<d><process id="p"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="x"/></process></d>`,
		"no such process":   `<d><process id="p"><startEvent id="s"/><callActivity id="c"/></process></d>`,
		"broken expression": `<d><process id="p"><startEvent id="s"/><endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="e"><conditionExpression>=(1</conditionExpression></sequenceFlow></process></d>`,
	} {
		if _, err := oneactor.Load([]byte(text)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
