package feel

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: no text makes Parse or Evaluate crash or run long; what parses prints canonically, and the
// canonical text has the same canonical text and the same value.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			f.Add(source(strings.TrimSuffix(line, "\n")))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrSyntax) {
				t.Fatalf("parse %q: %v", text, err)
			}
			return
		}
		canonical := e.String()
		again, err := Parse(canonical)
		if err != nil {
			if len(canonical) > MaxSource { // parentheses and blanks can make it longer than the source
				return
			}
			t.Fatalf("%q prints as %q, which does not parse: %v", text, canonical, err)
		}
		if again.String() != canonical {
			t.Fatalf("%q prints as %q, then as %q", text, canonical, again)
		}
		options := testOptions()
		options.Limits = Limits{MaxSteps: 5000, MaxCalls: 20, MaxText: 10_000, MaxItems: 1000}
		value, err := e.Evaluate(nil, options)
		value2, err2 := again.Evaluate(nil, options)
		if (err == nil) != (err2 == nil) || value.String() != value2.String() {
			t.Fatalf("%q is %v, %v; as %q it is %v, %v", text, value, err, canonical, value2, err2)
		}
		if _, err := AppendJSON(nil, value); err != nil && !errors.Is(err, ErrConvert) {
			t.Fatalf("%q as JSON: %v", text, err)
		}
	})
}

// FuzzJSON: no document crashes the reader; what it reads is written and read back as an equal value.
func FuzzJSON(f *testing.F) {
	for _, seed := range [...]string{`{"a":[1,2.50,"x",null,true]}`, `1e400`, `[[[]]]`, `"\ud800"`, `{"a":1,"a":2}`, ` [ {"a" : -0.5e+7 } , "\n" ] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseJSON(data)
		slowly, errSlowly := parseJSON(data)
		if utf8.Valid(data) && ((err == nil) != (errSlowly == nil) || !reflect.DeepEqual(v, slowly)) {
			t.Fatalf("%q is read as %v (%v), by encoding/json as %v (%v)", data, v, err, slowly, errSlowly)
		}
		if err != nil {
			return
		}
		out, err := AppendJSON(nil, v)
		if err != nil {
			t.Fatalf("write %q: %v", data, err)
		}
		again, err := ParseJSON(out)
		if err != nil || !Equal(v, again) {
			t.Fatalf("%q was written as %q and read as %v, %v", data, out, again, err)
		}
	})
}
