package scan_test

import (
	"testing"
	"unicode/utf8"

	"github.com/millrace-dev/millrace/core/scan"
)

// Whatever the bound, what is left is a beginning of the text, of whole runes, and no longer than that.
func TestCutLeavesWholeRunes(t *testing.T) {
	const text = "aé€𝄞 end"
	for n := range len(text) + 2 {
		got := scan.Cut(text, n)
		if len(got) > n || len(got) < min(n, len(text))-3 || !utf8.ValidString(got) || text[:len(got)] != got {
			t.Errorf("cut to %d bytes: %q", n, got)
		}
		want := got
		if n < len(text) {
			want += "…"
		}
		if clipped := scan.Clip(text, n); clipped != want {
			t.Errorf("clipped to %d bytes: %q", n, clipped)
		}
	}
}

// An object is passed as it stands, whatever its texts hold; what is no object is not.
func TestObjectIsPassedAsItStands(t *testing.T) {
	for text, want := range map[string]string{ //order:each is judged by itself
		`{},x`: `{}`, `{"a":{"b":[1,{}]}}}`: `{"a":{"b":[1,{}]}}`, `{"}":"\"}{"}x`: `{"}":"\"}{"}`,
		``: "", `[{}]`: "", `null`: "", `"{}"`: "", `{`: "", `{"a":"`: "", `}`: "", `{{}`: "",
	} {
		d, _ := scan.New([]byte(text))
		if got, ok := d.Object(); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
}
