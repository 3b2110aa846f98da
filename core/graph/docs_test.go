package graph

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/millrace-dev/millrace/core/record"
)

const (
	docsFile  = "../../docs/package.md"
	keysBegin = "<!-- keys: written by `go test ./core/graph -run TestDocs -rewrite` -->\n"
	keysEnd   = "<!-- end of keys -->\n"
)

// TestDocsListEveryKey holds the tables of docs/package.md to the key table.
func TestDocsListEveryKey(t *testing.T) {
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), keysBegin)
	_, after, closed := strings.Cut(rest, keysEnd)
	if !ok || !closed {
		t.Fatal("the marks of the key tables are missing")
	}
	compare(t, docsFile, before+keysBegin+keysText()+keysEnd+after)
}

func keysText() string {
	var b strings.Builder
	for _, s := range sections() {
		title := s.path
		if title == "" {
			title = PackageFile
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n", title)
		if s.doc != "" {
			fmt.Fprintf(&b, "%s\n\n", s.doc)
		}
		fmt.Fprint(&b, "| key | value | default | meaning |\n|---|---|---|---|\n")
		for _, k := range s.keys {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.name, k.valueText(), k.defaultText(), k.doc)
		}
	}
	return b.String() + "\n"
}

func (k key) valueText() string {
	switch k.kind {
	case anInteger, aSize, aDuration:
		return fmt.Sprintf("%s, %s", k.kind, k.rangeText())
	case aChoice:
		return "`" + strings.Join(k.choices, "`, `") + "`"
	default:
		return string(k.kind)
	}
}

func (k key) defaultText() string {
	switch {
	case k.required:
		return "required"
	case k.kind == aChoice:
		return "`" + k.choices[0] + "`"
	case k.high > 0 && (k.fallback > 0 || k.low == 0 && k.kind == anInteger):
		return "`" + k.format(k.fallback) + "`"
	default:
		return ""
	}
}

// TestDocsExamplesLoad loads every package that docs/package.md shows.
func TestDocsExamplesLoad(t *testing.T) {
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(name:.*?)```").FindAllStringSubmatch(string(raw), -1)
	if len(examples) == 0 {
		t.Fatal("no example begins with name:")
	}
	for _, e := range examples {
		if _, faults := Load(fstest.MapFS{PackageFile: {Data: []byte(e[1])}}); len(faults) > 0 {
			t.Errorf("%s\n%v", e[1], faults)
		}
	}
}

// TestDocsNameReasonsAndLimits holds what the prose of docs/package.md says to the code.
func TestDocsNameReasonsAndLimits(t *testing.T) {
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.Join(strings.Fields(string(raw)), " "), ",", "")
	wanted := []string{
		fmt.Sprintf("at most %d bytes", record.MaxExpressionBytes), fmt.Sprintf("at most %d levels", record.MaxExpressionDepth),
		fmt.Sprintf("may cost %d units", record.MaxExpressionCost), fmt.Sprintf("has at most %d MiB", MaxFileBytes>>20), fmt.Sprintf("flow file at most %d MiB", MaxFlowBytes>>20),
		fmt.Sprintf("nesting ends at %d levels", maxDepth), fmt.Sprintf("at most %d characters", maxNameBytes),
	}
	for _, r := range record.Reasons() {
		wanted = append(wanted, "`"+r.String()+"`")
	}
	for _, name := range record.TypeNames() {
		wanted = append(wanted, "| `"+name+"` |")
	}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say: %s", docsFile, want)
		}
	}
}

// TestDocsHaveEverySection holds the list of sections to the functions that make one: a table of keys that is left out of it is nowhere
// in the documentation.
func TestDocsHaveEverySection(t *testing.T) {
	made := 0
	for _, name := range []string{"keys.go", "keysflow.go"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		made += len(regexp.MustCompile(`(?m)^func \w+Keys\(\) section `).FindAll(raw, -1))
	}
	if listed := len(sections()); listed != made {
		t.Errorf("sections lists %d of %d tables of keys", listed, made)
	}
}

// TestKeysAreUsable checks the table itself: a default lies in its range, a name is a plain word and
// everything says what it means.
func TestKeysAreUsable(t *testing.T) {
	for _, s := range sections() {
		for i, k := range s.keys {
			where := s.path + "." + k.name
			if checkName(k.name) != "" || k.doc == "" || strings.ContainsAny(k.doc, "|\n") {
				t.Errorf("%s: name or meaning", where)
			}
			if k.high < k.low || k.fallback != 0 && (k.fallback < k.low || k.fallback > k.high) {
				t.Errorf("%s: default %d in %d to %d", where, k.fallback, k.low, k.high)
			}
			if number := k.kind == anInteger || k.kind == aSize || k.kind == aDuration; number != (k.high > 0) {
				t.Errorf("%s: a number has a range, and nothing else has", where)
			}
			if (k.kind == aChoice) != (len(k.choices) > 0) {
				t.Errorf("%s: choices", where)
			}
			for _, other := range s.keys[:i] {
				if other.name == k.name {
					t.Errorf("%s is there twice", where)
				}
			}
		}
	}
}
