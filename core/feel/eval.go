package feel

import (
	"errors"
	"fmt"
	"time"
)

// Scope gives an evaluation the values of the names that the expression does not bind itself. Lookup must
// answer the same for the length of an evaluation. *Context is a Scope.
type Scope interface {
	Lookup(name string) (Value, bool)
}

// Limits bounds one evaluation. A zero field means its default.
type Limits struct {
	// MaxSteps bounds the work: about one step for a node of the tree evaluated, a list item touched or
	// 32 bytes of text touched. Default 100,000; range 1 … 2^40.
	MaxSteps int64
	// MaxCalls bounds the depth of nested function calls. Default 64; range 1 … 1,000.
	MaxCalls int
	// MaxText bounds the bytes of a string that an operation makes. Default 1 MiB; range 1 … 2^30.
	MaxText int
	// MaxItems bounds the items of a list that an operation makes. Default 100,000; range 1 … 2^30.
	MaxItems int
}

func (l Limits) withDefaults() Limits {
	if l.MaxSteps == 0 {
		l.MaxSteps = 100_000
	}
	if l.MaxCalls == 0 {
		l.MaxCalls = 64
	}
	if l.MaxText == 0 {
		l.MaxText = 1 << 20
	}
	if l.MaxItems == 0 {
		l.MaxItems = 100_000
	}
	return l
}

// Validate returns every field that is out of its range.
func (l Limits) Validate() error {
	check := func(name string, value, most int64) error {
		if value < 0 || value > most {
			return fmt.Errorf("validate FEEL limits: %s is %d, not in 0 … %d", name, value, most)
		}
		return nil
	}
	return errors.Join(check("MaxSteps", l.MaxSteps, 1<<40), check("MaxCalls", int64(l.MaxCalls), 1000),
		check("MaxText", int64(l.MaxText), 1<<30), check("MaxItems", int64(l.MaxItems), 1<<30))
}

// Options are the inputs of an evaluation other than its scope. The zero value is useful.
type Options struct {
	// Now is what now() and today() give. Zero: they are null.
	Now time.Time
	// Zone resolves time zone names such as Europe/Paris; nil knows none. It must be a pure function.
	Zone func(id string) (*time.Location, bool)
	// Limits bounds the evaluation.
	Limits Limits
}

// Note says why a value came out as null.
type Note struct {
	Line, Column int
	Reason       string
}

// String returns the place and the reason.
func (n Note) String() string { return fmt.Sprintf("%d:%d: %s", n.Line, n.Column, n.Reason) }

// maxNotes bounds what Explain collects.
const maxNotes = 16

// Evaluate returns the value of the expression. A nil scope has no names. The error wraps ErrLimit and
// means that a bound was hit; there are no others. It never waits.
func (e *Expression) Evaluate(scope Scope, options Options) (Value, error) {
	value, _, err := e.run(scope, options, false)
	return value, err
}

// Explain is Evaluate and returns the reasons for the nulls met on the way, at most 16, in the order in
// which they came about. It is for messages to people; the reasons are no stable interface.
func (e *Expression) Explain(scope Scope, options Options) (Value, []Note, error) {
	return e.run(scope, options, true)
}

// Holds evaluates a condition: it is met by true alone, so not by null.
func (e *Expression) Holds(scope Scope, options Options) (bool, error) {
	value, err := e.Evaluate(scope, options)
	return value == Bool(true), err
}

func (e *Expression) run(scope Scope, options Options, explain bool) (Value, []Note, error) {
	if scope == nil {
		scope = &Context{}
	}
	m := &machine{source: e.source, scope: scope, options: options, limits: options.Limits.withDefaults(), explain: explain}
	value := m.eval(e.root, nil)
	if m.err != nil {
		return Null{}, m.notes, fmt.Errorf("evaluate %.80q: %w", e.source, m.err)
	}
	return value, m.notes, nil
}

// env is one frame of names bound inside the expression; frames form a list towards the outside.
type env struct {
	outer *env
	name  string
	value Value    // under name, when context is nil
	items *Context // the entries of a filtered item
}

