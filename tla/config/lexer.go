package config

import "strings"

type tokenKind int

const (
	eof tokenKind = iota
	word
	number
	str
	symbol
)

type token struct {
	kind      tokenKind
	text      string
	line, col int
}

func (t token) describe() string {
	if t.kind == eof {
		return "end of file"
	}
	return "'" + t.text + "'"
}

func isWord(c byte) bool {
	return c == '_' || c == '!' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// lex splits src into tokens; comments are those of TLA+. What it cannot read is left out and a fault, up to MaxErrors.
func lex(file, src string) (out []token, faults []error) {
	fault := func(at token, msg string) {
		if len(faults) < MaxErrors {
			faults = append(faults, &Error{file, at.line, at.col, msg})
		}
	}
	line, start := 1, 0
	for i := 0; i < len(src); {
		c := src[i]
		at := token{line: line, col: i - start + 1}
		switch {
		case c == '\n':
			line, start = line+1, i+1
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			i++
		case strings.HasPrefix(src[i:], "\\*"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case strings.HasPrefix(src[i:], "(*"):
			end := comment(src[i:])
			if end < 0 {
				fault(at, "comment opened here is never closed, expected '*)'")
				end = len(src) - i
			}
			for range strings.Count(src[i:i+end], "\n") {
				line++
			}
			if k := strings.LastIndexByte(src[i:i+end], '\n'); k >= 0 {
				start = i + k + 1
			}
			i += end
		case strings.HasPrefix(src[i:], "----") || strings.HasPrefix(src[i:], "===="):
			for i < len(src) && (src[i] == '-' || src[i] == '=') {
				i++
			}
		case c == '"':
			j := i + 1
			var b strings.Builder
			for j < len(src) && src[j] != '"' && src[j] != '\n' {
				if src[j] == '\\' && j+1 < len(src) {
					j++
				}
				b.WriteByte(src[j])
				j++
			}
			if j >= len(src) || src[j] != '"' {
				fault(at, "string is not closed on its line, expected '\"'")
				j--
			}
			at.kind, at.text = str, b.String()
			out = append(out, at)
			i = j + 1
		default:
			i = lexWord(src, i, &at)
			out = append(out, at)
		}
	}
	return append(out, token{kind: eof, line: line, col: len(src) - start + 1}), faults
}

func comment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "(*":
			depth++
			i++
		case "*)":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func lexWord(src string, i int, t *token) int {
	j := i
	if src[j] == '-' && j+1 < len(src) && src[j+1] >= '0' && src[j+1] <= '9' {
		j++
	}
	digits := true
	for j < len(src) && isWord(src[j]) {
		if src[j] < '0' || src[j] > '9' {
			digits = digits && j == i && src[j] == '-'
		}
		j++
	}
	if j > i {
		t.kind, t.text = word, src[i:j]
		if digits {
			t.kind = number
		}
		return j
	}
	for _, s := range []string{"<-", "<<", ">>", "\\union", "\\cup", "++", "--", "&&", "||"} {
		if strings.HasPrefix(src[i:], s) {
			t.kind, t.text = symbol, s
			return i + len(s)
		}
	}
	t.kind, t.text = symbol, src[i:i+1]
	if src[i] == '\\' {
		j = i + 1
		for j < len(src) && src[j] >= 'a' && src[j] <= 'z' {
			j++
		}
		t.text = src[i:j]
	}
	return i + len(t.text)
}
