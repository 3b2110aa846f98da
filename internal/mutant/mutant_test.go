package mutant

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const patch = `file: claim.go
-- replace --
	if row.Epoch != c.epoch {
-- with --
	if false {

-- replace --
	free()
-- with --
file: other.go
-- replace --
second()
-- with --
third()
`

func writeTree(t *testing.T, claim string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"claim.go": claim, "other.go": "second()\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const claim = "func f() {\n\tif row.Epoch != c.epoch {\n\t}\n\tfree()\n}\n"

func TestOverlayHoldsThePatchedText(t *testing.T) {
	dir := writeTree(t, claim)
	p, err := Parse("L3.x.mutant", patch)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := p.WriteOverlay(dir, filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(overlay)
	if err != nil {
		t.Fatal(err)
	}
	var read struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &read); err != nil || len(read.Replace) != 2 {
		t.Fatalf("overlay %s: %v", text, err)
	}
	mutated, err := os.ReadFile(read.Replace[filepath.Join(dir, "claim.go")])
	if want := "func f() {\n\tif false {\n\t}\n\n}\n"; err != nil || string(mutated) != want {
		t.Errorf("mutated %q, %v; want %q", mutated, err, want)
	}
	if untouched, err := os.ReadFile(filepath.Join(dir, "claim.go")); err != nil || string(untouched) != claim {
		t.Errorf("the tree was touched: %q, %v", untouched, err)
	}
}

func TestPatchMustApplyExactlyOnce(t *testing.T) {
	p, err := Parse("L3.x.mutant", "file: claim.go\n-- replace --\nfree()\n-- with --\nkeep()\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, count := range map[string]string{"nothing": "found 0 times", "free() free()": "found 2 times"} {
		_, err := p.Apply(writeTree(t, text))
		if !errors.Is(err, ErrDoesNotApply) || !strings.Contains(err.Error(), count) {
			t.Errorf("Apply to %q: %v, want %s", text, err, count)
		}
	}
}

func TestBadPatches(t *testing.T) {
	const pair = "-- replace --\na\n-- with --\nb\n"
	cases := map[string]struct {
		text string
		want error
	}{
		"empty":         {"", errNoFile},
		"no file":       {pair, errNoFile},
		"prose first":   {"text\n" + pair, errNoFile},
		"folder":        {"file: ../claim.go\n" + pair, errFileName},
		"test file":     {"file: claim_test.go\n" + pair, errFileName},
		"outside":       {"file: a.go\ntext\n" + pair, errOutside},
		"with first":    {"file: a.go\n-- with --\nb\n", errOutside},
		"no with":       {"file: a.go\n-- replace --\na\n", errNoWith},
		"replace twice": {"file: a.go\n-- replace --\na\n-- replace --\n", errNoWith},
		"empty text":    {"file: a.go\n-- replace --\n\n-- with --\nb\n", errEmpty},
		"same":          {"file: a.go\n-- replace --\na\n-- with --\na\n", errSame},
		"no edit":       {"file: a.go\n", errNoEdit},
	}
	for name, c := range cases {
		if _, err := Parse("x.mutant", c.text); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
