package syntax

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// MaxFileBytes bounds the size of a module that is read.
const MaxFileBytes = 16 << 20

type lexer struct {
	file      string
	src       string
	off       int
	line, col int
	lastLine  int
	comments  []string
	errs      Errors
}

// lex splits src into tokens, beginning at its first "---- MODULE", or at that of the module name.
func lex(file, src, name string) ([]Token, Errors) {
	l := &lexer{file: file, src: src, line: 1, col: 1}
	start := moduleStart(src, name)
	if start < 0 {
		return nil, Errors{{File: file, Pos: Pos{1, 1}, Msg: "expected '---- MODULE " + cmp.Or(name, "name") + " ----', found none"}}
	}
	l.skipTo(start)
	var toks []Token
	depth := 0
	for {
		t := l.next()
		toks = append(toks, t)
		if t.Kind == EOF {
			break
		}
		if t.Kind == Word && t.Text == "MODULE" && len(toks) > 1 && toks[len(toks)-2].Kind == Separator {
			depth++
		}
		if t.Kind == EndModule {
			if depth--; depth <= 0 {
				toks = append(toks, Token{Kind: EOF, Pos: t.Pos, Off: t.End, End: t.End})
				break
			}
		}
		if len(l.errs) >= MaxErrors {
			break
		}
	}
	return toks, l.errs
}

func moduleStart(src, name string) int {
	at := 0
	for {
		i := strings.Index(src[at:], "MODULE")
		if i < 0 {
			return -1
		}
		j := at + i
		k := j
		for k > 0 && (src[k-1] == ' ' || src[k-1] == '\t') {
			k--
		}
		d := k
		for d > 0 && src[d-1] == '-' {
			d--
		}
		if after := strings.TrimLeft(src[j+6:], " \t"); k-d >= 4 && strings.HasPrefix(after, name) &&
			(name == "" || len(after) > len(name) && !isWordByte(after[len(name)])) {
			return d
		}
		at = j + 6
	}
}

func (l *lexer) skipTo(off int) {
	for l.off < off {
		l.advance()
	}
}

func (l *lexer) advance() {
	switch c := l.src[l.off]; {
	case c == '\n':
		l.line, l.col = l.line+1, 1
		l.off++
	case c == '\t':
		l.col = (l.col-1)/8*8 + 9
		l.off++
	case c < utf8.RuneSelf:
		l.col++
		l.off++
	default:
		_, n := utf8.DecodeRuneInString(l.src[l.off:])
		l.off += n
		l.col++
	}
}

func (l *lexer) fail(p Pos, msg string) {
	if len(l.errs) < MaxErrors {
		l.errs = append(l.errs, &Error{File: l.file, Pos: p, Msg: msg})
	}
}

// skipSpace passes white space and comments and keeps the text of the latter.
func (l *lexer) skipSpace() {
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '\f':
			l.advance()
		case strings.HasPrefix(rest, "\\*"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.comments = append(l.comments, strings.TrimRight(rest[:end], "\r"))
			l.skipTo(l.off + end)
		case strings.HasPrefix(rest, "(*"):
			l.blockComment()
		case strings.HasPrefix(rest, "\ufeff"):
			l.off += len("\ufeff")
		default:
			return
		}
	}
}

func (l *lexer) blockComment() {
	start, p := l.off, Pos{l.line, l.col}
	depth := 0
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		switch {
		case strings.HasPrefix(rest, "(*"):
			depth++
			l.skipTo(l.off + 2)
		case strings.HasPrefix(rest, "*)"):
			depth--
			l.skipTo(l.off + 2)
			if depth == 0 {
				l.comments = append(l.comments, l.src[start:l.off])
				return
			}
		default:
			l.advance()
		}
	}
	l.fail(p, "comment opened here is never closed, expected '*)'")
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (l *lexer) next() Token {
	l.comments = nil
	l.skipSpace()
	t := Token{Pos: Pos{l.line, l.col}, Off: l.off, Comments: l.comments, FirstOn: l.line != l.lastLine}
	l.lastLine = l.line
	if l.off >= len(l.src) {
		t.Kind, t.End = EOF, l.off
		return t
	}
	rest := l.src[l.off:]
	switch c := rest[0]; {
	case c == '"':
		l.stringToken(&t)
	case isWordByte(c) && !(c == '_' && (len(rest) == 1 || !isWordByte(rest[1]))):
		l.wordToken(&t)
	case run(rest, '-') >= 4:
		t.Kind, t.Text = Separator, "----"
		l.skipTo(l.off + run(rest, '-'))
	case run(rest, '=') >= 4:
		t.Kind, t.Text = EndModule, "===="
		l.skipTo(l.off + run(rest, '='))
	default:
		l.symbolToken(&t)
	}
	t.End = l.off
	return t
}

