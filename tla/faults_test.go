package tla_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
)

// faults are expressions that cannot be evaluated, each with a part of what the error must say.
var faults = []struct{ x, want string }{
	{"1 \\div 0", "undefined"},
	{"5 % 0", "undefined"},
	{"2 ^ 99", "64 bits"},
	{"9223372036854775807 + 1", "64 bits"},
	{"99999999999999999999", "does not fit 64 bits"},
	{"Head(<<>>)", "Head of the empty sequence"},
	{"Tail(<<>>)", "Tail of the empty sequence"},
	{"Len(3)", "expected a sequence"},
	{"<<1, 2>>[3]", "not in its domain"},
	{"[a |-> 1].b", "no field b"},
	{"1 + TRUE", "expected an integer"},
	{"1 + \"a\"", "expected an integer"},
	{"CHOOSE y \\in {} : TRUE", "CHOOSE finds no element"},
	{"CHOOSE y : TRUE", "CHOOSE without a set"},
	{"IF 1 = \"a\" THEN 1 ELSE 2", "cannot compare"},
	{"Cardinality({1, \"a\"})", "cannot compare"},
	{"Cardinality(Nat)", "infinite"},
	{"DOMAIN 3", "DOMAIN needs a function"},
	{"UNION {1}", "expected a set"},
	{"{1} \\cup 2", "expected a set"},
	{"(CASE FALSE -> 1)", "no condition of CASE holds"},
	{"[1 EXCEPT ![1] = 2]", "EXCEPT needs a function"},
	{"IF 3 THEN 1 ELSE 2", "expected a boolean"},
	{"IF \\A y \\in 3 : TRUE THEN 1 ELSE 2", "expected a set"},
	{"IF \\E y : y = 1 THEN 1 ELSE 2", "has no set"},
	{"Assert(FALSE, \"said\")", "said"},
	{"Endless(1)", "recursion is deeper"},
	{"Nowhere", "not declared or defined"},
	{"Twice(1, 2)", "needs 1 arguments"},
	{"3(1)", ""},
	{"LAMBDA y : y", ""},
	{"(LET f[n \\in 1..2] == n IN f)[3]", "not in its domain"},
	{"{y \\in {1} : y}", "expected a boolean"},
}

// sites are modules with a hole, @, on a line of its own: the places where a fault may stand. The hole
// is evaluated by Init, Next, an invariant, an assumption or a constraint.
var sites = map[string]string{
	"initial":      "Init == x =\n@\nNext == x' = x",
	"next":         "Init == x = 0\nNext == x' =\n@",
	"definition":   "D ==\n@\nInit == x = D\nNext == x' = x",
	"argument":     "Id(a) == a\nInit == x = Id(\n@\n)\nNext == x' = x",
	"let":          "Init == x = LET d ==\n@\nIN d\nNext == x' = x",
	"function":     "Init == x = [i \\in {7} |->\n@\n]\nNext == x' = x",
	"application":  "Init == x = 0\nNext == x' = [i \\in {7} |->\n@\n][7]",
	"set":          "Init == x \\in {\n@\n}\nNext == x' = x",
	"map":          "Init == x = 0\nNext == x' \\in {\n@\n: i \\in {1}}",
	"record":       "Init == x = [f |->\n@\n]\nNext == x' = x",
	"tuple":        "Init == x = <<0,\n@\n>>\nNext == x' = x",
	"then":         "Init == x = 0\nNext == x' = IF x = 0 THEN\n@\nELSE 0",
	"case":         "Init == x = 0\nNext == x' = CASE x = 0 ->\n@\n[] OTHER -> 0",
	"except":       "Init == x = <<0>>\nNext == x' = [x EXCEPT ![1] =\n@\n]",
	"except path":  "Init == x = <<0>>\nNext == x' = [x EXCEPT ![\n@\n] = 1]",
	"quantifier":   "Init == x = 0\nNext == x' = x /\\ \\E i \\in {1} : i =\n@\n",
	"choice":       "Init == x = CHOOSE i \\in {1} : i =\n@\nNext == x' = x",
	"exists":       "Init == x = 0\nNext == \\E i \\in {\n@\n} : x' = i",
	"recursive":    "RECURSIVE R(_)\nR(n) == IF n = 0 THEN\n@\nELSE R(n - 1)\nInit == x = R(3)\nNext == x' = x",
	"operator":     "Apply(F(_), a) == F(a)\nInit == x = Apply(LAMBDA a :\n@\n, 1)\nNext == x' = x",
	"invariant":    "Init == x = 0\nNext == x' = x\nInv == x =\n@\n",
	"assumption":   "Init == x = 0\nNext == x' = x\nASSUME 0 =\n@\n",
	"constraint":   "Init == x = 0\nNext == x' = x\nCon == x =\n@\n",
	"inner module": "---- MODULE In ----\nV ==\n@\n====\nI == INSTANCE In\nInit == x = I!V\nNext == x' = x",
}

