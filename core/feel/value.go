package feel

import (
	"slices"
	"strings"
)

// Kind names the type of a value.
type Kind uint8

// The kinds of FEEL values, in the order the standard lists them.
const (
	KindNull Kind = iota
	KindNumber
	KindString
	KindBool
	KindDate
	KindTime
	KindDateTime
	KindDaysTime
	KindYearsMonths
	KindList
	KindContext
	KindRange
	KindFunction
)

// String returns the standard's name of the type.
func (k Kind) String() string {
	names := [...]string{
		"Null", "number", "string", "boolean", "date", "time", "date and time",
		"days and time duration", "years and months duration", "list", "context", "range", "function",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Value is one immutable FEEL value. The kinds are closed: Null, Number, String, Bool, Date, Time,
// DateTime, DaysTime, YearsMonths, List, *Context, *Range and *Function. Values of kind list are not
// comparable with ==; use Equal.
type Value interface {
	// Kind returns the value's type.
	Kind() Kind
	// String returns the value as FEEL prints it inside a list: strings are quoted, temporal values are
	// not. The built-in string() of a string gives its bare text.
	String() string
}

// Null is the absent value.
type Null struct{}

// Bool is a boolean.
type Bool bool

// String is a text. Its length and positions count Unicode code points.
type String string

// List is a sequence of values. The slice must not be changed once it is a Value.
type List []Value

// Kind returns KindNull.
func (Null) Kind() Kind { return KindNull }

// Kind returns KindBool.
func (Bool) Kind() Kind { return KindBool }

// Kind returns KindString.
func (String) Kind() Kind { return KindString }

// Kind returns KindList.
func (List) Kind() Kind { return KindList }

// String returns "null".
func (Null) String() string { return "null" }

// String returns "true" or "false".
func (b Bool) String() string {
	if b {
		return "true"
	}
	return "false"
}

// String returns the text as a FEEL string literal.
func (s String) String() string { return quote(string(s)) }

// String returns the items between brackets. A text of more than MaxPrinted bytes is cut.
func (l List) String() string { return printValue(l) }

// Entry is one key of a context with its value.
type Entry struct {
	Key   string
	Value Value
}

// Context maps keys to values and keeps the order in which they were written. It is immutable and is a
// Scope too, so a flow's variables can be held as one Context.
type Context struct {
	entries []Entry
	index   map[string]int // only for contexts too large to scan; never iterated
}

// scanEntries is the size up to which looking a key up by scanning beats a map.
const scanEntries = 8

// NewContext returns the context with these entries. A later entry with the key of an earlier one
// replaces its value and keeps its place.
func NewContext(entries ...Entry) *Context {
	c := &Context{entries: make([]Entry, 0, len(entries))}
	if len(entries) > scanEntries {
		c.index = make(map[string]int, len(entries))
	}
	for _, entry := range entries {
		c.put(entry)
	}
	return c
}

// put is used only while the context is being built.
func (c *Context) put(entry Entry) {
	if i := c.find(entry.Key); i >= 0 {
		c.entries[i] = entry
		return
	}
	if c.index != nil {
		c.index[entry.Key] = len(c.entries)
	}
	c.entries = append(c.entries, entry)
}

func (c *Context) find(key string) int {
	if c.index != nil {
		if i, ok := c.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(c.entries, func(e Entry) bool { return e.Key == key })
}

// Lookup returns the value under the key, and whether there is one. It implements Scope.
func (c *Context) Lookup(name string) (Value, bool) {
	if i := c.find(name); i >= 0 {
		return c.entries[i].Value, true
	}
	return Null{}, false
}

// Len returns the number of entries.
func (c *Context) Len() int { return len(c.entries) }

// At returns entry i, in the order of the context.
func (c *Context) At(i int) Entry { return c.entries[i] }

// With returns a context with these entries put after, or in place of, the ones of c. c is unchanged.
func (c *Context) With(entries ...Entry) *Context {
	return NewContext(slices.Concat(c.entries, entries)...)
}

// Kind returns KindContext.
func (*Context) Kind() Kind { return KindContext }

// String returns the entries between braces. A text of more than MaxPrinted bytes is cut.
func (c *Context) String() string { return printValue(c) }

// Range is an interval of ordered values. An endpoint that is nil is unbounded on that side (as in
// "< 5"); an endpoint that is Null makes every test against the range null.
type Range struct {
	Low, High                 Value
	LowIncluded, HighIncluded bool
}

// Kind returns KindRange.
func (*Range) Kind() Kind { return KindRange }

// String returns the range as FEEL writes it.
func (r *Range) String() string { return printValue(r) }

// Function is a function value: a lambda of the expression or a built-in used by name. It cannot leave
// an evaluation as JSON.
type Function struct {
	params  []string
	body    node
	env     *env
	builtin *builtin
}

// Kind returns KindFunction.
func (*Function) Kind() Kind { return KindFunction }

// String returns the function's head.
func (f *Function) String() string {
	if f.builtin != nil {
		return f.builtin.name
	}
	names := make([]string, len(f.params))
	for i, name := range f.params {
		names[i] = printName(name)
	}
	return "function(" + strings.Join(names, ", ") + ") ..."
}
