package feel

import (
	"fmt"
	"slices"
	"time"
)

// filter evaluates list[filter]. A filter that gives a number for the first item is an index (from 1, or
// from -1 backwards); any other keeps the items for which it is true. In the filter, item is the item, and
// the entries of an item that is a context are names. What is not a list counts as a list of itself.
func (m *machine) filter(n *filterNode, e *env) Value {
	value := m.eval(n.list, e)
	list, isList := value.(List)
	switch {
	case value.Kind() == KindNull:
		return Null{}
	case !isList:
		list = List{value}
	case len(list) == 0:
		// There is no item to try the filter on: an index is null, a condition keeps nothing.
		if m.eval(n.filter, e).Kind() == KindNumber {
			return m.null(n.position(), "an empty list has no items")
		}
		return List{}
	}
	var kept List
	for i, item := range list {
		result := m.eval(n.filter, itemEnv(e, item))
		if m.err != nil {
			return Null{}
		}
		if index, ok := result.(Number); ok && i == 0 {
			return m.index(n.position(), list, index)
		}
		if result == Value(Bool(true)) {
			kept = append(kept, item)
		}
	}
	return slices.Clip(append(List{}, kept...))
}

func itemEnv(e *env, item Value) *env {
	inner := e.bind("item", item)
	if c, ok := item.(*Context); ok {
		return &env{outer: inner, items: c}
	}
	return inner
}

func (m *machine) index(pos int, list List, index Number) Value {
	i, ok := index.Int64()
	if ok && i < 0 {
		i += int64(len(list)) + 1
	}
	if !ok || i < 1 || i > int64(len(list)) {
		return m.null(pos, "a list of %d items has no item %v", len(list), index)
	}
	return list[i-1]
}

// path evaluates value.name: an entry, a property of a temporal value or range, or, of a list, the list
// of its items' values.
func (m *machine) path(pos int, value Value, name string) Value {
	switch value := value.(type) {
	case *Context:
		if v, ok := value.Lookup(name); ok {
			return v
		}
		return m.null(pos, "the context has no entry %q", name)
	case List:
		items := make(List, len(value))
		for i, item := range value {
			if !m.charge(1) {
				return Null{}
			}
			items[i] = m.path(pos, item, name)
		}
		return items
	case Null:
		return m.null(pos, "null has no entry %q", name)
	}
	if v, ok := property(value, name); ok {
		return v
	}
	return m.null(pos, "a %s has no property %q", value.Kind(), name)
}

// domain returns the values an iterator walks: the items of a list, the integers or days of a range.
func (m *machine) domain(it iterator, e *env) (List, bool) {
	from := m.eval(it.from, e)
	if it.to != nil {
		return m.span(it.from.position(), from, m.eval(it.to, e))
	}
	switch from := from.(type) {
	case List:
		return from, true
	case *Range:
		if from.Low == nil || from.High == nil {
			m.null(it.from.position(), "a range without end cannot be iterated")
			return nil, false
		}
		list, ok := m.span(it.from.position(), from.Low, from.High)
		if ok && len(list) > 0 && !from.LowIncluded {
			list = list[1:]
		}
		if ok && len(list) > 0 && !from.HighIncluded {
			list = list[:len(list)-1]
		}
		return list, ok
	}
	m.null(it.from.position(), "a %s cannot be iterated", from.Kind())
	return nil, false
}

// span lists the integers, or days, from one bound to the other, downwards when the first is larger.
func (m *machine) span(pos int, from, to Value) (List, bool) {
	first, okFirst := ordinal(from)
	last, okLast := ordinal(to)
	if !okFirst || !okLast || from.Kind() != to.Kind() {
		m.null(pos, "cannot iterate from %s to %s", describe(from), describe(to))
		return nil, false
	}
	step := int64(1)
	if last < first {
		step = -1
	}
	count := int((last-first)*step + 1)
	if !m.room(count) || !m.charge(count) {
		return nil, false
	}
	list := make(List, count)
	for i := range list {
		list[i] = fromOrdinal(from, first+int64(i)*step)
	}
	return list, true
}

// maxOrdinal keeps the distance of two bounds within an int64.
const maxOrdinal = 1 << 61

// ordinal numbers the values a range can be walked over.
func ordinal(v Value) (int64, bool) {
	switch v := v.(type) {
	case Number:
		i, ok := v.Int64()
		return i, ok && i < maxOrdinal && i > -maxOrdinal
	case Date:
		return floorDiv(v.t.Unix(), 86400), true
	}
	return 0, false
}

