package feel

import (
	"strings"
)

// and is the standard's ternary conjunction; what is not a boolean counts as null.
func and(a, b Value) Value {
	switch {
	case a == Value(Bool(false)) || b == Value(Bool(false)):
		return Bool(false)
	case a == Value(Bool(true)) && b == Value(Bool(true)):
		return Bool(true)
	}
	return Null{}
}

func or(a, b Value) Value { return not(and(not(a), not(b))) }

func not(v Value) Value {
	if b, ok := v.(Bool); ok {
		return !b
	}
	return Null{}
}

// truth turns what is not a boolean into null, so that values of other kinds can be compared safely.
func truth(v Value) Value {
	if b, ok := v.(Bool); ok {
		return b
	}
	return Null{}
}

func (m *machine) binary(n *binaryNode, e *env) Value {
	switch n.op {
	case opAnd, opOr:
		return m.logical(n, e)
	case opEqual:
		return m.equal(n.position(), m.eval(n.left, e), m.eval(n.right, e))
	case opNotEqual:
		return not(m.equal(n.position(), m.eval(n.left, e), m.eval(n.right, e)))
	case opLess, opLessEqual, opGreater, opGreaterEqual:
		return m.order(n.position(), n.op, m.eval(n.left, e), m.eval(n.right, e))
	case opAdd, opSubtract, opMultiply, opDivide, opPower:
	}
	left, right := m.eval(n.left, e), m.eval(n.right, e)
	if m.err != nil {
		return Null{}
	}
	result, ok := m.arithmetic(n.op, left, right)
	if !ok {
		return m.null(n.position(), "%s %v %s has no value", describe(left), n.op, describe(right))
	}
	return result
}

// describe names an operand in a note: numbers by value, the rest by kind.
func describe(v Value) string {
	if v.Kind() == KindNumber {
		return v.String()
	}
	return v.Kind().String()
}

// logical evaluates the right side only when the left does not decide.
func (m *machine) logical(n *binaryNode, e *env) Value {
	left := m.eval(n.left, e)
	if n.op == opAnd && left == Value(Bool(false)) || n.op == opOr && left == Value(Bool(true)) {
		return left
	}
	right := m.eval(n.right, e)
	for _, v := range [...]Value{left, right} {
		if v.Kind() != KindBool && v.Kind() != KindNull {
			m.null(n.position(), "%q counts a %s as null", n.op.String(), v.Kind())
		}
	}
	if n.op == opAnd {
		return and(truth(left), truth(right))
	}
	return or(truth(left), truth(right))
}

// order decides an ordering operator.
func (m *machine) order(pos int, op operator, left, right Value) Value {
	if !m.chargeText(textSize(left)) {
		return Null{}
	}
	c, ok := compare(left, right)
	if !ok {
		return m.null(pos, "%s %v %s has no order", left.Kind(), op, right.Kind())
	}
	switch op {
	case opLess:
		return Bool(c < 0)
	case opLessEqual:
		return Bool(c <= 0)
	case opGreater:
		return Bool(c > 0)
	default:
		return Bool(c >= 0)
	}
}

func textSize(v Value) int {
	if s, ok := v.(String); ok {
		return len(s)
	}
	return 0
}

// compare orders two values of one ordered kind; ok is false when they have no order.
func compare(a, b Value) (c int, ok bool) {
	switch a := a.(type) {
	case Number:
		if b, ok := b.(Number); ok {
			return a.Cmp(b), true
		}
	case String:
		if b, ok := b.(String); ok {
			return strings.Compare(string(a), string(b)), true // UTF-8 sorts as code points do
		}
	case DaysTime:
		if b, ok := b.(DaysTime); ok {
			return a.compare(b), true
		}
	case YearsMonths:
		if b, ok := b.(YearsMonths); ok {
			return int(sign(a.months - b.months)), true
		}
	case Date:
		if b, ok := b.(Date); ok {
			return a.t.Compare(b.t), true
		}
	case Time:
		if b, ok := b.(Time); ok && (a.zone.loc == nil) == (b.zone.loc == nil) {
			return a.onEpoch().Compare(b.onEpoch()), true
		}
	case DateTime:
		if b, ok := b.(DateTime); ok && (a.zone.loc == nil) == (b.zone.loc == nil) {
			return a.t.Compare(b.t), true
		}
	}
	return 0, false
}

func sign(n int64) int64 {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// equal decides equality: true or false with null, null between different kinds.
func (m *machine) equal(pos int, a, b Value) Value {
	if a.Kind() == KindNull || b.Kind() == KindNull {
		return Bool(a.Kind() == b.Kind())
	}
	if a.Kind() != b.Kind() {
		return m.null(pos, "%s and %s are never comparable", a.Kind(), b.Kind())
	}
	if a.Kind() == KindFunction {
		return m.null(pos, "functions are not comparable")
	}
	same := m.same(a, b)
	if m.err != nil {
		return Null{}
	}
	return Bool(same)
}

// same reports whether two values are equal, through lists and contexts. Sharing can make a value's tree
// much larger than its memory, so every step is charged.
func (m *machine) same(a, b Value) bool {
	if !m.chargeText(textSize(a)) || a.Kind() != b.Kind() {
		return false
	}
	switch a := a.(type) {
	case Null:
		return true
	case Bool:
		return Value(a) == b
	case List:
		return m.sameItems(a, b.(List))
	case *Context:
		return m.sameEntries(a, b.(*Context))
	case *Range:
		return m.sameRange(a, b.(*Range))
	case *Function:
		return false
	}
	c, ok := compare(a, b)
	return ok && c == 0
}

func (m *machine) sameItems(a, b List) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (m *machine) sameEntries(a, b *Context) bool {
	if a.Len() != b.Len() {
		return false
	}
	for _, entry := range a.entries {
		other, ok := b.Lookup(entry.Key)
		if !ok || !m.same(entry.Value, other) {
			return false
		}
	}
	return true
}

func (m *machine) sameRange(a, b *Range) bool {
	return a.LowIncluded == b.LowIncluded && a.HighIncluded == b.HighIncluded &&
		m.sameEnd(a.Low, b.Low) && m.sameEnd(a.High, b.High)
}

func (m *machine) sameEnd(a, b Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return m.same(a, b)
}

// Equal reports whether two values are the same FEEL value: equal kinds, numbers by value, lists and
// contexts through and through (the order of entries does not count). Null equals null. It gives up, and
// says false, after a million steps.
func Equal(a, b Value) bool {
	m := &machine{limits: Limits{MaxSteps: 1_000_000}.withDefaults()}
	return m.same(a, b)
}

func (m *machine) negate(n *negateNode, v Value) Value {
	switch v := v.(type) {
	case Number:
		return v.neg()
	case DaysTime:
		return v.neg()
	case YearsMonths:
		return YearsMonths{-v.months}
	}
	return m.null(n.position(), "a %s cannot be negated", v.Kind())
}
