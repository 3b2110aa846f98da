package scan

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Document is a text that is read from its beginning. Every method that says no may leave it anywhere: the reading is over.
type Document struct {
	text string
	at   int
}

// New returns a document. Text that is not valid UTF-8 is not known: encoding/json would replace parts of it.
func New(text []byte) (*Document, bool) {
	return &Document{text: string(text)}, utf8.Valid(text)
}

// Ended reports that everything was read.
func (d *Document) Ended() bool { return d.at == len(d.text) }

// Blank passes white space.
func (d *Document) Blank() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
			d.at++
		default:
			return
		}
	}
}

// Next returns the next byte without passing it; 0 stands for the end as well.
func (d *Document) Next() byte {
	if d.at == len(d.text) {
		return 0
	}
	return d.text[d.at]
}

// Literal passes exactly this text, if it comes next.
func (d *Document) Literal(text string) bool {
	if !strings.HasPrefix(d.text[d.at:], text) {
		return false
	}
	d.at += len(text)
	return true
}

// Text passes a string. What it returns may share the memory of the document.
func (d *Document) Text() (string, bool) {
	if d.Next() != '"' {
		return "", false
	}
	for end := d.at + 1; end < len(d.text); end++ {
		switch c := d.text[end]; {
		case c == '"':
			text := d.text[d.at+1 : end]
			d.at = end + 1
			return text, true
		case c == '\\':
			return d.escaped(end)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped passes a string whose first escape is at a place.
func (d *Document) escaped(at int) (text string, ok bool) {
	for end := at; end < len(d.text); end++ {
		switch d.text[end] {
		case '\\':
			end++
		case '"':
			ok = json.Unmarshal([]byte(d.text[d.at:end+1]), &text) == nil
			d.at = end + 1
			return text, ok
		}
	}
	return "", false
}

// Object passes an object and returns it as it stands: only its texts and braces are looked at.
func (d *Document) Object() (string, bool) {
	from, depth := d.at, 0
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case '"':
			if _, ok := d.Text(); !ok {
				return "", false
			}
			continue
		case '{':
			depth++
		case '}':
			depth--
		}
		d.at++
		if depth == 0 {
			text := d.text[from:d.at]
			return text, text[0] == '{'
		}
	}
	return "", false
}

// Uint passes a number without sign, point and exponent, of at most 19 digits.
func (d *Document) Uint() (n uint64, ok bool) {
	from := d.at
	for d.at < len(d.text) && isDigit(d.text[d.at]) {
		n = 10*n + uint64(d.text[d.at]-'0')
		d.at++
	}
	digits := d.at - from
	return n, digits > 0 && digits <= 19 && (digits == 1 || d.text[from] != '0')
}

// Number passes a number of any form that JSON has.
func (d *Document) Number() (string, bool) {
	from := d.at
	d.Literal("-")
	if !d.Literal("0") && !d.digits() {
		return "", false
	}
	if d.Literal(".") && !d.digits() {
		return "", false
	}
	if d.Literal("e") || d.Literal("E") {
		if !d.Literal("+") {
			d.Literal("-")
		}
		if !d.digits() {
			return "", false
		}
	}
	return d.text[from:d.at], true
}

func (d *Document) digits() bool {
	from := d.at
	for d.at < len(d.text) && isDigit(d.text[d.at]) {
		d.at++
	}
	return d.at > from
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// AppendText appends a string as encoding/json writes it.
func AppendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return appendEscaped(out, text)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

func appendEscaped(out []byte, text string) []byte {
	escaped, err := json.Marshal(text)
	if err != nil {
		// Every text has a JSON form.
		panic("scan: text without JSON: " + err.Error())
	}
	return append(out, escaped...)
}