func (e *env) bind(name string, value Value) *env { return &env{outer: e, name: name, value: value} }

// machine is one evaluation. Once err is set every eval returns null at once, so the rules need not pass
// errors on; loops ask charge.
type machine struct {
	source  string
	scope   Scope
	options Options
	limits  Limits
	steps   int64
	calls   int
	explain bool
	notes   []Note
	err     error
}

// charge counts work and reports whether the evaluation may go on.
func (m *machine) charge(steps int) bool {
	if m.err != nil {
		return false
	}
	if m.steps += int64(steps); m.steps > m.limits.MaxSteps {
		m.err = fmt.Errorf("%w: more than %d steps", ErrLimit, m.limits.MaxSteps)
		return false
	}
	return true
}

// chargeText counts work on a text.
func (m *machine) chargeText(bytes int) bool { return m.charge(1 + bytes/32) }

// null returns null and notes why.
func (m *machine) null(n int, format string, args ...any) Value {
	if m.explain && m.err == nil && len(m.notes) < maxNotes {
		line, column := place(m.source, n)
		m.notes = append(m.notes, Note{line, column, fmt.Sprintf(format, args...)})
	}
	return Null{}
}

// str returns a string that an operation made, within the limit.
func (m *machine) str(s string) Value {
	if len(s) > m.limits.MaxText && m.err == nil {
		m.err = fmt.Errorf("%w: a string of %d bytes, more than %d", ErrLimit, len(s), m.limits.MaxText)
	}
	if !m.chargeText(len(s)) {
		return Null{}
	}
	return String(s)
}

// room reports whether a list may have this many items.
func (m *machine) room(items int) bool {
	if items > m.limits.MaxItems && m.err == nil {
		m.err = fmt.Errorf("%w: a list of more than %d items", ErrLimit, m.limits.MaxItems)
	}
	return m.err == nil
}

// eval returns the value of a node. It recurses as deep as the tree, which Parse bounds, times the depth
// of calls.
func (m *machine) eval(n node, e *env) Value {
	if !m.charge(1) {
		return Null{}
	}
	switch n := n.(type) {
	case *literalNode:
		return n.value
	case *nameNode:
		return m.name(n, e)
	case *binaryNode:
		return m.binary(n, e)
	case *pathNode:
		return m.path(n.position(), m.eval(n.value, e), n.name)
	case *callNode:
		return m.call(n, e)
	case *ifNode:
		if m.eval(n.condition, e) == Bool(true) {
			return m.eval(n.then, e)
		}
		return m.eval(n.otherwise, e)
	case *negateNode:
		return m.negate(n, m.eval(n.operand, e))
	case *betweenNode:
		v := m.eval(n.value, e)
		low := m.order(n.position(), opGreaterEqual, v, m.eval(n.low, e))
		return and(low, m.order(n.position(), opLessEqual, v, m.eval(n.high, e)))
	case *inNode:
		return m.in(n, e)
	case *instanceNode:
		return Bool(m.instance(m.eval(n.value, e), n.want))
	case *filterNode:
		return m.filter(n, e)
	default:
		return m.construct(n, e)
	}
}

// construct evaluates the nodes that build values or loop.
func (m *machine) construct(n node, e *env) Value {
	switch n := n.(type) {
	case *listNode:
		items := make(List, len(n.items))
		for i, item := range n.items {
			items[i] = m.eval(item, e)
		}
		return items
	case *contextNode:
		return m.context(n, e)
	case *rangeNode:
		return m.rangeValue(n, e)
	case *forNode:
		return m.loop(n, e)
	case *quantifiedNode:
		return m.quantified(n, e)
	case *functionNode:
		return &Function{params: n.params, body: n.body, env: e}
	case *zonedNode:
		value, err := parseTemporal(n.text, m.zone)
		if err != nil {
			return m.null(n.position(), "%v", err)
		}
		return value
	}
	panic(fmt.Sprintf("feel: evaluate: no rule for node %T", n))
}