func fromOrdinal(kind Value, i int64) Value {
	if kind.Kind() == KindDate {
		return Date{time.Unix(i*86400, 0).UTC()}
	}
	return Int(i)
}

// each runs body for every combination of the iterators' values, the last iterator fastest, until body
// says stop. It reports false when a domain was null.
func (m *machine) each(iterators []iterator, e *env, body func(*env) bool) bool {
	_, ok := m.eachFrom(iterators, e, body)
	return ok
}

func (m *machine) eachFrom(iterators []iterator, e *env, body func(*env) bool) (more, ok bool) {
	if len(iterators) == 0 {
		return body(e), true
	}
	list, ok := m.domain(iterators[0], e)
	if !ok {
		return false, false
	}
	for _, item := range list {
		if !m.charge(1) {
			return false, true
		}
		more, ok := m.eachFrom(iterators[1:], e.bind(iterators[0].name, item), body)
		if !ok || !more {
			return more, ok
		}
	}
	return true, true
}

// loop evaluates for … return. The body sees the results so far as partial.
func (m *machine) loop(n *forNode, e *env) Value {
	results := List{}
	ok := m.each(n.iterators, e, func(inner *env) bool {
		results = append(results, m.eval(n.body, inner.bind(partial, slices.Clip(results))))
		return m.room(len(results))
	})
	if !ok {
		return Null{}
	}
	return results
}

// quantified evaluates some and every in ternary logic.
func (m *machine) quantified(n *quantifiedNode, e *env) Value {
	var result Value = Bool(n.every)
	ok := m.each(n.iterators, e, func(inner *env) bool {
		met := truth(m.eval(n.condition, inner))
		if n.every {
			result = and(result, met)
		} else {
			result = or(result, met)
		}
		return m.err == nil && result != Value(Bool(!n.every))
	})
	if !ok {
		return Null{}
	}
	return result
}

// call evaluates a call. Arguments are evaluated before the function is entered.
func (m *machine) call(n *callNode, e *env) Value {
	if n.builtin != nil && n.builtin.lazy != nil {
		return n.builtin.lazy(m, n, e)
	}
	args := make([]Value, len(n.args))
	if n.builtin != nil {
		for i, arg := range n.args {
			args[i] = Null{}
			if arg != nil {
				args[i] = m.eval(arg, e)
			}
		}
		return m.invokeBuiltin(n.position(), n.builtin, args)
	}
	callee := m.eval(n.callee, e)
	for i, arg := range n.args {
		args[i] = m.eval(arg, e)
	}
	f, ok := callee.(*Function)
	if !ok {
		return m.null(n.position(), "a %s cannot be called", callee.Kind())
	}
	if n.names != nil {
		if args, ok = f.arrange(args, n.names); !ok {
			return m.null(n.position(), "%v has no such parameters", f)
		}
	}
	return m.invoke(n.position(), f, args)
}

// arrange brings named arguments into the order of a lambda's parameters.
func (f *Function) arrange(args []Value, names []string) ([]Value, bool) {
	if f.builtin != nil || len(names) != len(f.params) {
		return nil, false
	}
	ordered := make([]Value, len(args))
	for i, name := range names {
		k := slices.Index(f.params, name)
		if k < 0 || ordered[k] != nil {
			return nil, false
		}
		ordered[k] = args[i]
	}
	return ordered, true
}

// invoke calls a function value.
func (m *machine) invoke(pos int, f *Function, args []Value) Value {
	if f.builtin != nil {
		if !f.builtin.takes(len(args)) || f.builtin.lazy != nil {
			return m.null(pos, "%s takes %s", f.builtin.name, f.builtin.usage())
		}
		return m.invokeBuiltin(pos, f.builtin, args)
	}
	if len(args) != len(f.params) {
		return m.null(pos, "%v takes %d arguments, not %d", f, len(f.params), len(args))
	}
	if m.calls >= m.limits.MaxCalls && m.err == nil {
		m.err = fmt.Errorf("%w: more than %d nested calls", ErrLimit, m.limits.MaxCalls)
	}
	if m.err != nil {
		return Null{}
	}
	m.calls++
	defer func() { m.calls-- }()
	inner := f.env
	for i, param := range f.params {
		inner = inner.bind(param, args[i])
	}
	return m.eval(f.body, inner)
}

func (m *machine) invokeBuiltin(pos int, b *builtin, args []Value) Value {
	if !m.charge(1) {
		return Null{}
	}
	return b.run(&call{m: m, pos: pos, name: b.name, args: args})
}
