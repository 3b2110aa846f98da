package syntax

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// MaxErrors bounds the faults reported for one module, MaxDepth the nesting of its expressions.
const (
	MaxErrors = 20
	MaxDepth  = 2000
)

type parser struct {
	file  string
	src   string
	toks  []Token
	at    int
	proof bool // a statement that a proof may follow is being parsed
	limit int  // tokens at or left of this column end the current junction item; 0 is none
	depth int
	errs  Errors
}

// bail unwinds to the recovery point after an error has been recorded.
type bail struct{}

// Holds reports whether src contains a module called name at its outermost level.
func Holds(src, name string) bool { return moduleStart(src, name) >= 0 }

// ParseFile reads and parses the module in the file named path.
func ParseFile(path string) (*Module, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", path, err)
	}
	if info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("read module %s: larger than %d bytes", path, MaxFileBytes)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read module %s: %w", path, err)
	}
	text := string(src)
	// A file may hold several modules; the one it is named after counts.
	name := strings.TrimSuffix(filepath.Base(path), ".tla")
	if !Holds(text, name) {
		name = ""
	}
	return ParseModule(path, text, name)
}

// Parse parses the first module of src. The error is of type Errors.
func Parse(file, src string) (*Module, error) { return ParseModule(file, src, "") }

// ParseModule parses the module called name among several in src; with an empty name the first.
func ParseModule(file, src, name string) (*Module, error) {
	toks, errs := lex(file, src, name)
	if len(errs) > 0 {
		return nil, errs
	}
	p := &parser{file: file, src: src, toks: toks}
	m := p.module()
	if len(p.errs) > 0 {
		sort.SliceStable(p.errs, func(i, j int) bool {
			a, b := p.errs[i].Pos, p.errs[j].Pos
			return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
		})
		return nil, p.errs
	}
	seen := map[string]bool{}
	for _, t := range toks {
		if (t.Kind == String || t.Kind == Ident) && !seen[t.Text] {
			seen[t.Text] = true
			m.Strings = append(m.Strings, t.Text)
		}
	}
	return m, nil
}

// ParseExpr parses one expression, as on a command line.
func ParseExpr(src string) (Expr, error) {
	m, err := Parse("expression", "---- MODULE E ----\nE == "+src+"\n====")
	if err != nil {
		return nil, err
	}
	if len(m.Units) == 1 {
		if d, ok := m.Units[0].(*Def); ok {
			return d.Body, nil
		}
	}
	return nil, errors.New("parse expression: expected one expression")
}

func (p *parser) raw() Token {
	if p.at < len(p.toks) {
		return p.toks[p.at]
	}
	// The last token is the end of the file; looking further finds it again.
	return p.toks[len(p.toks)-1]
}

// peek returns the next token, or an end marker when the column rule ends the current item.
func (p *parser) peek() Token {
	t := p.raw()
	if p.limit > 0 && t.Pos.Col <= p.limit && t.Kind != EOF {
		return Token{Kind: EOF, Text: "item-end", Pos: t.Pos}
	}
	if p.proof && t.FirstOn && t.Kind == Symbol && t.Text == "<" && p.peekAt(2).Text == ">" {
		return Token{Kind: EOF, Text: "item-end", Pos: t.Pos}
	}
	return t
}

func (p *parser) peekAt(n int) Token {
	if p.at+n < len(p.toks) {
		return p.toks[p.at+n]
	}
	return Token{Kind: EOF}
}

func (p *parser) take() Token {
	t := p.raw()
	if p.at < len(p.toks) {
		p.at++
	}
	return t
}

