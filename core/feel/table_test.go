package feel

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the results of the tables as they are now")

// The tables under testdata are read line by line:
//
//	# text                a comment
//	#! feelin: reason     the next line is known to differ in the oracle, and why
//	scope {json}          the variables of the lines that follow
//	EXPRESSION => VALUE   the value as FEEL prints a literal of it
//	EXPRESSION !! ERROR   Parse refuses the text
//
// Both sides of "=>" are expressions, so another engine can be fed the same lines.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find tables: %v, %d files", err, len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runTable(t, file) })
	}
}

func runTable(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	scope, cases := &Context{}, 0
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if json, ok := strings.CutPrefix(line, "scope "); ok {
			v, err := ParseJSON([]byte(json))
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			scope = v.(*Context)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") && line != "#" {
			continue
		}
		source := source(line)
		cases++
		got := source + outcome(t, source, scope)
		if got != line && !*rewrite {
			t.Errorf("%s:%d:\n got  %s\n want %s", file, i+1, got, line)
		}
		lines[i] = got
	}
	if cases < 10 {
		t.Errorf("%s has only %d cases", file, cases)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// source returns the expression of a line.
func source(line string) string {
	for _, separator := range [...]string{" => ", " !! "} {
		if i := strings.LastIndex(line, separator); i >= 0 {
			return line[:i]
		}
	}
	return line
}

func outcome(t *testing.T, source string, scope Scope) string {
	e, err := Parse(source)
	if err != nil {
		var place *Error
		if !errors.As(err, &place) || !errors.Is(err, ErrSyntax) {
			t.Errorf("parse %q: %v is no *Error", source, err)
		}
		return " !! " + place.Error()
	}
	v, err := e.Evaluate(scope, testOptions())
	if err != nil {
		return " !! " + err.Error()
	}
	checkRoundTrip(t, e, scope, v)
	if v.Kind() == KindFunction {
		return " => " + v.String()
	}
	return " => " + Literal(v)
}

// testOptions has a fixed clock and one zone, 2.5 hours east of Greenwich.
func testOptions() Options {
	return Options{
		Now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
		Zone: func(id string) (*time.Location, bool) {
			return time.FixedZone("Test/Zone", 9000), id == "Test/Zone"
		},
	}
}

// checkRoundTrip: the canonical text parses to the same canonical text and has the same value.
func checkRoundTrip(t *testing.T, e *Expression, scope Scope, want Value) {
	t.Helper()
	again, err := Parse(e.String())
	if err != nil {
		t.Errorf("%q prints as %q, which does not parse: %v", e.Source(), e, err)
		return
	}
	if again.String() != e.String() {
		t.Errorf("%q prints as %q, then as %q", e.Source(), e, again)
	}
	got, err := again.Evaluate(scope, testOptions())
	if err != nil {
		t.Errorf("evaluate canonical %q: %v", e, err)
		return
	}
	if got.String() != want.String() {
		t.Errorf("%q is %v, its canonical form %q is %v", e.Source(), want, e, got)
	}
}