const faultHead = "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nVARIABLE x\nRECURSIVE Endless(_)\nEndless(n) == Endless(n)\nTwice(n) == n + n\n"

// runSource checks the module src, called M, under a configuration.
func runSource(t *testing.T, src, cfg string, opt check.Options) (*check.Result, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "M.tla")
	for path, text := range map[string]string{file: src, filepath.Join(dir, "M.cfg"): cfg} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tla.Run(tla.Spec{Module: file, Options: opt})
}

// TestFaultsAtEverySite puts each fault at each site: every one of these modules must be refused with
// the line on which the fault stands.
func TestFaultsAtEverySite(t *testing.T) {
	for site, text := range sites {
		t.Run(site, func(t *testing.T) {
			head := faultHead
			if site == "inner module" {
				text = strings.Replace(text, "V ==", "LOCAL INSTANCE Integers\nLOCAL INSTANCE Sequences\nLOCAL INSTANCE FiniteSets\nLOCAL INSTANCE TLC\nRECURSIVE Endless(_)\nEndless(n) == Endless(n)\nTwice(n) == n + n\nV ==", 1)
				head = "---- MODULE M ----\nVARIABLE x\n"
			}
			cfg := "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"
			switch site {
			case "invariant":
				cfg += "INVARIANT Inv\n"
			case "constraint":
				cfg += "CONSTRAINT Con\n"
			}
			line := strings.Count(head+text[:strings.Index(text, "@")], "\n") + 1
			for _, f := range faults {
				src := head + strings.Replace(text, "@", f.x, 1) + "\n===="
				r, err := runSource(t, src, cfg, check.Options{MaxStates: 1000, Workers: 1})
				if err == nil {
					err = r.Err
				}
				if err == nil {
					t.Errorf("%s: no error, found %s", f.x, r)
					continue
				}
				if !strings.Contains(err.Error(), f.want) || !strings.Contains(err.Error(), fmt.Sprintf(":%d:", line)) && f.want != "recursion is deeper" {
					t.Errorf("%s: expected %q on line %d, found %v", f.x, f.want, line, err)
				}
			}
		})
	}
}

// TestEvaluationsThatNeverEnd: an evaluation that would take longer than anyone waits ends with the
// time of the run, which is then unfinished, and a warning names the place.
func TestEvaluationsThatNeverEnd(t *testing.T) {
	for _, x := range []string{
		"IF \\A f \\in [1..12 -> 1..12] : f[1] # 13 THEN 1 ELSE 2",
		"Cardinality({s \\in SUBSET (1..45) : 46 \\in s})",
		"CHOOSE f \\in [1..12 -> 1..12] : f[1] = 13",
		"Cardinality({<<i, j, k>> \\in (1..9999) \\X (1..9999) \\X (1..9999) : i > j + k + 9999})",
		"Slow(40)",
	} {
		for _, site := range []string{"initial", "next", "quantifier", "invariant", "assumption"} {
			src := faultHead + "RECURSIVE Slow(_)\nSlow(n) == IF n < 2 THEN n ELSE Slow(n - 1) + Slow(n - 2) + (Slow(n - 2) - Slow(n - 2))\n" + strings.Replace(sites[site], "@", x, 1) + "\n===="
			cfg := "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"
			if site == "invariant" {
				cfg += "INVARIANT Inv\n"
			}
			r, err := runSource(t, src, cfg, check.Options{MaxTime: 20 * time.Millisecond, Workers: 1})
			for limit := 200 * time.Millisecond; err == nil && !strings.Contains(strings.Join(r.Warnings, "\n"), "time of the run ended") && limit < 5*time.Second; limit *= 3 {
				// On a busy machine the time may be over before the evaluation begins.
				r, err = runSource(t, src, cfg, check.Options{MaxTime: limit, Workers: 1})
			}
			if err != nil {
				t.Errorf("%s at %s: %v", x, site, err)
				continue
			}
			if r.Verdict != check.Unfinished || !strings.Contains(strings.Join(r.Warnings, "\n"), "M.tla:") || !strings.Contains(strings.Join(r.Warnings, "\n"), "time of the run ended") {
				t.Errorf("%s at %s: expected an unfinished run with a place, found %s %v", x, site, r, r.Warnings)
			}
		}
	}
}
