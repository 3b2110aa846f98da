package oneactor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// expression has a value over variables; null is nil, numbers are int64.
type expression func(lookup func(string) any) any

const maxNesting = 32

// parse reads "=expression", or a text that stands for itself.
func parse(text string) (expression, error) {
	body, is := strings.CutPrefix(strings.TrimSpace(text), "=")
	if !is {
		return func(func(string) any) any { return text }, nil
	}
	p := &parser{words: split(body)}
	e, err := p.binary(0)
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%w: %q is left over", ErrFile, p.words[0])
	}
	if err != nil {
		return nil, fmt.Errorf("read expression %q: %w", body, err)
	}
	return e, nil
}

// split cuts a text into words: texts in quotes with their first quote, names and numbers, operators.
func split(text string) []string {
	var words []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := 1
		switch {
		case text[0] == '"':
			end := strings.IndexByte(text[1:], '"')
			if end < 0 {
				return append(words, text)
			}
			words, text = append(words, text[:end+1]), text[end+2:]
			continue
		case wordly(rune(text[0])):
			for n < len(text) && wordly(rune(text[n])) {
				n++
			}
		case len(text) > 1 && text[1] == '=' && strings.ContainsRune("<>!", rune(text[0])):
			n = 2
		}
		words, text = append(words, text[:n]), text[n:]
	}
	return words
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

type parser struct {
	words []string
	depth int
}

// levels are the operators from the loosest to the tightest.
var levels = [][]string{{"or"}, {"and"}, {"=", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*"}}

func (p *parser) next(words ...string) string {
	for _, w := range words {
		if len(p.words) > 0 && p.words[0] == w {
			p.words = p.words[1:]
			return w
		}
	}
	return ""
}

func (p *parser) binary(level int) (expression, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op := p.next(levels[level]...)
		if op == "" {
			break
		}
		var right expression
		if right, err = p.binary(level + 1); err == nil {
			before := left
			left = func(l func(string) any) any { return operate(op, before(l), right(l)) }
		}
	}
	return left, err
}

func (p *parser) unary() (expression, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("%w: nested more than %d levels", ErrFile, maxNesting)
	}
	defer func() { p.depth-- }()
	if p.next("-") != "" {
		e, err := p.unary()
		return func(l func(string) any) any { return operate("-", int64(0), e(l)) }, err
	}
	if p.next("not") != "" {
		e, err := p.unary()
		return func(l func(string) any) any {
			if b, is := e(l).(bool); is {
				return !b
			}
			return nil
		}, err
	}
	if p.next("(") != "" {
		e, err := p.binary(0)
		if err == nil && p.next(")") == "" {
			err = fmt.Errorf("%w: a parenthesis is open", ErrFile)
		}
		return e, err
	}
	return p.atom()
}

func (p *parser) atom() (expression, error) {
	if len(p.words) == 0 {
		return nil, fmt.Errorf("%w: it ends early", ErrFile)
	}
	word := p.words[0]
	p.words = p.words[1:]
	if number, err := strconv.ParseInt(word, 10, 64); err == nil {
		return constant(number), nil
	}
	switch word {
	case "true", "false":
		return constant(word == "true"), nil
	case "null":
		return constant(nil), nil
	}
	if word[0] == '"' {
		return constant(word[1:]), nil
	}
	if !unicode.IsLetter(rune(word[0])) {
		return nil, fmt.Errorf("%w: unexpected %q", ErrFile, word)
	}
	return func(l func(string) any) any { return l(word) }, nil
}

func constant(v any) expression { return func(func(string) any) any { return v } }

// operate follows the standard: what does not fit together is null, and truth has three values.
func operate(op string, a, b any) any {
	switch op {
	case "and", "or":
		return logic(op == "or", a, b)
	case "=", "!=":
		return equal(op == "=", a, b)
	}
	if x, is := a.(int64); is {
		if y, is := b.(int64); is {
			return arithmetic(op, x, y)
		}
		return nil
	}
	x, isText := a.(string)
	y, isToo := b.(string)
	if !isText || !isToo {
		return nil
	}
	if op == "+" {
		return x + y
	}
	return compare(op, strings.Compare(x, y))
}

// logic is and, or: the dominant value wins over null.
func logic(dominant bool, a, b any) any {
	if a == dominant || b == dominant {
		return dominant
	}
	_, x := a.(bool)
	_, y := b.(bool)
	if x && y {
		return !dominant
	}
	return nil
}

// equal compares values of one type; null equals null only, and values of two types have no answer.
func equal(wanted bool, a, b any) any {
	if a != nil && b != nil && fmt.Sprintf("%T", a) != fmt.Sprintf("%T", b) {
		return nil
	}
	return (a == b) == wanted
}

func arithmetic(op string, a, b int64) any {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	default:
		return compare(op, cmp.Compare(a, b))
	}
}

func compare(op string, sign int) any {
	switch op {
	case "<":
		return sign < 0
	case "<=":
		return sign <= 0
	case ">":
		return sign > 0
	case ">=":
		return sign >= 0
	default:
		return nil
	}
}