func (m *machine) zone(id string) (zone, bool) {
	if m.options.Zone == nil {
		return zone{}, false
	}
	loc, ok := m.options.Zone(id)
	return zone{loc, id}, ok && loc != nil
}

// resolve finds a name: first in the frames, then in the scope.
func (m *machine) resolve(name string, e *env) (Value, bool) {
	for ; e != nil; e = e.outer {
		if e.items == nil {
			if e.name == name {
				return e.value, true
			}
			continue
		}
		if v, ok := e.items.Lookup(name); ok {
			return v, true
		}
	}
	v, ok := m.scope.Lookup(name)
	return v, ok && v != nil
}

func (m *machine) name(n *nameNode, e *env) Value {
	if v, ok := m.resolve(n.name, e); ok {
		return v
	}
	if n.builtin != nil {
		return &Function{builtin: n.builtin}
	}
	return m.null(n.position(), "there is no variable %q", n.name)
}

// context builds a context whose entries see the ones before them.
func (m *machine) context(n *contextNode, e *env) Value {
	entries := make([]Entry, len(n.keys))
	for i, key := range n.keys {
		value := m.eval(n.values[i], e)
		entries[i] = Entry{key, value}
		e = e.bind(key, value)
	}
	return NewContext(entries...)
}

// rangeValue builds a range. Endpoints that cannot be ordered make it null.
func (m *machine) rangeValue(n *rangeNode, e *env) Value {
	r := &Range{LowIncluded: n.lowIncluded, HighIncluded: n.highIncluded}
	if n.low != nil {
		r.Low = m.eval(n.low, e)
	}
	if n.high != nil {
		r.High = m.eval(n.high, e)
	}
	if r.Low != nil && r.High != nil && r.Low.Kind() != KindNull && r.High.Kind() != KindNull {
		if _, ok := compare(r.Low, r.High); !ok {
			return m.null(n.position(), "a range from %s to %s has no order", r.Low.Kind(), r.High.Kind())
		}
	}
	return r
}

// in reports whether any test holds, in three-valued logic.
func (m *machine) in(n *inNode, e *env) Value {
	value := m.eval(n.value, e)
	var result Value = Bool(false)
	for _, test := range n.tests {
		result = or(result, m.test(n.position(), value, m.eval(test, e), true))
		if result == Bool(true) {
			return result
		}
	}
	return result
}

// test decides "value in test": a range contains the value, a list contains it or a range that does, any
// other test equals it. A null test is null.
func (m *machine) test(pos int, value, test Value, outermost bool) Value {
	switch test := test.(type) {
	case Null:
		if !outermost {
			return Bool(value.Kind() == KindNull)
		}
		return m.null(pos, "the test of \"in\" is null")
	case *Range:
		if value.Kind() == KindRange {
			return m.equal(pos, value, test)
		}
		return m.contains(pos, test, value)
	case List:
		if !outermost || value.Kind() == KindList && m.equal(pos, value, test) == Bool(true) {
			return m.equal(pos, value, test)
		}
		return m.anyTest(pos, value, test)
	default:
		return m.equal(pos, value, test)
	}
}

// anyTest reports whether an item of the list is met; items of other kinds are simply not.
func (m *machine) anyTest(pos int, value Value, tests List) Value {
	for _, item := range tests {
		if !m.charge(1) {
			return Null{}
		}
		if m.test(pos, value, item, false) == Bool(true) {
			return Bool(true)
		}
	}
	return Bool(false)
}

// contains decides whether a value lies in a range.
func (m *machine) contains(pos int, r *Range, v Value) Value {
	var low, high Value = Bool(true), Bool(true)
	if r.Low != nil {
		op := opGreater
		if r.LowIncluded {
			op = opGreaterEqual
		}
		low = m.order(pos, op, v, r.Low)
	}
	if r.High != nil {
		op := opLess
		if r.HighIncluded {
			op = opLessEqual
		}
		high = m.order(pos, op, v, r.High)
	}
	return and(low, high)
}
