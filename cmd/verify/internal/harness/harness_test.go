package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// lab makes a module with one package whose tests end in every way, and a lab for it.
func lab(t *testing.T) (*Lab, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "module"))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return &Lab{Root: root, Out: filepath.Join(root, "out"), Stdout: &out, Cores: 2}, &out
}

func TestRunFollowsEveryTest(t *testing.T) {
	l, _ := lab(t)
	binaries, err := l.Compile(t.Context(), []string{"ends", "other/ends"})
	if err != nil || len(binaries) != 2 {
		t.Fatalf("%d binaries, %v", len(binaries), err)
	}
	ended := 0
	result, err := l.Run(t.Context(), Order{
		Dir: "ends", Binary: binaries["ends"], Timeout: time.Minute, Env: []string{"FIXTURE=seen"},
		Skip: "^TestLeftOut$", Log: filepath.Join(l.Root, "log"), Ended: func(Outcome) { ended++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Status{
		"TestPasses": Passed, "TestFails": Failed, "TestSkips": Skipped, "TestPrintsFrames": Passed, "TestEnds": Crashed,
	}
	if len(result.Outcomes) != len(want) || ended != len(want) || result.OK() || result.Exit != 3 {
		t.Errorf("%d outcomes, %d ended, exit %d", len(result.Outcomes), ended, result.Exit)
	}
	for _, o := range result.Outcomes {
		if want[o.Test] != o.Status {
			t.Errorf("%s: %s, want %s", o.Test, o.Status, want[o.Test])
		}
		if o.Test == "TestFails" && !strings.Contains(o.Output, "the environment is seen") {
			t.Errorf("output of the failed test: %q", o.Output)
		}
	}
	if text, err := os.ReadFile(filepath.Join(l.Root, "log")); err != nil || bytes.Contains(text, []byte{0x16}) ||
		!bytes.Contains(text, []byte("--- FAIL: TestFails")) {
		t.Errorf("log %q, %v", text, err)
	}
}

func TestRunEndsWhatDoesNotEnd(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	l, _ := lab(t)
	binaries, err := l.Compile(t.Context(), []string{"ends"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(t.Context(), Order{
		Dir: "ends", Binary: binaries["ends"], Run: "^TestPasses$", Env: []string{"FIXTURE=hang"}, Timeout: 200 * time.Millisecond,
	})
	if err != nil || !result.TimedOut || result.OK() {
		t.Errorf("result %+v, %v", result, err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "verify*")); err != nil || len(left) > 0 {
		t.Errorf("a test that was killed leaves %v, %v", left, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Run(ctx, Order{Dir: "ends", Binary: binaries["ends"], Timeout: time.Minute}); err == nil {
		t.Error("a run whose context has ended reports no error")
	}
}

func TestCompileNamesWhatDoesNotBuildAndBuildsTheRest(t *testing.T) {
	l, _ := lab(t)
	broken := filepath.Join(l.Root, "broken", "broken_test.go")
	if err := os.MkdirAll(filepath.Dir(broken), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("package broken\n\nvar x int = \"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	binaries, err := l.Compile(t.Context(), []string{"broken", "ends"})
	if !errors.Is(err, ErrBuild) || !strings.Contains(err.Error(), "broken_test.go:3") || binaries["ends"] == "" || binaries["broken"] != "" {
		t.Errorf("binaries %v, error %v", binaries, err)
	}
}

func TestProgressLine(t *testing.T) {
	p := &Progress{title: "sim", total: 40, done: 10, label: "core/claim"}
	if got, want := p.line(5*time.Second), "sim: 10 of 40, 2.0/s, 15 s left, 5 s, core/claim"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	p = &Progress{title: "replay", label: strings.Repeat("x", 200)}
	if got := p.line(time.Second); len(got) > 118 || !strings.HasPrefix(got, "replay: 1 s, xxx") {
		t.Errorf("line %q", got)
	}
}

func TestProgressOnATerminalOverwritesItself(t *testing.T) {
	l, out := lab(t)
	l.Terminal = true
	p := l.NewProgress("sim", 2)
	p.Step(1)
	p.Note("kept %d", 1)
	p.Close()
	if text := out.String(); !strings.Contains(text, "\r\x1b[K  kept 1\n") || !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("wrote %q", text)
	}
}

func TestTableAndNumbers(t *testing.T) {
	l, out := lab(t)
	l.Table([]string{"a", "long"}, [][]string{{"first", "1"}, {"b", ""}})
	if got, want := out.String(), "  a      long\n  first  1\n  b\n"; got != want {
		t.Errorf("table %q, want %q", got, want)
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %s", n, got)
		}
	}
	if got := Tail("a\nb\nc\n", 2); got != "… 1 lines before\nb\nc" {
		t.Errorf("Tail = %q", got)
	}
}

func TestJSONLandsUnderOut(t *testing.T) {
	l, _ := lab(t)
	if err := l.WriteJSON("x.json", map[string]int{"a": 1}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(l.Out, "x.json")); err != nil || !strings.Contains(string(text), `"a": 1`) {
		t.Errorf("read %q, %v", text, err)
	}
}