func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.Kind == Symbol || t.Kind == Word) && t.Text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) failAt(pos Pos, format string, args ...any) {
	if len(p.errs) < MaxErrors {
		p.errs = append(p.errs, &Error{File: p.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
	}
	panic(bail{})
}

func (p *parser) expected(what string) {
	t := p.peek()
	if t.Text == "item-end" {
		t = p.raw()
		p.failAt(t.Pos, "expected %s, found %s at or left of the enclosing list's column", what, t.describe())
	}
	p.failAt(t.Pos, "expected %s, found %s", what, t.describe())
}

func (p *parser) need(text string) Token {
	if !p.is(text) {
		p.expected("'" + text + "'")
	}
	return p.take()
}

func (p *parser) ident(what string) string {
	if t := p.peek(); t.Kind == Ident {
		p.at++
		return t.Text
	}
	p.expected(what)
	return ""
}

// module parses "---- MODULE name ---- … ====".
func (p *parser) module() (m *Module) {
	m = &Module{File: p.file}
	defer p.recoverTo(func() {})
	if p.raw().Kind != Separator {
		p.expected("separator line ---- before MODULE")
	}
	m.P = p.take().Pos
	p.need("MODULE")
	m.Name = p.ident("module name")
	if p.raw().Kind != Separator {
		p.expected("separator line ---- after the module name")
	}
	p.take()
	if p.accept("EXTENDS") {
		for {
			m.Extends = append(m.Extends, p.ident("module name after EXTENDS"))
			if !p.accept(",") {
				break
			}
		}
	}
	for p.raw().Kind != EndModule {
		if p.raw().Kind == EOF {
			p.expected("a definition or the module's end ====")
		}
		before := p.at
		p.unitWithRecovery(m)
		if p.at == before {
			p.at++
		}
		if len(p.errs) >= MaxErrors {
			return m
		}
	}
	p.take()
	return m
}

func (p *parser) recoverTo(f func()) {
	if r := recover(); r != nil {
		if _, ok := r.(bail); !ok {
			panic(r)
		}
		f()
	}
}

func (p *parser) unitWithRecovery(m *Module) {
	defer p.recoverTo(func() {
		p.limit, p.depth = 0, 0
		p.sync()
	})
	p.limit, p.depth = 0, 0
	if u := p.unit(); u != nil {
		m.Units = append(m.Units, u)
	}
}

// sync skips to the next token that can begin a unit at the left margin.
func (p *parser) sync() {
	p.at++
	for p.at < len(p.toks) {
		t := p.raw()
		if t.Kind == EndModule || t.Kind == EOF || t.Kind == Separator {
			return
		}
		if t.FirstOn && t.Pos.Col <= 2 && p.startsUnit() {
			return
		}
		p.at++
	}
}

// startsUnit reports whether the next tokens look like the head of a unit.
func (p *parser) startsUnit() bool {
	t := p.raw()
	if t.Kind == Word {
		switch t.Text {
		case "THEOREM", "LEMMA", "COROLLARY", "PROPOSITION", "ASSUME", "ASSUMPTION", "AXIOM", "VARIABLE",
			"VARIABLES", "CONSTANT", "CONSTANTS", "RECURSIVE", "INSTANCE", "LOCAL":
			return true
		}
		return false
	}
	if t.Kind != Ident {
		return false
	}
	n := p.peekAt(1)
	switch {
	case n.Text == "==":
		return true
	case n.Kind == Symbol && (n.Text == "(" || n.Text == "["):
		return p.closesBefore(1, "==")
	case n.Kind == Symbol:
		_, in := infixOps[n.Text]
		_, post := postfixOps[n.Text]
		return in && p.peekAt(2).Kind == Ident && p.peekAt(3).Text == "==" || post && p.peekAt(2).Text == "=="
	}
	return false
}

// closesBefore reports whether the bracket at offset n is closed and directly followed by text.
func (p *parser) closesBefore(n int, text string) bool {
	depth := 0
	for i := n; p.at+i < len(p.toks) && i < n+400; i++ {
		switch t := p.peekAt(i); {
		case t.Kind == EOF || t.Kind == EndModule:
			return false
		case opens(t):
			depth++
		case closes(t):
			if depth--; depth == 0 {
				return p.peekAt(i+1).Text == text
			}
		}
	}
	return false
}

func opens(t Token) bool {
	return t.Kind == Symbol && (t.Text == "(" || t.Text == "[" || t.Text == "{" || t.Text == "<<")
}

func closes(t Token) bool {
	return t.Kind == Symbol && (t.Text == ")" || t.Text == "]" || t.Text == "]_" || t.Text == "}" ||
		t.Text == ">>" || t.Text == ">>_")
}

func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.failAt(p.raw().Pos, "expression is nested deeper than %d", MaxDepth)
	}
}

func (p *parser) leave() { p.depth-- }
