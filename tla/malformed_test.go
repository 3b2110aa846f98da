package tla_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/syntax"
)

// hasPlace recognizes file:line:column at the start of each line of an error.
var hasPlace = regexp.MustCompile(`:\d+:\d+: \S`)

// malformed are modules that must be refused, or fail when checked, with a place.
func malformed() map[string]string {
	deep := strings.Repeat
	m := map[string]string{
		"empty":               "",
		"no end":              "---- MODULE M ----\nA == 1",
		"no name":             "---- MODULE ----\n====",
		"no dashes":           "---- MODULE M\nA == 1\n====",
		"open comment":        "---- MODULE M ----\n(* (* *)\n====",
		"open string":         "---- MODULE M ----\nA == \"abc\n====",
		"bad character":       "---- MODULE M ----\nA == 1 € 2\n====",
		"bad operator":        "---- MODULE M ----\nA == 1 \\frobnicate 2\n====",
		"precedence":          "---- MODULE M ----\nA == TRUE /\\ FALSE \\/ TRUE\n====",
		"chained equality":    "---- MODULE M ----\nA == 1 = 2 = 3\n====",
		"open paren":          "---- MODULE M ----\nA == (1 + 2\nB == 3\n====",
		"open set":            "---- MODULE M ----\nA == {1, 2\n====",
		"open tuple":          "---- MODULE M ----\nA == <<1, 2\n====",
		"open record":         "---- MODULE M ----\nA == [a |-> 1\n====",
		"if without else":     "---- MODULE M ----\nA == IF TRUE THEN 1\n====",
		"let without in":      "---- MODULE M ----\nA == LET x == 1\n====",
		"empty let":           "---- MODULE M ----\nA == LET IN 1\n====",
		"nonfix alone":        "---- MODULE M ----\nA == <(1)\n====",
		"nonfix empty":        "---- MODULE M ----\nA == \\cup()\n====",
		"case arrow":          "---- MODULE M ----\nA == CASE TRUE 1\n====",
		"quantifier":          "---- MODULE M ----\nA == \\A x \\in {1} x\n====",
		"except":              "---- MODULE M ----\nA == [f EXCEPT ! = 1]\n====",
		"missing operand":     "---- MODULE M ----\nA == 1 +\n====",
		"stray":               "---- MODULE M ----\n) A == 1\n====",
		"extends nothing":     "---- MODULE M ----\nEXTENDS\n====",
		"extends itself":      "---- MODULE M ----\nEXTENDS M\nInit == TRUE\n====",
		"extends missing":     "---- MODULE M ----\nEXTENDS Nowhere\n====",
		"instance missing":    "---- MODULE M ----\nI == INSTANCE Nowhere\nInit == I!x\nNext == TRUE\n====",
		"bad label":           "---- MODULE M ----\nA == f(1):: TRUE\n====",
		"lambda alone":        "---- MODULE M ----\nVARIABLE x\nInit == x = LAMBDA y : y\nNext == UNCHANGED x\n====",
		"at alone":            "---- MODULE M ----\nVARIABLE x\nInit == x = @\nNext == UNCHANGED x\n====",
		"undeclared":          "---- MODULE M ----\nVARIABLE x\nInit == x = y\nNext == UNCHANGED x\n====",
		"arity":               "---- MODULE M ----\nVARIABLE x\nF(a) == a\nInit == x = F(1, 2)\nNext == UNCHANGED x\n====",
		"no operator":         "---- MODULE M ----\nVARIABLE x\nInit == x = 1 + 1\nNext == UNCHANGED x\n====",
		"double prime":        "---- MODULE M ----\nVARIABLE x\nInit == x = 1\nNext == x'' = 1\n====",
		"self":                "---- MODULE M ----\nVARIABLE x\nA == A\nInit == x = A\nNext == UNCHANGED x\n====",
		"mutual":              "---- MODULE M ----\nVARIABLE x\nA == B\nB == A\nInit == x = A\nNext == UNCHANGED x\n====",
		"self unchanged":      "---- MODULE M ----\nVARIABLE x\nA == <<x, A>>\nInit == x = 1\nNext == UNCHANGED A\n====",
		"self within":         "---- MODULE M ----\nVARIABLE x\nA == <<x, A>>\nInit == x = 1\nNext == x' = 1 /\\ [FALSE]_A\n====",
		"self enabled":        "---- MODULE M ----\nVARIABLE x\nA == <<x, A>>\nInit == x = 1\nNext == ENABLED (UNCHANGED A) /\\ x' = 1\n====",
		"self action":         "---- MODULE M ----\nVARIABLE x\nInit == x = 1\nNext == Next\n====",
		"recursive undefined": "---- MODULE M ----\nVARIABLE x\nRECURSIVE F(_)\nInit == x = F(1)\nNext == UNCHANGED x\n====",
		"unassigned":          "---- MODULE M ----\nVARIABLES x, y\nInit == x = 1\nNext == UNCHANGED <<x, y>>\n====",
		"next unassigned":     "---- MODULE M ----\nVARIABLES x, y\nInit == x = 1 /\\ y = 1\nNext == UNCHANGED x\n====",
		"endless recursion":   "---- MODULE M ----\nVARIABLE x\nRECURSIVE F(_)\nF(a) == F(a)\nInit == x = F(1)\nNext == UNCHANGED x\n====",
		"infinite init":       "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x \\in Nat\nNext == UNCHANGED x\n====",
		"infinite state":      "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = [n \\in Nat |-> n]\nNext == UNCHANGED x\n====",
		"huge set":            "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = SUBSET (1..99)\nNext == x' = x \\cup {{}}\n====",
		"huge interval":       "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = {i \\in 1..999999999999 : TRUE}\nNext == UNCHANGED x\n====",
		"huge number":         "---- MODULE M ----\nVARIABLE x\nInit == x = 123456789012345678901234567890\nNext == UNCHANGED x\n====",
		"overflow":            "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 2 ^ 99\nNext == UNCHANGED x\n====",
		"decimal":             "---- MODULE M ----\nVARIABLE x\nInit == x = 1.5\nNext == UNCHANGED x\n====",
		"unbounded choose":    "---- MODULE M ----\nVARIABLE x\nInit == x = CHOOSE y : TRUE\nNext == UNCHANGED x\n====",
		"unbounded forall":    "---- MODULE M ----\nVARIABLE x\nInit == x = 1 /\\ \\A y : y = y\nNext == UNCHANGED x\n====",
		"temporal action":     "---- MODULE M ----\nVARIABLE x\nInit == x = 1\nNext == [](x = 1)\n====",
		"not a set":           "---- MODULE M ----\nVARIABLE x\nInit == x \\in 3\nNext == UNCHANGED x\n====",
		"not a boolean":       "---- MODULE M ----\nVARIABLE x\nInit == x = 1 /\\ 2\nNext == UNCHANGED x\n====",
		"not a function":      "---- MODULE M ----\nVARIABLE x\nInit == x = 1[2]\nNext == UNCHANGED x\n====",
		"field twice":         "---- MODULE M ----\nVARIABLE x\nInit == x = [a |-> 1, a |-> 2]\nNext == UNCHANGED x\n====",
		"no instance value":   "---- MODULE M ----\n---- MODULE I ----\nCONSTANT C\nV == C\n====\nVARIABLE x\nJ == INSTANCE I\nInit == x = J!V\nNext == UNCHANGED x\n====",
		"constant unset":      "---- MODULE M ----\nCONSTANT C\nVARIABLE x\nInit == x = C\nNext == UNCHANGED x\n====",
	}
	for _, open := range []string{"(", "{", "<<", "[x \\in ", "~", "- ", "\\E x \\in {1} : ", "IF TRUE THEN ", "LET a == ", "SUBSET ", "f[", "CASE "} {
		m["deep "+open] = "---- MODULE M ----\nA == " + deep(open, 100_000) + "1\n===="
	}
	m["deep closed"] = "---- MODULE M ----\nA == " + deep("(", 50_000) + "1" + deep(")", 50_000) + "\n===="
	m["deep chain"] = chain(9000)
	return m
}