func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

func (l *lexer) stringToken(t *Token) {
	t.Kind = String
	var b strings.Builder
	l.advance()
	for l.off < len(l.src) {
		c := l.src[l.off]
		switch {
		case c == '"':
			l.advance()
			t.Text = b.String()
			return
		case c == '\n':
			l.fail(t.Pos, "string is not closed on its line, expected '\"'")
			t.Text = b.String()
			return
		case c == '\\' && l.off+1 < len(l.src) && l.src[l.off+1] != '\n':
			switch e := l.src[l.off+1]; e {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case 'f':
				b.WriteByte('\f')
			default:
				b.WriteByte(e)
			}
			l.skipTo(l.off + 2)
		default:
			b.WriteByte(c)
			l.off++
			if c&0xC0 != 0x80 {
				l.col++
			}
		}
	}
	l.fail(t.Pos, "string is never closed, expected '\"'")
}

func (l *lexer) wordToken(t *Token) {
	rest := l.src[l.off:]
	n, digits := 0, true
	for n < len(rest) && isWordByte(rest[n]) {
		if rest[n] < '0' || rest[n] > '9' {
			digits = false
		}
		n++
	}
	text := rest[:n]
	switch {
	case strings.HasPrefix(text, "WF_") || strings.HasPrefix(text, "SF_"):
		t.Kind, text = Word, text[:3]
		n = 3
	case digits:
		t.Kind = Number
		if n+1 < len(rest) && rest[n] == '.' && rest[n+1] >= '0' && rest[n+1] <= '9' {
			n++
			for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			text = rest[:n]
		}
	case words[text]:
		t.Kind = Word
	default:
		t.Kind = Ident
	}
	t.Text = text
	l.skipTo(l.off + n)
}

func (l *lexer) symbolToken(t *Token) {
	rest := l.src[l.off:]
	t.Kind = Symbol
	if rest[0] == '\\' && len(rest) > 1 && (rest[1] >= 'a' && rest[1] <= 'z' || rest[1] >= 'A' && rest[1] <= 'Z') {
		l.backslashToken(t)
		return
	}
	if rest[0] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(rest)
		text := string(r)
		if strings.HasPrefix(rest[n:], "_") && text == "⟩" {
			text, n = "⟩_", n+1
		}
		if c, ok := canonical[text]; ok {
			t.Text = c
		} else {
			switch text {
			case "ℕ":
				t.Kind, t.Text = Ident, "Nat"
			case "ℤ":
				t.Kind, t.Text = Ident, "Int"
			case "ℝ":
				t.Kind, t.Text = Ident, "Real"
			default:
				l.fail(t.Pos, "unexpected character "+text)
				t.Text = text
			}
		}
		l.skipTo(l.off + n)
		return
	}
	best := ""
	for _, s := range symbols {
		if len(s) > len(best) && strings.HasPrefix(rest, s) {
			best = s
		}
	}
	if best == "" {
		l.fail(t.Pos, "unexpected character '"+rest[:1]+"'")
		l.advance()
		t.Text = rest[:1]
		return
	}
	t.Text = best
	if c, ok := canonical[best]; ok {
		t.Text = c
	}
	l.skipTo(l.off + len(best))
}

func (l *lexer) backslashToken(t *Token) {
	rest := l.src[l.off:]
	if radix(rest[1]) && len(rest) > 2 && isHex(rest[2]) && !longerWord(rest) {
		n := 2
		for n < len(rest) && isHex(rest[n]) {
			n++
		}
		t.Kind, t.Text = Number, rest[:n]
		l.skipTo(l.off + n)
		return
	}
	n := 1
	for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z') {
		n++
	}
	word := rest[:n]
	for !knownWord(word) && len(word) > 2 {
		word = word[:len(word)-1]
	}
	if !knownWord(word) {
		l.fail(t.Pos, "unknown operator "+rest[:n])
		word = rest[:n]
	}
	t.Text = word
	if c, ok := canonical[word]; ok {
		t.Text = c
	}
	l.skipTo(l.off + len(word))
}

func radix(c byte) bool {
	return c == 'b' || c == 'B' || c == 'o' || c == 'O' || c == 'h' || c == 'H'
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func longerWord(rest string) bool {
	n := 1
	for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z') {
		n++
	}
	return n > 2 && knownWord(rest[:n])
}

func knownWord(w string) bool {
	if _, ok := infixOps[w]; ok {
		return true
	}
	if _, ok := canonical[w]; ok {
		return true
	}
	return w == "\\A" || w == "\\E" || w == "\\AA" || w == "\\EE" || w == "\\in"
}
