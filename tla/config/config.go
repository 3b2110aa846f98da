// Package config reads TLC configuration files.
package config

import (
	"fmt"
	"os"
	"strings"
)

// Term is a value written in a configuration: a number, string, boolean, model value, or a set or
// tuple of terms.
type Term struct {
	Kind  Kind
	Text  string
	Elems []Term
}

// Kind classifies a Term.
type Kind int

// Kinds of terms.
const (
	Number Kind = iota
	String
	Boolean
	Model
	Set
	Tuple
)

// Constant is one entry of CONSTANTS: an assigned value, or with Def a replacing definition. Module
// is set for Name <- [Module] Def and Name = [Module] value.
type Constant struct {
	Name   string
	Value  *Term
	Def    string
	Module string
	Line   int
}

// Config is a configuration file.
type Config struct {
	File                string
	Constants           []Constant
	Init, Next, Spec    string
	Invariants          []string
	Properties          []string
	Constraints         []string
	ActionConstraints   []string
	Symmetry            []string
	View                string
	Alias               string
	Postcondition       string
	CheckDeadlock       bool
	CheckDeadlockStated bool
	// Words lists names and strings in order of appearance.
	Words []string
}

// Error is a fault of a configuration with its place.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

// Error renders file:line:column: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

const (
	maxBytes = 4 << 20
	maxDepth = 200
)

// ParseFile reads the configuration in the file named path.
func ParseFile(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("read configuration %s: larger than %d bytes", path, maxBytes)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	return Parse(path, string(src))
}

var sections = map[string]bool{}

func init() {
	for _, s := range strings.Fields(`CONSTANT CONSTANTS INIT NEXT SPECIFICATION INVARIANT INVARIANTS PROPERTY
		PROPERTIES CONSTRAINT CONSTRAINTS ACTION_CONSTRAINT ACTION_CONSTRAINTS SYMMETRY VIEW ALIAS
		POSTCONDITION CHECK_DEADLOCK TYPE TYPE_CONSTRAINT _PERIODIC`) {
		sections[s] = true
	}
}

type parser struct {
	cfg  *Config
	toks []token
	at   int
	seen map[string]bool
}

// Parse parses the text of a configuration.
func Parse(file, src string) (cfg *Config, err error) {
	toks, err := lex(file, src)
	if err != nil {
		return nil, err
	}
	p := &parser{cfg: &Config{File: file, CheckDeadlock: true}, toks: toks, seen: map[string]bool{}}
	for p.peek().kind != eof {
		if err := p.section(); err != nil {
			return nil, err
		}
	}
	return p.cfg, nil
}

func (p *parser) peek() token { return p.toks[p.at] }

func (p *parser) take() token {
	t := p.toks[p.at]
	if t.kind != eof {
		p.at++
	}
	if (t.kind == word || t.kind == str) && !p.seen[t.text] {
		p.seen[t.text] = true
		p.cfg.Words = append(p.cfg.Words, t.text)
	}
	return t
}

func (p *parser) fail(t token, format string, args ...any) error {
	return &Error{p.cfg.File, t.line, t.col, fmt.Sprintf(format, args...)}
}

func (p *parser) name(what string) (string, error) {
	t := p.take()
	if t.kind != word || sections[t.text] {
		return "", p.fail(t, "expected %s, found %s", what, t.describe())
	}
	return t.text, nil
}

func (p *parser) names() []string {
	var out []string
	for p.peek().kind == word && !sections[p.peek().text] {
		out = append(out, p.take().text)
		if p.peek().text == "," {
			p.at++
		}
	}
	return out
}