// chain defines each of n operators by the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("---- MODULE M ----\nVARIABLE x\nA0(p) == Zero\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "A%d(p) == A%d(p)\n", i, i-1)
	}
	fmt.Fprintf(&b, "Init == x = A%d(1)\nNext == UNCHANGED x\n====", n-1)
	return b.String()
}

// refuse checks that a module fails in time with an error that has a place.
func refuse(t *testing.T, name, src string, must bool) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "M.tla")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := filepath.Join(dir, "M.cfg")
	if err := os.WriteFile(cfg, []byte("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := tla.Run(tla.Spec{Module: file, Options: check.Options{MaxStates: 1000, MaxTime: time.Minute, Workers: 1}})
	if err == nil && r.Verdict == check.Fault {
		err = r.Err
	}
	if err == nil {
		if must {
			t.Errorf("%s: expected an error, found %s", name, r)
		}
		return
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		if !hasPlace.MatchString(line) {
			t.Errorf("%s: error has no place: %s", name, line)
		}
	}
}

func TestMalformedModulesAreRefused(t *testing.T) {
	for name, src := range malformed() {
		t.Run(name, func(t *testing.T) { refuse(t, name, src, true) })
	}
}

// TestMutilatedModules cuts and thins every module of testdata; whatever remains must be accepted or
// refused with a place, never crash the parser or loop.
func TestMutilatedModules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tla")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	count := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		src := string(b)
		for i := 1; i <= 24; i++ {
			at := len(src) * i / 25
			for _, mutant := range []string{src[:at], src[:at] + src[min(at+7, len(src)):], src[:at] + ")" + src[at:], src[:at] + "\n/\\ " + src[at:]} {
				count++
				if _, err := syntax.Parse(f, mutant); err != nil {
					var list syntax.Errors
					if !errors.As(err, &list) || len(list) == 0 || len(list) > syntax.MaxErrors || list[0].Pos.Line < 1 {
						t.Errorf("%s cut at %d: %v", f, at, err)
					}
				}
			}
		}
	}
	if count < 300 {
		t.Errorf("only %d mutants", count)
	}
}

