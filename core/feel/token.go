package feel

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind classifies a token of the source text.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenQuotedName // in backticks: never a keyword or a built-in
	tokenNumber
	tokenString
	tokenAt     // @"…"; text is the content
	tokenSymbol // operators and brackets; text is the symbol
)

type token struct {
	kind tokenKind
	text string // decoded: a string without quotes and escapes
	pos  int    // byte offset of its first character
}

// is reports whether the token is this symbol.
func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

// word reports whether the token is this keyword or name.
func (t token) word(name string) bool { return t.kind == tokenName && t.text == name }

// String names the token in an error.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return "string " + quote(t.text)
	case tokenAt:
		return "literal @" + quote(t.text)
	case tokenNumber:
		return "number " + t.text
	case tokenName, tokenQuotedName:
		return "name " + strconv.Quote(t.text)
	case tokenSymbol:
		return strconv.Quote(t.text)
	}
	return "token"
}

// lexer cuts a source into tokens. The whole text is cut before it is parsed, which lets the parser look
// ahead as far as it needs (names of several words, named arguments) without state.
type lexer struct {
	source string
	pos    int
	tokens []token
}

func tokenize(source string) ([]token, *Error) {
	if len(source) > MaxSource {
		return nil, errorAt(source, 0, "the expression has %d bytes, more than %d", len(source), MaxSource)
	}
	if !utf8.ValidString(source) {
		return nil, errorAt(source, invalidOffset(source), "the text is not valid UTF-8")
	}
	l := &lexer{source: source}
	for {
		if err := l.skipBlank(); err != nil {
			return nil, err
		}
		if l.pos == len(source) {
			l.add(tokenEnd, "", l.pos)
			return l.tokens, nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
	}
}

func invalidOffset(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}

func (l *lexer) add(kind tokenKind, text string, pos int) {
	l.tokens = append(l.tokens, token{kind, text, pos})
}

func (l *lexer) rest() string { return l.source[l.pos:] }

// skipBlank passes blanks and comments.
func (l *lexer) skipBlank() *Error {
	for l.pos < len(l.source) {
		rest := l.rest()
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			l.pos += size
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.pos += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errorAt(l.source, l.pos, "the comment does not end")
			}
			l.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) next() *Error {
	rest := l.rest()
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case isDigit(r) || r == '.' && len(rest) > 1 && isDigit(rune(rest[1])):
		return l.number()
	case nameStart(r):
		end := strings.IndexFunc(rest, func(r rune) bool { return !namePart(r) })
		if end < 0 {
			end = len(rest)
		}
		l.add(tokenName, rest[:end], l.pos)
		l.pos += end
		return nil
	case r == '`':
		return l.quotedName()
	case r == '"':
		return l.str(tokenString, l.pos)
	case strings.HasPrefix(rest, `@"`):
		start := l.pos
		l.pos++
		return l.str(tokenAt, start)
	}
	return l.symbol()
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func nameStart(r rune) bool { return r == '_' || r == '?' || unicode.IsLetter(r) }

func namePart(r rune) bool {
	return nameStart(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

func (l *lexer) digits() {
	for l.pos < len(l.source) && isDigit(rune(l.source[l.pos])) {
		l.pos++
	}
}

// number reads digits, an optional fraction and an optional exponent. "1..2" is a number and a range.
func (l *lexer) number() *Error {
	start := l.pos
	l.digits()
	if rest := l.rest(); len(rest) > 1 && rest[0] == '.' && isDigit(rune(rest[1])) {
		l.pos++
		l.digits()
	}
	if rest := l.rest(); rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		digits := strings.TrimLeft(rest[1:], "+-")
		if len(rest)-1-len(digits) <= 1 && digits != "" && isDigit(rune(digits[0])) {
			l.pos += len(rest) - len(digits)
			l.digits()
		}
	}
	text := l.source[start:l.pos]
	if r, _ := utf8.DecodeRuneInString(l.rest()); l.pos < len(l.source) && nameStart(r) {
		return errorAt(l.source, l.pos, "%q directly after number %s", string(r), text)
	}
	l.add(tokenNumber, text, start)
	return nil
}

func (l *lexer) quotedName() *Error {
	end := strings.IndexByte(l.rest()[1:], '`')
	if end < 0 {
		return errorAt(l.source, l.pos, "the name does not end: a backtick is missing")
	}
	text := l.rest()[1 : end+1]
	if strings.TrimSpace(text) == "" {
		return errorAt(l.source, l.pos, "the name between the backticks is empty")
	}
	l.add(tokenQuotedName, text, l.pos)
	l.pos += end + 2
	return nil
}

// str reads the string literal at l.pos; start is where its token begins.
func (l *lexer) str(kind tokenKind, start int) *Error {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.source); {
		switch c := l.source[i]; c {
		case '"':
			l.add(kind, b.String(), start)
			l.pos = i + 1
			return nil
		case '\\':
			text, size := unescape(l.source[i:])
			b.WriteString(text)
			i += size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return errorAt(l.source, start, "the string does not end: a quote is missing")
}

// unescape decodes the escape at the start of s and returns its text and length. An unknown one stands
// for itself.
func unescape(s string) (text string, size int) {
	if len(s) < 2 {
		return s, len(s)
	}
	switch s[1] {
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case '"', '\'', '\\':
		return s[1:2], 2
	case 'u':
		return unescapeHex(s, 4)
	case 'U':
		return unescapeHex(s, 6)
	}
	return s[:1], 1
}

// unescapeHex decodes \uXXXX (joining a surrogate pair) or \UXXXXXX.
func unescapeHex(s string, digits int) (text string, size int) {
	first, ok := hex(s, digits)
	if !ok {
		return s[:1], 1
	}
	size = 2 + digits
	if first >= 0xD800 && first < 0xDC00 && strings.HasPrefix(s[size:], `\u`) {
		if second, ok := hex(s[size:], 4); ok && second >= 0xDC00 && second < 0xE000 {
			return string((first-0xD800)<<10 + (second - 0xDC00) + 0x10000), size + 6
		}
	}
	if !utf8.ValidRune(first) {
		return s[:1], 1
	}
	return string(first), size
}

func hex(s string, digits int) (rune, bool) {
	if len(s) < 2+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	return rune(n), err == nil && n <= unicode.MaxRune
}

// symbol reads the longest operator or bracket.
func (l *lexer) symbol() *Error {
	symbols := [...]string{
		"**", "..", "<=", ">=", "!=", "->",
		"(", ")", "[", "]", "{", "}", ",", ":", ".", "+", "-", "*", "/", "=", "<", ">",
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.rest(), s) {
			l.add(tokenSymbol, s, l.pos)
			l.pos += len(s)
			return nil
		}
	}
	r, _ := utf8.DecodeRuneInString(l.rest())
	return errorAt(l.source, l.pos, "unexpected character %q", r)
}
