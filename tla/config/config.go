// Package config reads TLC configuration files.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Term is a value written in a configuration: a number, string, boolean, model value, or a set or
// tuple of terms.
type Term struct {
	Kind  Kind
	Text  string
	Elems []Term

	Line, Col int
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

	Line, Col       int // of Name
	DefLine, DefCol int // of Def
}

// Name is a definition that a statement names, with its place.
type Name struct {
	Text      string
	Line, Col int
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
	// Names lists the definitions that statements name, in order of appearance.
	Names []Name
	// Words lists names and strings in order of appearance.
	Words []string
}

// Fault is a fault of the configuration at a place in it.
func (c *Config) Fault(line, col int, format string, args ...any) *Error {
	return &Error{c.File, line, col, fmt.Sprintf(format, args...)}
}

// Error is a fault of a configuration with its place.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

// Error renders file:line:column: message.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// MaxErrors bounds the faults reported for one configuration.
const MaxErrors = 20

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
	cfg    *Config
	toks   []token
	at     int
	faults []error
	seen   map[string]bool
}

// Parse parses the text of a configuration. The error joins one of type *Error for each fault, up to MaxErrors.
func Parse(file, src string) (cfg *Config, err error) {
	toks, faults := lex(file, src)
	p := &parser{cfg: &Config{File: file, CheckDeadlock: true}, toks: toks, faults: faults, seen: map[string]bool{}}
	for p.more() {
		start := p.at
		if err := p.section(); err != nil {
			p.resume(err, start, false)
		}
	}
	if len(p.faults) > 0 {
		sortByPlace(p.faults)
		return nil, errors.Join(p.faults...)
	}
	return p.cfg, nil
}

// more reports whether there is anything left to parse.
func (p *parser) more() bool { return p.peek().kind != eof && len(p.faults) < MaxErrors }

// atSection reports whether a statement begins here.
func (p *parser) atSection() bool { return p.peek().kind == word && sections[p.peek().text] }

// resume notes the fault of what began at start and goes on at the next statement, or among constants at the next of them.
func (p *parser) resume(err error, start int, constants bool) {
	p.faults = append(p.faults, err)
	if p.at--; p.at <= start || !p.atSection() { // the statement that stood where something else was expected is read as one
		p.at = max(p.at, start) + 1
	}
	for p.peek().kind != eof && !p.atSection() {
		if next := p.toks[p.at+1].text; constants && p.peek().kind == word && (next == "=" || next == "<-") {
			return
		}
		p.at++
	}
}

// sortByPlace sorts faults of the characters among those of the statements.
func sortByPlace(faults []error) {
	slices.SortStableFunc(faults, func(a, b error) int {
		var one, other *Error
		if !errors.As(a, &one) || !errors.As(b, &other) {
			return 0
		}
		return cmp.Or(cmp.Compare(one.Line, other.Line), cmp.Compare(one.Col, other.Col))
	})
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
	return p.cfg.Fault(t.line, t.col, format, args...)
}

func (p *parser) name(what string) (string, error) {
	t := p.take()
	if t.kind != word || sections[t.text] {
		return "", p.fail(t, "expected %s, found %s", what, t.describe())
	}
	return t.text, nil
}

// named notes a name that must be one of a definition.
func (p *parser) named(t token) string {
	p.cfg.Names = append(p.cfg.Names, Name{t.text, t.line, t.col})
	return t.text
}

func (p *parser) names() []token {
	var out []token
	for p.peek().kind == word && !p.atSection() {
		out = append(out, p.take())
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
		at := p.peek()
		if _, err := p.name("a name after " + t.text); err != nil {
			return err
		}
		if *single[t.text] != "" {
			return p.fail(t, "%s is stated twice", t.text)
		}
		*single[t.text] = p.named(at)
	case many[t.text] != nil:
		for _, n := range p.names() {
			*many[t.text] = append(*many[t.text], p.named(n))
		}
	case t.text == "CHECK_DEADLOCK":
		v := p.take()
		if v.text != "TRUE" && v.text != "FALSE" {
			return p.fail(v, "expected TRUE or FALSE after CHECK_DEADLOCK, found %s", v.describe())
		}
		c.CheckDeadlock, c.CheckDeadlockStated = v.text == "TRUE", true
	case strings.HasPrefix(t.text, "CONSTANT"):
		p.constants()
	default:
		p.names()
	}
	return nil
}

func (p *parser) constants() {
	for p.more() && (p.peek().kind == word && !p.atSection() || p.peek().kind == symbol && p.peek().text != ",") {
		start := p.at
		k, err := p.constant()
		if err != nil {
			p.resume(err, start, true)
			continue
		}
		p.cfg.Constants = append(p.cfg.Constants, k)
		if p.peek().text == "," {
			p.at++
		}
	}
}

// constant parses one entry of CONSTANTS.
func (p *parser) constant() (Constant, error) {
	t := p.take()
	k := Constant{Name: t.text, Line: t.line, Col: t.col}
	switch op := p.take(); op.text {
	case "=":
		if p.peek().text == "[" && p.at+2 < len(p.toks) && p.toks[p.at+2].text == "]" {
			p.at++
			k.Module = p.take().text
			p.at++
		}
		v, err := p.term(0)
		if err != nil {
			return k, err
		}
		k.Value = &v
	case "<-":
		if p.peek().text == "[" {
			p.at++
			m, err := p.name("a module name after '['")
			if err != nil {
				return k, err
			}
			k.Module = m
			if e := p.take(); e.text != "]" {
				return k, p.fail(e, "expected ']', found %s", e.describe())
			}
		}
		d := p.take()
		if d.kind == eof || sections[d.text] {
			return k, p.fail(d, "expected a definition's name after '<-', found %s", d.describe())
		}
		k.Def, k.DefLine, k.DefCol = d.text, d.line, d.col
	default:
		return k, p.fail(op, "expected '=' or '<-' after %s, found %s", t.text, op.describe())
	}
	return k, nil
}

func (p *parser) term(depth int) (Term, error) {
	t := p.take()
	if depth > maxDepth {
		return Term{}, p.fail(t, "value is nested deeper than %d", maxDepth)
	}
	plain := func(kind Kind) (Term, error) { return Term{Kind: kind, Text: t.text, Line: t.line, Col: t.col}, nil }
	switch {
	case t.kind == number:
		return plain(Number)
	case t.kind == str:
		return plain(String)
	case t.text == "TRUE" || t.text == "FALSE":
		return plain(Boolean)
	case t.kind == word && !sections[t.text]:
		return plain(Model)
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