func (p *parser) section() error {
	t := p.take()
	if t.kind != word || !sections[t.text] {
		return p.fail(t, "expected a statement such as SPECIFICATION or CONSTANTS, found %s", t.describe())
	}
	c := p.cfg
	single := map[string]*string{"INIT": &c.Init, "NEXT": &c.Next, "SPECIFICATION": &c.Spec, "VIEW": &c.View, "ALIAS": &c.Alias, "POSTCONDITION": &c.Postcondition}
	many := map[string]*[]string{
		"INVARIANT": &c.Invariants, "INVARIANTS": &c.Invariants, "PROPERTY": &c.Properties,
		"PROPERTIES": &c.Properties, "CONSTRAINT": &c.Constraints, "CONSTRAINTS": &c.Constraints,
		"ACTION_CONSTRAINT": &c.ActionConstraints, "ACTION_CONSTRAINTS": &c.ActionConstraints, "SYMMETRY": &c.Symmetry,
	}
	switch {
	case single[t.text] != nil:
		n, err := p.name("a name after " + t.text)
		if err != nil {
			return err
		}
		if *single[t.text] != "" {
			return p.fail(t, "%s is stated twice", t.text)
		}
		*single[t.text] = n
	case many[t.text] != nil:
		*many[t.text] = append(*many[t.text], p.names()...)
	case t.text == "CHECK_DEADLOCK":
		v := p.take()
		if v.text != "TRUE" && v.text != "FALSE" {
			return p.fail(v, "expected TRUE or FALSE after CHECK_DEADLOCK, found %s", v.describe())
		}
		c.CheckDeadlock, c.CheckDeadlockStated = v.text == "TRUE", true
	case strings.HasPrefix(t.text, "CONSTANT"):
		return p.constants()
	default:
		p.names()
	}
	return nil
}

func (p *parser) constants() error {
	for p.peek().kind == word && !sections[p.peek().text] || p.peek().kind == symbol && p.peek().text != "," {
		t := p.take()
		k := Constant{Name: t.text, Line: t.line}
		switch op := p.take(); op.text {
		case "=":
			if p.peek().text == "[" && p.at+2 < len(p.toks) && p.toks[p.at+2].text == "]" {
				p.at++
				k.Module = p.take().text
				p.at++
			}
			v, err := p.term(0)
			if err != nil {
				return err
			}
			k.Value = &v
		case "<-":
			if p.peek().text == "[" {
				p.at++
				m, err := p.name("a module name after '['")
				if err != nil {
					return err
				}
				k.Module = m
				if e := p.take(); e.text != "]" {
					return p.fail(e, "expected ']', found %s", e.describe())
				}
			}
			d := p.take()
			if d.kind == eof || sections[d.text] {
				return p.fail(d, "expected a definition's name after '<-', found %s", d.describe())
			}
			k.Def = d.text
		default:
			return p.fail(op, "expected '=' or '<-' after %s, found %s", t.text, op.describe())
		}
		p.cfg.Constants = append(p.cfg.Constants, k)
		if p.peek().text == "," {
			p.at++
		}
	}
	return nil
}

func (p *parser) term(depth int) (Term, error) {
	t := p.take()
	if depth > maxDepth {
		return Term{}, p.fail(t, "value is nested deeper than %d", maxDepth)
	}
	switch {
	case t.kind == number:
		return Term{Kind: Number, Text: t.text}, nil
	case t.kind == str:
		return Term{Kind: String, Text: t.text}, nil
	case t.text == "TRUE" || t.text == "FALSE":
		return Term{Kind: Boolean, Text: t.text}, nil
	case t.kind == word && !sections[t.text]:
		return Term{Kind: Model, Text: t.text}, nil
	case t.text == "{":
		return p.list(Set, "}", depth)
	case t.text == "<<":
		return p.list(Tuple, ">>", depth)
	}
	return Term{}, p.fail(t, "expected a value, found %s", t.describe())
}

func (p *parser) list(kind Kind, end string, depth int) (Term, error) {
	out := Term{Kind: kind}
	if p.peek().text == end && p.peek().kind == symbol {
		p.at++
		return out, nil
	}
	for {
		v, err := p.term(depth + 1)
		if err != nil {
			return out, err
		}
		out.Elems = append(out.Elems, v)
		t := p.take()
		if t.kind == symbol && t.text == end {
			return out, nil
		}
		if t.text != "," {
			return out, p.fail(t, "expected ',' or '%s', found %s", end, t.describe())
		}
	}
}
