package scan_test

import (
	"encoding/json"
	"testing"

	"github.com/millrace-dev/millrace/core/scan"
)

// Every byte and every kind of rune is written as encoding/json writes it, and read back.
func TestTextIsWhatEncodingJSONWrites(t *testing.T) {
	texts := []string{"", "plain", "é", "\u2028\u2029", "\U0001F600", "\xff", "a\xc3", "<b> & \"c\" \\"}
	for c := range 256 {
		texts = append(texts, "before"+string([]byte{byte(c)})+"after")
	}
	for _, text := range texts {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := scan.AppendText([]byte("x"), text)
		if string(got) != "x"+string(want) {
			t.Errorf("%q is written %s, want %s", text, got[1:], want)
		}
		var back string
		if err := json.Unmarshal(want, &back); err != nil {
			t.Fatal(err)
		}
		d, valid := scan.New(want)
		if read, ok := d.Text(); !valid || !ok || !d.Ended() || read != back {
			t.Errorf("%s is read %q, %v, want %q", want, read, ok, back)
		}
	}
}

func TestTextRefuses(t *testing.T) {
	for _, text := range []string{"", "x", `"`, `"abc`, `"a\`, `"a\"`, `"\q"`, "\"a\nb\"", `"\ud8"`} {
		d, _ := scan.New([]byte(text))
		if read, ok := d.Text(); ok {
			t.Errorf("%q is read %q", text, read)
		}
	}
	if _, valid := scan.New([]byte("\xff")); valid {
		t.Error("what is no UTF-8 is known")
	}
}

// A number is passed exactly when encoding/json knows it, and as far.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "-0", "12": "12", "-1.50": "-1.50", "1e9": "1e9", "1E+9": "1E+9", "2.5e-3": "2.5e-3", "01": "0", "1.": "", "-": "", ".5": "",
		"1e": "", "1e+": "", "+1": "", "": "", "9x": "9", "0x1": "0",
	} {
		d, _ := scan.New([]byte(text))
		got, ok := d.Number()
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is read %q, %v, want %q", text, got, ok, want)
		}
		if ok && json.Valid([]byte(text)) != d.Ended() {
			t.Errorf("%q ends at another place than in encoding/json", text)
		}
	}
	for text, want := range map[string]uint64{"0": 0, "7": 7, "9999999999999999999": 9999999999999999999} {
		d, _ := scan.New([]byte(text))
		if n, ok := d.Uint(); !ok || n != want || !d.Ended() {
			t.Errorf("%s is read %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "x", "00", "01", "-1", "10000000000000000000"} {
		d, _ := scan.New([]byte(text))
		if n, ok := d.Uint(); ok {
			t.Errorf("%q is read as the number %d", text, n)
		}
	}
}

func TestLiteralAndBlank(t *testing.T) {
	d, _ := scan.New([]byte(" \t\r\nab"))
	d.Blank()
	if d.Next() != 'a' || d.Literal("b") || !d.Literal("a") || d.Ended() || !d.Literal("b") || !d.Ended() || d.Next() != 0 {
		t.Error("a text is not passed as it stands")
	}
}