func TestMalformedConfigurations(t *testing.T) {
	for name, src := range map[string]string{
		"statement": "FROB x", "name": "INIT", "twice": "INIT A\nINIT B", "value": "CONSTANT N =", "arrow": "CONSTANT N <-",
		"operator": "CONSTANT N N", "open set": "CONSTANT N = {1, 2", "separator": "CONSTANT N = {1 2}", "deadlock": "CHECK_DEADLOCK maybe",
		"string": "CONSTANT N = \"a", "comment": "(* never", "module": "CONSTANT N <- [M x", "deep": "CONSTANT N = " + strings.Repeat("{", 100_000),
		"section": "SPECIFICATION INVARIANT", "symbol": "= 3",
	} {
		var e *config.Error
		if _, err := config.Parse("M.cfg", src); !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
			t.Errorf("%s: expected an error with a place, found %v", name, err)
		}
	}
}

// A configuration is refused with all its faults, each at its place.
func TestEveryFaultOfAConfigurationIsReported(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"statements": {
			"INIT\nNEXT Next\nFROB x\nCONSTANTS\n  M 8\n  N = }\n  K = 3\n  L L\nINVARIANT A",
			"M.cfg:2:1: expected a name after INIT, found 'NEXT'\nM.cfg:3:1: expected a statement such as SPECIFICATION or CONSTANTS, found 'FROB'\n" +
				"M.cfg:5:5: expected '=' or '<-' after M, found '8'\nM.cfg:6:7: expected a value, found '}'\nM.cfg:8:5: expected '=' or '<-' after L, found 'L'",
		},
		"characters": {"SPECIFICATION \"a\nINVARIANT \"b\n(* c", "M.cfg:1:15: string is not closed"},
		"text":       {"SPECIFICATION \"a\nINVARIANT \"b\n(* c", "M.cfg:3:1: comment opened here"},
		"many":       {strings.Repeat("INIT\n", 100), "M.cfg:21:1: expected a name after INIT"},
	} {
		_, err := config.Parse("M.cfg", c.src)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: expected %q, found\n%v", name, c.want, err)
		}
		if n := strings.Count(fmt.Sprint(err), "\n") + 1; n < 3 || n > config.MaxErrors {
			t.Errorf("%s: %d faults", name, n)
		}
	}
}

