package syntax

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrintedModulesParseToTheSameTree prints and parses every module of the repository.
func TestPrintedModulesParseToTheSameTree(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../testdata/*.tla", "../modules/*.tla", "../*/*.tla", "testdata/*.tla"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	if len(files) < 25 {
		t.Fatalf("only %d modules", len(files))
	}
	for _, f := range files {
		m, err := ParseFile(f)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		text := FormatModule(m)
		again, err := Parse(f, text)
		if err != nil {
			t.Errorf("%s: printed form does not parse: %v\n%s", f, err, text)
			continue
		}
		if !Same(m, again) {
			t.Errorf("%s: printed form has another tree\n%s", f, text)
		}
		if second := FormatModule(again); second != text {
			t.Errorf("%s: printing is not stable", f)
		}
	}
}

// TestShapes compares expressions with the fully parenthesized reading they must have.
func TestShapes(t *testing.T) {
	for src, want := range map[string]string{
		"a + b * c":                     "a + (b * c)",
		"a - b - c":                     "(a - b) - c",
		"<(a, b) /\\ c":                 "(a < b) /\\ c",
		"\\cup(a, b) \\cap c":           "(a \\cup b) \\cap c",
		"a => b /\\ c":                  "a => (b /\\ c)",
		"~a = b":                        "~(a = b)",
		"~a /\\ b":                      "(~a) /\\ b",
		"-a + b":                        "(-a) + b",
		"-a * b":                        "-(a * b)",
		"f[x]' = y":                     "((f[x])') = y",
		"a ∧ b":                         "a /\\ b",
		"x ∈ S ∪ T":                     "x \\in (S \\cup T)",
		"SUBSET S \\cup T":              "(SUBSET S) \\cup T",
		"DOMAIN f \\ {x}":               "(DOMAIN f) \\ {x}",
		"[]<>a => b":                    "([](<>a)) => b",
		"a..b + c":                      "a..(b + c)",
		"/\\ a\n     /\\ b => c":        "(a) /\\ (b => c)",
		"\\/ a /\\ b\n     \\/ c":       "(a /\\ b) \\/ (c)",
		"{x \\in S : p} \\cup {y}":      "({x \\in S : p}) \\cup ({y})",
		"IF a THEN b ELSE c + d":        "IF a THEN b ELSE (c + d)",
		"\\A x \\in S : a /\\ b":        "\\A x \\in S : (a /\\ b)",
		"WF_<<x, y>>(A) /\\ SF_v(B!C)":  "(WF_<<x, y>>(A)) /\\ (SF_v(B!C))",
		"[A]_v \\/ <<B>>_<<x>>":         "([A]_v) \\/ (<<B>>_<<x>>)",
		"A \\X B \\X C":                 "A \\X B \\X C",
		"LAMBDA_x + 1":                  "LAMBDA_x + 1",
		"2PC":                           "2PC",
		"CASE a -> b [] OTHER -> c + d": "CASE a -> b [] OTHER -> (c + d)",
	} {
		got, want := shape(t, src), shape(t, want)
		if got != want {
			t.Errorf("%s\n  expected %s\n  found    %s", src, want, got)
		}
	}
}

// shape renders a tree without parentheses; a junction list of items reads as the infix operator.
func shape(t *testing.T, src string) string {
	t.Helper()
	m, err := Parse("E", "---- MODULE E ----\nE == "+src+"\n====")
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	s := dump(m)
	s = strings.ReplaceAll(s, `Junction{"/\\";`, `Op{"/\\";"2";`)
	return strings.ReplaceAll(s, `Junction{"\\/";`, `Op{"\\/";"2";`)
}

func TestCommentsBelongToUnits(t *testing.T) {
	m, err := Parse("M", "---- MODULE M ----\n\\* one\n(* two *)\nA == 1\n====")
	if err != nil {
		t.Fatal(err)
	}
	if doc := m.Units[0].Doc(); len(doc) != 2 || doc[0] != "\\* one" || doc[1] != "(* two *)" {
		t.Errorf("comments are %q", doc)
	}
	if p := m.Units[0].Pos(); p != (Pos{4, 1}) {
		t.Errorf("place is %v", p)
	}
}

func TestJunctionItemEndsAtItsColumn(t *testing.T) {
	_, err := Parse("M.tla", "---- MODULE M ----\nA == /\\ IF a\n   THEN b ELSE c\n====")
	if err == nil || !strings.Contains(err.Error(), "M.tla:3:4") || !strings.Contains(err.Error(), "column") {
		t.Errorf("expected an error at THEN, found %v", err)
	}
}

// TestProofsEndWhereUnitsBegin: what follows an assumption or a theorem without proof is a unit even
// when it is indented; a proof is skipped.
func TestProofsEndWhereUnitsBegin(t *testing.T) {
	m, err := Parse("M", `---- MODULE M ----
ASSUME A == TRUE
   VARIABLE t
THEOREM T == TRUE
   CONSTANT c
THEOREM P == TRUE
<1>1. TRUE BY DEF T
<1> QED OBVIOUS
LEMMA ASSUME NEW x PROVE x = x
PROOF OMITTED
Last == 1
====`)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, u := range m.Units {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", u), "*syntax."))
	}
	if got := strings.Join(kinds, " "); got != "Assume Variables Text Constants Text Text Def" {
		t.Errorf("units are %s", got)
	}
}
