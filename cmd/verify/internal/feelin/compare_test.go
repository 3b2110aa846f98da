package feelin

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every expression that is drawn parses and has a value, is a function of its seed, and the families of the language are among them.
func TestCasesAreDrawnBySeed(t *testing.T) {
	cases, err := Cases(1, 3000)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Cases(1, 3000)
	if err != nil || !slices.Equal(cases, again) {
		t.Fatalf("one seed gave two lists: %v", err)
	}
	nulls, all := 0, ""
	for _, c := range cases {
		all += c.Expression + "\n"
		if c.Literal == "null" {
			nulls++
		}
	}
	for _, family := range []string{
		"if ", "for x in ", "some x in ", "every x in ", " between ", " in [", "instance of ", "function(x)", "item > ", "date and time(", "duration(",
		"substring(", "context put(", " and ", " ** ", "flatten(", "= null",
	} {
		if !strings.Contains(all, family) {
			t.Errorf("nothing drawn has %q", family)
		}
	}
	if nulls*3 > len(cases) {
		t.Errorf("%d of %d values are null: there is little to compare", nulls, len(cases))
	}
}

func TestDifferencesAreExpressions(t *testing.T) {
	for _, d := range Differences() {
		if _, err := CaseOf(d.Example); err != nil || d.Reason == "" {
			t.Errorf("%s: %v, reason %q", d.Example, err, d.Reason)
		}
	}
}