// What a configuration names and the module does not define is reported at its place in the configuration, all of it.
func TestUnknownNamesHaveTheirPlaceInTheConfiguration(t *testing.T) {
	const module = "---- MODULE M ----\nCONSTANT C\nVARIABLE x\nInit == x = 0\nNext == x' = x\n====\n"
	_, err := runSource(t, module, "CONSTANTS C <- Gone\n C = 99999999999999999999\nINIT Init NEXT Next\nINVARIANTS Inv,\n  Other\nPROPERTY Live", check.Options{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "M.cfg:2:6: number 99999999999999999999 is too large") {
		t.Errorf("a number: %v", err)
	}
	_, err = runSource(t, module, "CONSTANTS C <- Gone\nINIT Init NEXT Next\nINVARIANTS Inv,\n  Other\nPROPERTY Live", check.Options{Workers: 1})
	for _, want := range []string{
		"M.cfg:1:16: C is to be replaced by Gone, which is not defined", "M.cfg:3:12: 'Inv' is not defined in module M", "M.cfg:4:3: 'Other'", "M.cfg:5:10: 'Live'",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("expected %q, found\n%v", want, err)
		}
	}
}

// A module must be called as its file, the one that is checked and those that it uses.
func TestModulesAreCalledAsTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Other.tla": "---- MODULE M ----\nInit == TRUE\n====\n", "Other.cfg": "",
		"User.tla": "\n---- MODULE User ----\nEXTENDS Other\n====\n", "User.cfg": "",
		"Two.tla": "---- MODULE Inner ----\n====\n---- MODULE Two ----\nEXTENDS Inner\n====\n", "Two.cfg": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Other", "User"} {
		_, err := tla.Run(tla.Spec{Module: filepath.Join(dir, name+".tla")})
		if err == nil || !strings.Contains(err.Error(), "Other.tla:1:1: expected a module called Other, as its file, found module M") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tla.Run(tla.Spec{Module: filepath.Join(dir, "Two.tla")}); err != nil {
		t.Errorf("a file with two modules: %v", err)
	}
}

func TestConfigurationNamesWhatIsMissing(t *testing.T) {
	for _, text := range []string{"INIT Nope\nNEXT Next", "INIT Init\nNEXT Next\nINVARIANT Nope", "SPECIFICATION Nope", "INIT Init\nNEXT Next\nPROPERTY Nope", "INIT Init\nNEXT Next\nCONSTANT hr <- Nope"} {
		cfg := filepath.Join(t.TempDir(), "C.cfg")
		if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tla.Run(tla.Spec{Module: "testdata/Clock.tla", Config: cfg}); err == nil || !strings.Contains(err.Error(), "Nope") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What asks for a check of states and describes no behavior is refused: it would hold without having been looked at.
func TestHalfABehaviorIsRefused(t *testing.T) {
	const module = "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = 1 - x\nInv == x = 0\nLive == <>(x = 1)\n====\n"
	for text, want := range map[string]string{
		"INVARIANT Inv": "without SPECIFICATION", "PROPERTY Live": "without SPECIFICATION",
		"INIT Init\nINVARIANT Inv": "INIT without NEXT", "NEXT Next": "NEXT without INIT",
	} {
		if r, err := runSource(t, module, text, check.Options{Workers: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, r, err, want)
		}
	}
}

func TestSeveralErrorsInOneRun(t *testing.T) {
	_, err := syntax.Parse("M.tla", "---- MODULE M ----\nA == )\nB == {1 2}\nC == 2\nD == [x]\n====")
	var list syntax.Errors
	if !errors.As(err, &list) || len(list) < 3 {
		t.Errorf("expected at least three errors, found %v", err)
	}
}
